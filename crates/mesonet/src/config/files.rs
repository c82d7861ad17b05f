//! Users and the files that they transfer (NIST SP 500-282, chapter 3; file types, chapter 8).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Requests of the sources: times between files, and times of the first files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Users {
    /// Mean of the exponential time between two files of a source.
    pub think: Span,
    /// Distribution of the times of the first files.
    pub start: StartWaves,
}

/// Times of the first requests of sources (NIST SP 500-282, chapter 3). A source starts at once, or
/// after an exponential time whose mean is one third, two thirds or the whole of the mean time
/// between files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartWaves {
    /// Probability that a source starts at once.
    pub at_once: f64,
    /// Probability that the mean start time is one third of the mean time between files.
    pub second: f64,
    /// Probability that the mean start time is two thirds of the mean time between files. For all
    /// other sources it is the whole.
    pub third: f64,
}

/// Sizes of files: a Pareto number of packets, rounded up, times the factor of the file's type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Files {
    /// Mean of the Pareto distribution in packets.
    pub mean: f64,
    /// Shape of the Pareto distribution.
    pub shape: f64,
    /// Documents, service packs and movies, in the order of [`FileType::LARGE`]; all other files are
    /// Web objects, of factor one.
    pub large: [LargeFile; 3],
    /// Limits on active large files, if there are any.
    pub admission: Option<Admission>,
    /// Part of the run in which files between direct access routers are jumbo files, if there is any.
    pub jumbo: Option<Jumbo>,
}

/// Type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FileType {
    /// A Web object.
    Web,
    /// A document.
    Document,
    /// A service pack.
    ServicePack,
    /// A movie.
    Movie,
}

impl FileType {
    /// The types that multiply the size drawn.
    pub const LARGE: [Self; 3] = [Self::Document, Self::ServicePack, Self::Movie];
    /// All types.
    pub const ALL: [Self; 4] = [Self::Web, Self::Document, Self::ServicePack, Self::Movie];
}

/// A type of large files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeFile {
    /// Probability that a file is of this type.
    pub probability: f64,
    /// Factor that multiplies the size drawn.
    pub factor: u64,
}

/// Minimum and maximum numbers of active large files (NIST SP 500-282, chapter 8). A file is active
/// from its selection to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Admission {
    /// Maximum number of active files of each large type. If a type is drawn that is at its
    /// maximum, the file becomes a Web object.
    pub max: [u64; 3],
    /// Minimum number of each large type in each cell: `min[type][cell]`. While a cell has fewer
    /// active files of a type, its next flow transfers a file of this type, movies first.
    pub min: [[u64; Cell::COUNT]; 3],
}

/// Flows whose large files are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The path's class.
    pub path: PathClass,
    /// True if both hosts are fast.
    pub fast_interface: bool,
    /// True if the source uses an alternate algorithm.
    pub alternate: bool,
}

impl Cell {
    /// Number of cells.
    pub const COUNT: usize = 12;

    /// Returns the cell's index. Cells are in order of paths, the fastest first; then of
    /// interfaces, fast ones first; then of algorithms, standard TCP first.
    pub const fn index(self) -> usize {
        self.path as usize * 4 + (!self.fast_interface) as usize * 2 + self.alternate as usize
    }
}

/// The class of a path, which is that of its slower access router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathClass {
    /// Two direct access routers.
    VeryFast,
    /// At least one fast access router, and no normal one.
    Fast,
    /// At least one normal access router.
    Typical,
}

/// A part of the run in which files between direct access routers are larger. It applies to flows
/// that connect in that part.
///
/// NIST SP 500-282 multiplies "the drawn file or document size" by 100 (chapter 6). Its figures
/// show that jumbo files have to be documents. In condition 4 jumbo flows deliver 1.9 million
/// packets/s, and 7.53 of them complete in 200 ms, so that a file has 50,000 packets. This is 100
/// times the mean document of 500 packets; the mean Web object has 50.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jumbo {
    /// Beginning of the part.
    pub from: Time,
    /// End of the part.
    pub until: Time,
    /// Factor that multiplies the sizes of large files.
    pub factor: u64,
    /// Factor that multiplies the sizes of Web objects. It equals `factor` or, if every jumbo file
    /// is at least a document, `factor` times the factor of documents.
    pub web_factor: u64,
}

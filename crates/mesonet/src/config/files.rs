//! Users and the files that they transfer (NIST SP 500-282, chapter 3; file types, chapter 8).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Distributions of the time at which a source requests its first file, and of the time between files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Users {
    /// Mean of the exponential time from the end of a source's flow to the source's next request. A source also waits
    /// for such a time if it finds no idle receiver.
    pub think: Span,
    /// Distribution of the times at which sources request their first files.
    pub start: StartWaves,
}

/// Distribution of the times at which sources request their first files (NIST SP 500-282, chapter 3). A source starts
/// at once, or after an exponential time with one of three means: 1/3, 2/3 or 3/3 of the mean time between files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartWaves {
    /// Probability that a source starts at once.
    pub at_once: f64,
    /// Probability that a source's start time is exponential with a mean of one third of the mean time between files.
    pub second: f64,
    /// Probability that a source's start time is exponential with a mean of two thirds of the mean time between files.
    /// With the remaining probability, the mean equals the mean time between files.
    pub third: f64,
}

/// Sizes of files: a Pareto-distributed number of packets, rounded up, times the factor of the
/// file's type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Files {
    /// Mean of the Pareto distribution in packets.
    pub mean: f64,
    /// Shape of the Pareto distribution.
    pub shape: f64,
    /// Shares and size factors of documents, service packs and movies, in the order of
    /// [`FileType::LARGE`]. All other files are Web objects.
    pub large: [LargeFile; 3],
    /// Limits on the number of active large files; `None` for no limits.
    pub admission: Option<Admission>,
    /// Period of jumbo files, on paths of [`PathClass::VeryFast`]; `None` for no jumbo files.
    pub jumbo: Option<Jumbo>,
}

/// Type of a file, which determines the factor of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FileType {
    /// A Web object.
    Web,
    /// A document, larger than a Web object.
    Document,
    /// A service pack.
    ServicePack,
    /// A movie.
    Movie,
}

impl FileType {
    /// Types of files that are larger than a Web object.
    pub const LARGE: [Self; 3] = [Self::Document, Self::ServicePack, Self::Movie];
    /// All types of files.
    pub const ALL: [Self; 4] = [Self::Web, Self::Document, Self::ServicePack, Self::Movie];
}

/// Probability and size of one type of large files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeFile {
    /// Probability that this type is drawn for a file. [`Admission`] may replace the drawn type.
    pub probability: f64,
    /// Factor that multiplies the size drawn from the Pareto distribution.
    pub factor: u64,
}

/// Limits on the numbers of active large files (NIST SP 500-282, chapter 8). A file is active from
/// its selection until it is delivered or its flow could not be connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Admission {
    /// Maximum number of active files of each large type. If at least so many files of the drawn
    /// type are active, the file becomes a Web object instead. Files that are selected to reach a
    /// minimum may exceed the maximum.
    pub max: [u64; 3],
    /// Minimum number of active files of each large type in each cell: `min[type][cell]`. If a cell
    /// has fewer files of a type, its next flow transfers a file of this type. Movies are checked first.
    pub min: [[u64; Cell::COUNT]; 3],
}

/// A set of flows whose large files are counted together: all flows with the same class of path,
/// speed of hosts, and kind of algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Class of the path.
    pub path: PathClass,
    /// True if both hosts are fast.
    pub fast_interface: bool,
    /// True if the source uses the alternate algorithm, that is, an algorithm that competes with
    /// standard TCP in the study.
    pub alternate: bool,
}

impl Cell {
    /// Number of cells: three classes of paths, two speeds, two kinds of algorithms.
    pub const COUNT: usize = 12;

    /// Returns the cell's index in the list of all cells. The list is sorted by path, the fastest
    /// first; then by speed of the hosts, fast ones first; then by algorithm, standard TCP first.
    pub const fn index(self) -> usize {
        self.path as usize * 4 + (!self.fast_interface) as usize * 2 + self.alternate as usize
    }
}

/// Class of a path: the class of the slower of its two access routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathClass {
    /// Path with two direct access routers, one at each end.
    VeryFast,
    /// Path with at least one fast access router, and no normal one.
    Fast,
    /// Path with at least one normal access router.
    Typical,
}

/// A period of larger (jumbo) files. Flows between direct access routers that connect in the period
/// transfer such files.
///
/// NIST SP 500-282 multiplies "the drawn file or document size" by 100 (chapter 6). Its figures for
/// condition 4 show that documents are enlarged: a jumbo file has 50,000 packets, the mean document
/// 500, and the mean Web object 50.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jumbo {
    /// Beginning of the period of jumbo files.
    pub from: Time,
    /// End of the period of jumbo files.
    pub until: Time,
    /// Factor that multiplies the sizes of documents, service packs and movies in the period of jumbo files.
    pub factor: u64,
    /// Factor that multiplies the sizes of Web objects in the period of jumbo files. To make Web
    /// objects as large as jumbo documents, set it to [`Self::factor`] times the [`LargeFile::factor`] of documents.
    pub web_factor: u64,
}

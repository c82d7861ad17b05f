//! How long files are.

use serde::{Deserialize, Serialize};

use super::admission::UnderWay;
use crate::config::{Cell, FileType, Files};
use longhaul_engine::config::Distribution;
use longhaul_engine::random::{Stream, Streams};

/// A file that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) file: FileType,
    /// In packets.
    pub(crate) size: u64,
}

/// Chooses files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FileChooser {
    files: Files,
    sizes: Stream,
    types: Stream,
}

impl FileChooser {
    pub(crate) fn new(files: &Files, streams: &Streams) -> Self {
        Self {
            files: files.clone(),
            sizes: streams.component("mesonet/sizes"),
            types: streams.component("mesonet/types"),
        }
    }

    /// The size of a Web object, which every other file multiplies: rounded up (004d E.8).
    pub(crate) fn web_object(&mut self) -> u64 {
        self.sizes.draw_count(&Distribution::Pareto {
            mean: self.files.mean,
            shape: self.files.shape,
        })
    }

    /// The file of a flow of this cell, given the size drawn (004d B.6): a type of which the cell has
    /// too few, or one that is drawn, unless there are too many of it.
    pub(crate) fn choose(&mut self, web: u64, cell: Cell, under_way: &UnderWay) -> Choice {
        let file = under_way
            .lacking(cell)
            .unwrap_or_else(|| under_way.admit(self.draw()));
        let factor = match file {
            FileType::Web => 1,
            large => self.files.large[large as usize - 1].factor,
        };
        Choice {
            file,
            size: web.saturating_mul(factor),
        }
    }

    fn draw(&mut self) -> FileType {
        let mut number = self.types.uniform();
        for large in FileType::LARGE.into_iter().rev() {
            let share = self.files.large[large as usize - 1].probability;
            if number < share {
                return large;
            }
            number -= share;
        }
        FileType::Web
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LargeFile, PathClass};
    use longhaul_engine::config::Randomness;

    fn large(probability: f64, factor: u64) -> LargeFile {
        LargeFile {
            probability,
            factor,
        }
    }

    /// 004d B.5 with the plus levels: (type, share, factor).
    #[test]
    fn types_come_with_their_shares_and_multiply_the_size_drawn() {
        let expected = [
            (FileType::Document, 0.04, 10),
            (FileType::ServicePack, 0.004, 1000),
            (FileType::Movie, 0.0004, 10_000),
        ];
        let files = Files {
            mean: 100.0,
            shape: 1.5,
            large: expected.map(|(_, share, factor)| large(share, factor)),
            admission: None,
            jumbo: None,
        };
        let streams = Streams::of_seed(1, 0, Randomness::Streams);
        let mut chooser = FileChooser::new(&files, &streams);
        let under_way = UnderWay::new(None);
        let cell = Cell {
            path: PathClass::Typical,
            fast_interface: false,
            alternate: false,
        };
        const DRAWS: usize = 1_000_000;
        let mut counts = [0; 4];
        for _ in 0..DRAWS {
            let web = chooser.web_object();
            // The smallest is 100 (1.5 - 1) / 1.5 packets, rounded up.
            assert!(web >= 34);
            let choice = chooser.choose(web, cell, &under_way);
            counts[choice.file as usize] += 1;
            let factor = expected.iter().find(|large| large.0 == choice.file);
            assert_eq!(choice.size, web * factor.map_or(1, |large| large.2));
        }
        for (file, share, _) in expected {
            let found = counts[file as usize] as f64 / DRAWS as f64;
            let error = libm::sqrt(share / DRAWS as f64);
            assert!((found - share).abs() < 4.0 * error, "{file:?}: {found}");
        }
    }
}

//! Types and sizes of files.

use serde::{Deserialize, Serialize};

use super::admission::ActiveLargeFiles;
use crate::config::{Cell, FileType, Files};
use longhaul_kernel::Distribution;
use longhaul_kernel::random::{Stream, Streams};

/// The type and size of a file to transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChosenFile {
    pub(crate) file: FileType,
    pub(crate) size: u64,
}

/// Random selection of the types and sizes of files.
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

    /// Draws the size of a Web object, in packets. Sizes are rounded up, which reproduces the goodputs in NIST
    /// SP 500-282, chapter 8. A file of another type has such a size times the type's factor.
    pub(crate) fn web_object(&mut self) -> u64 {
        self.sizes.draw_count(&Distribution::Pareto {
            mean: self.files.mean,
            shape: self.files.shape,
        })
    }

    /// Selects the type of a file in `cell` (NIST SP 500-282, chapter 8). A large type with fewer active files in the
    /// cell than its minimum comes first. Otherwise a type is drawn, and replaced by a Web object if it is at its
    /// maximum. The file's size is `web` times the type's factor.
    pub(crate) fn choose(
        &mut self,
        web: u64,
        cell: Cell,
        large_files: &ActiveLargeFiles,
    ) -> ChosenFile {
        let file = large_files
            .below_minimum(cell)
            .unwrap_or_else(|| large_files.admit(self.draw()));
        let factor = match file {
            FileType::Web => 1,
            large => self.files.large[large as usize - 1].factor,
        };
        ChosenFile {
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
    use longhaul_kernel::random::Randomness;

    fn large(probability: f64, factor: u64) -> LargeFile {
        LargeFile {
            probability,
            factor,
        }
    }

    /// Checks that each type is drawn with its probability and multiplies the size by its factor. A case is (type,
    /// probability, factor), with the values of the plus level in NIST SP 500-282, tables 8-3 and 8-4.
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
        let streams = Streams::new(1, 0, Randomness::Streams);
        let mut chooser = FileChooser::new(&files, &streams);
        let large_files = ActiveLargeFiles::new(None);
        let cell = Cell {
            path: PathClass::Typical,
            fast_interface: false,
            alternate: false,
        };
        const DRAWS: usize = 1_000_000;
        let mut counts = [0; 4];
        for _ in 0..DRAWS {
            let web = chooser.web_object();
            // The smallest size is 100 (1.5 - 1) / 1.5 packets, rounded up.
            assert!(web >= 34);
            let choice = chooser.choose(web, cell, &large_files);
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

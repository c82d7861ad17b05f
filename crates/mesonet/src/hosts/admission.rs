//! Admission of large files: a minimum number of active files in each set of flows ([`Cell`]), and a maximum in the
//! network (NIST SP 500-282, chapter 8, equations 1 to 3 and table 8-7).

use serde::{Deserialize, Serialize};

use crate::config::{Admission, Cell, FileType};

/// Active large files, counted from their selection to the end of their flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ActiveLargeFiles {
    admission: Option<Admission>,
    /// Numbers of active files: a row for each large type of files, and a column for each cell.
    cells: [[u64; Cell::COUNT]; 3],
    all: [u64; 3],
}

impl ActiveLargeFiles {
    pub(crate) fn new(admission: Option<Admission>) -> Self {
        Self {
            admission,
            cells: [[0; Cell::COUNT]; 3],
            all: [0; 3],
        }
    }

    /// Returns the numbers of active documents, service packs and movies (the three large types of files) in the whole
    /// network.
    pub(crate) fn all(&self) -> [u64; 3] {
        self.all
    }

    /// Returns a large type that has fewer active files in `cell` than its minimum; movies are checked first. Returns
    /// `None` if every type reaches its minimum. The maximum is not checked.
    pub(super) fn below_minimum(&self, cell: Cell) -> Option<FileType> {
        let admission = self.admission.as_ref()?;
        let at = cell.index();
        let lacks = |large: usize| self.cells[large][at] < admission.min[large][at];
        (0..3)
            .rev()
            .find(|&large| lacks(large))
            .map(|large| FileType::LARGE[large])
    }

    /// Returns the type `drawn`, or a Web object if the number of active files of the type `drawn` is at its maximum.
    pub(super) fn admit(&self, drawn: FileType) -> FileType {
        match (&self.admission, place(drawn)) {
            (Some(admission), Some(large)) if self.all[large] >= admission.max[large] => {
                FileType::Web
            }
            _ => drawn,
        }
    }

    /// Counts the file of a new flow as active, if the file is large. `cell` is the set of flows to which the new flow
    /// belongs.
    pub(crate) fn begin(&mut self, file: FileType, cell: Cell) {
        if let Some(large) = place(file) {
            self.cells[large][cell.index()] += 1;
            self.all[large] += 1;
        }
    }

    /// Removes a file, if it is large, from the counts of `cell` and of the whole network, since its flow has completed
    /// or could not be connected.
    pub(crate) fn end(&mut self, file: FileType, cell: Cell) {
        if let Some(large) = place(file) {
            self.cells[large][cell.index()] -= 1;
            self.all[large] -= 1;
        }
    }
}

/// Returns the index of a file type among the large types; `None` for Web objects.
fn place(file: FileType) -> Option<usize> {
    FileType::LARGE.iter().position(|&large| large == file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PathClass;

    #[test]
    fn a_cell_s_minimum_comes_before_the_network_s_maximum() {
        let cell = |alternate| Cell {
            path: PathClass::VeryFast,
            fast_interface: true,
            alternate,
        };
        let (ours, other) = (cell(true), cell(false));
        let mut min = [[0; Cell::COUNT]; 3];
        (min[0][ours.index()], min[2][ours.index()]) = (1, 1);
        let mut large_files = ActiveLargeFiles::new(Some(Admission {
            max: [2, 0, 1],
            min,
        }));
        assert_eq!(large_files.below_minimum(other), None);
        assert_eq!(large_files.below_minimum(ours), Some(FileType::Movie));
        assert_eq!(large_files.admit(FileType::ServicePack), FileType::Web);
        assert_eq!(large_files.admit(FileType::Web), FileType::Web);
        // A movie of another cell does not count for this cell, which may exceed the maximum.
        large_files.begin(FileType::Movie, other);
        assert_eq!(large_files.admit(FileType::Movie), FileType::Web);
        assert_eq!(large_files.below_minimum(ours), Some(FileType::Movie));
        large_files.begin(FileType::Movie, ours);
        assert_eq!(large_files.below_minimum(ours), Some(FileType::Document));
        large_files.begin(FileType::Document, ours);
        assert_eq!(large_files.below_minimum(ours), None);
        large_files.begin(FileType::Document, other);
        assert_eq!(large_files.admit(FileType::Document), FileType::Web);
        large_files.end(FileType::Document, ours);
        assert_eq!(large_files.admit(FileType::Document), FileType::Document);
        assert_eq!(large_files.below_minimum(ours), Some(FileType::Document));
    }
}

//! How many large files are under way, so that each cell has some and slow paths not too many
//! (spec 004d B.6).

use serde::{Deserialize, Serialize};

use crate::config::{Admission, Cell, FileType};

/// Large files under way, counted from their choice to their end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnderWay {
    admission: Option<Admission>,
    /// Of each large type, in each cell.
    cells: [[u64; Cell::COUNT]; 3],
    all: [u64; 3],
}

impl UnderWay {
    pub(crate) fn new(admission: Option<Admission>) -> Self {
        Self {
            admission,
            cells: [[0; Cell::COUNT]; 3],
            all: [0; 3],
        }
    }

    /// The type of which a cell has too few, films first; no maximum stands against it.
    pub(super) fn lacking(&self, cell: Cell) -> Option<FileType> {
        let admission = self.admission.as_ref()?;
        let at = cell.index();
        let lacks = |large: usize| self.cells[large][at] < admission.least[large][at];
        (0..3)
            .rev()
            .find(|&large| lacks(large))
            .map(|large| FileType::LARGE[large])
    }

    /// A type that was drawn, or a Web object if there are too many of it.
    pub(super) fn admit(&self, drawn: FileType) -> FileType {
        match (&self.admission, place(drawn)) {
            (Some(admission), Some(large)) if self.all[large] >= admission.most[large] => {
                FileType::Web
            }
            _ => drawn,
        }
    }

    /// A file of a cell was chosen.
    pub(crate) fn begin(&mut self, file: FileType, cell: Cell) {
        if let Some(large) = place(file) {
            self.cells[large][cell.index()] += 1;
            self.all[large] += 1;
        }
    }

    /// It is over, or its flow could not be connected.
    pub(crate) fn end(&mut self, file: FileType, cell: Cell) {
        if let Some(large) = place(file) {
            self.cells[large][cell.index()] -= 1;
            self.all[large] -= 1;
        }
    }
}

/// Position among the large types.
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
        let mut least = [[0; Cell::COUNT]; 3];
        (least[0][ours.index()], least[2][ours.index()]) = (1, 1);
        let mut under_way = UnderWay::new(Some(Admission {
            most: [2, 0, 1],
            least,
        }));
        assert_eq!(under_way.lacking(other), None);
        assert_eq!(under_way.lacking(ours), Some(FileType::Movie));
        assert_eq!(under_way.admit(FileType::ServicePack), FileType::Web);
        assert_eq!(under_way.admit(FileType::Web), FileType::Web);
        // Another cell's film does not fill ours, and ours may exceed the maximum.
        under_way.begin(FileType::Movie, other);
        assert_eq!(under_way.admit(FileType::Movie), FileType::Web);
        assert_eq!(under_way.lacking(ours), Some(FileType::Movie));
        under_way.begin(FileType::Movie, ours);
        assert_eq!(under_way.lacking(ours), Some(FileType::Document));
        under_way.begin(FileType::Document, ours);
        assert_eq!(under_way.lacking(ours), None);
        under_way.begin(FileType::Document, other);
        assert_eq!(under_way.admit(FileType::Document), FileType::Web);
        under_way.end(FileType::Document, ours);
        assert_eq!(under_way.admit(FileType::Document), FileType::Document);
        assert_eq!(under_way.lacking(ours), Some(FileType::Document));
    }
}

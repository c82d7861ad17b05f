//! flow-N.sqlog: the logs that QUIC stacks write about the connections of flows, unchanged.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::PathBuf;

use crate::digest::DigestedFile;
use crate::directory::PartialDirectory;
use crate::error::OutputError;

/// The log files that are being written, by number of the flow.
#[derive(Debug, Default)]
pub(crate) struct StackLogs(BTreeMap<u32, (PathBuf, BufWriter<DigestedFile>)>);

impl StackLogs {
    /// Appends `text` to the log file of a flow. The first call for a flow creates the file.
    pub(crate) fn append(
        &mut self,
        flow: u32,
        text: &[u8],
        directory: &PartialDirectory,
    ) -> Result<(), OutputError> {
        let (path, writer) = match self.0.entry(flow) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let file = directory.file(&format!("flow-{flow}.sqlog"));
                let created = file.create();
                let created = created.map_err(OutputError::io("create", &file.path))?;
                place.insert((file.path, BufWriter::new(created)))
            }
        };
        let written = writer.write_all(text);
        written.map_err(OutputError::io("write", path))
    }

    /// Waits until all logs are on disk.
    pub(crate) fn finish(self) -> Result<(), OutputError> {
        for (path, writer) in self.0.into_values() {
            let file = writer.into_inner().map_err(IntoInnerError::into_error);
            file.and_then(|file| file.finish(&path))
                .map_err(OutputError::io("write", &path))?;
        }
        Ok(())
    }
}

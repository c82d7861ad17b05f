//! Captures of the real packets of an emulation at its hosts: complete packets from the IP header
//! on.

use std::fs::File;
use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};

use longhaul_units::Time;

use crate::error::OutputError;
use crate::pcapng::{LinkType, PcapngWriter};

/// Snap length that means no limit on the captured bytes of a packet.
const WHOLE: u32 = 0;

/// A capture file that is being written.
#[derive(Debug)]
pub struct HostCapture {
    path: PathBuf,
    writer: PcapngWriter<BufWriter<File>>,
}

impl HostCapture {
    /// Creates the capture file at `path`, with one interface for each host.
    pub fn create(path: &Path, hosts: &[String]) -> Result<Self, OutputError> {
        let describe = || {
            let out = BufWriter::new(File::create(path)?);
            let mut writer = PcapngWriter::new(out, "longhaul")?;
            for host in hosts {
                let place = "packets as the host sends them, and as they come to it";
                writer.interface(host, place, LinkType::Raw, None, WHOLE)?;
            }
            Ok(writer)
        };
        Ok(Self {
            path: path.to_path_buf(),
            writer: describe().map_err(OutputError::io("write", path))?,
        })
    }

    /// Writes a packet that the host with index `host` sent or received at `time`.
    pub fn push(&mut self, host: usize, time: Time, bytes: &[u8]) -> Result<(), OutputError> {
        self.writer
            .packet(host as u32, time, bytes, bytes.len() as u32, None)
            .map_err(OutputError::io("write", &self.path))
    }

    /// Waits until all packets are in the file.
    pub fn finish(self) -> Result<(), OutputError> {
        let into_file = self.writer.into_inner().into_inner();
        into_file
            .map_err(IntoInnerError::into_error)
            .map(drop)
            .map_err(OutputError::io("write", &self.path))
    }
}

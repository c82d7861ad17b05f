//! packets.pcapng: the packets of the captured links and nodes, headers only.

use std::io::{self, BufWriter, IntoInnerError};
use std::path::PathBuf;

use longhaul_engine::Config;
use longhaul_engine::measure::CapturedPacket;

use crate::digest::{DigestedFile, NewFile};
use crate::error::OutputError;
use crate::frame::{Conversation, HEADER_BYTES_MAX};
use crate::pcapng::{LinkType, PcapngWriter};
use crate::ports::PortTable;

pub(crate) const FILE: &str = "packets.pcapng";

/// Comment on a packet that is dropped when it arrives at a link. A packet that the queue drops
/// later has no comment.
const DROPPED: &str = "dropped on arrival at this link";

/// Maximum captured length of a packet in bytes: the longest possible headers.
const SNAP_BYTES: u32 = HEADER_BYTES_MAX as u32;

/// A capture that is being written.
#[derive(Debug)]
pub(crate) struct Capture {
    path: PathBuf,
    conversations: Vec<Conversation>,
    ports: PortTable,
    /// Interface number of each link, and then of each node; `None` for links and nodes that are
    /// not captured.
    interfaces: Vec<Option<u32>>,
    writer: PcapngWriter<BufWriter<DigestedFile>>,
    frame: Vec<u8>,
    packets: u64,
}

impl Capture {
    /// Creates the capture file, with one interface for each captured link and node.
    pub(crate) fn create(file: &NewFile, config: &Config) -> Result<Self, OutputError> {
        let path = file.path.clone();
        let describe = || -> io::Result<_> {
            let mut writer = PcapngWriter::new(BufWriter::new(file.create()?), "longhaul")?;
            let mut interfaces = Vec::new();
            let mut next = 0;
            for link in &config.links {
                interfaces.push(link.captured.then_some(next));
                if link.captured {
                    let [from, to] = [link.from, link.to].map(|node| &config.nodes[node]);
                    let place = format!(
                        "packets as they come to the link from {from} to {to}, before its queue"
                    );
                    let rate = Some(link.rate);
                    writer.interface(&link.name, &place, LinkType::Ethernet, rate, SNAP_BYTES)?;
                    next += 1;
                }
            }
            for (node, name) in config.nodes.iter().enumerate() {
                let captured = config.captured_nodes.contains(&node);
                interfaces.push(captured.then_some(next));
                if captured {
                    let place =
                        format!("packets that end systems at {name} send, and that reach them");
                    writer.interface(name, &place, LinkType::Ethernet, None, SNAP_BYTES)?;
                    next += 1;
                }
            }
            Ok((writer, interfaces))
        };
        let (writer, interfaces) = describe().map_err(OutputError::io("write", &path))?;
        let conversations = Conversation::all(config);
        Ok(Self {
            path,
            conversations,
            ports: PortTable::default(),
            interfaces,
            writer,
            frame: Vec::new(),
            packets: 0,
        })
    }

    pub(crate) fn push(&mut self, packet: &CapturedPacket) -> Result<(), OutputError> {
        let Some(interface) = self.interfaces[packet.interface as usize] else {
            return Ok(());
        };
        let conversation = &self.conversations[packet.flow as usize];
        let frame_bytes = conversation.write_headers(packet, &mut self.ports, &mut self.frame);
        self.packets += 1;
        let comment = packet.dropped.then_some(DROPPED);
        self.writer
            .packet(interface, packet.time, &self.frame, frame_bytes, comment)
            .map_err(OutputError::io("write", &self.path))
    }

    /// Waits until the data is on disk, and returns the number of captured packets.
    pub(crate) fn finish(self) -> Result<u64, OutputError> {
        let into_file = self.writer.into_inner().into_inner();
        into_file
            .map_err(IntoInnerError::into_error)
            .and_then(|file| file.finish(&self.path))
            .map_err(OutputError::io("write", &self.path))?;
        Ok(self.packets)
    }
}

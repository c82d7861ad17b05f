//! The pcapng file format: section header, interface descriptions, enhanced packets.
//!
//! draft-ietf-opsawg-pcapng, sections 4.1 to 4.3, defines the blocks, and its tables the codes of
//! blocks and options. Files are little endian and have nanosecond time stamps.

use std::io::{self, Write};

use longhaul_units::{Rate, Time};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const SECTION_LENGTH_UNKNOWN: u64 = u64::MAX;

const OPTION_END: u16 = 0;
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
/// Resolution of time stamps: n stands for a unit of 10^-n s.
const NANOSECONDS: u8 = 9;

/// Format of the captured bytes, by its number in the registry of link types.
#[derive(Clone, Copy, Debug)]
#[repr(u16)]
pub(crate) enum LinkType {
    Ethernet = 1,
    /// IP packets, from the IP header on.
    Raw = 101,
}

/// A pcapng file that is being written to `W`.
#[derive(Debug)]
pub(crate) struct PcapngWriter<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Creates the writer, and writes the section header with the name of the application.
    pub(crate) fn new(out: W, application: &str) -> io::Result<Self> {
        let mut writer = Self {
            out,
            block: Vec::new(),
        };
        writer.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        // The version of the format is 1.0.
        writer.put(&1_u16.to_le_bytes());
        writer.put(&0_u16.to_le_bytes());
        writer.put(&SECTION_LENGTH_UNKNOWN.to_le_bytes());
        writer.option(SHB_USERAPPL, application.as_bytes());
        writer.option(OPTION_END, &[]);
        writer.write_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Writes the description of the next interface. Interfaces are numbered from 0 in this order.
    pub(crate) fn interface(
        &mut self,
        name: &str,
        description: &str,
        link_type: LinkType,
        speed: Option<Rate>,
        snap_bytes: u32,
    ) -> io::Result<()> {
        self.put(&(link_type as u16).to_le_bytes());
        self.put(&[0; 2]);
        self.put(&snap_bytes.to_le_bytes());
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_DESCRIPTION, description.as_bytes());
        if let Some(speed) = speed {
            self.option(IF_SPEED, &speed.as_bps().to_le_bytes());
        }
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.option(OPTION_END, &[]);
        self.write_block(INTERFACE_DESCRIPTION)
    }

    /// Writes the captured beginning of a frame; the whole frame has `frame_bytes` bytes.
    pub(crate) fn packet(
        &mut self,
        interface: u32,
        time: Time,
        captured: &[u8],
        frame_bytes: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let nanoseconds = time.as_ps() / 1000;
        self.put(&interface.to_le_bytes());
        self.put(&((nanoseconds >> 32) as u32).to_le_bytes());
        self.put(&(nanoseconds as u32).to_le_bytes());
        self.put(&(captured.len() as u32).to_le_bytes());
        self.put(&frame_bytes.to_le_bytes());
        self.put(captured);
        self.pad();
        if let Some(comment) = comment {
            self.option(COMMENT, comment.as_bytes());
            self.option(OPTION_END, &[]);
        }
        self.write_block(ENHANCED_PACKET)
    }

    /// Returns `out`, to which all blocks have been written. If it has a buffer, the caller has to
    /// flush it.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    /// Pads the block to a multiple of 32 bits, where its next part may begin.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block: its type, its length, the body, and its length again.
    fn write_block(&mut self, block_type: u32) -> io::Result<()> {
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&block_type.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_laid_out_as_the_format_says() {
        let mut pcapng = PcapngWriter::new(Vec::new(), "app").unwrap();
        pcapng
            .interface(
                "ab",
                "in",
                LinkType::Ethernet,
                Some(Rate::from_bps(1_000_000_000)),
                96,
            )
            .unwrap();
        // 4.294967297 s are 2^32 + 1 nanoseconds.
        let time = Time::from_ps(4_294_967_297_999);
        for comment in [None, Some("lost")] {
            pcapng
                .packet(0, time, &[7, 8, 9, 10, 11], 1514, comment)
                .unwrap();
        }
        let file = pcapng.into_inner();
        let words: Vec<u32> = file
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let section = [
            0x0a0d_0d0a,
            40,
            0x1a2b_3c4d,
            1,
            u32::MAX,
            u32::MAX,
            0x0003_0004,
            0x0070_7061,
            0,
            40,
        ];
        let interface = [
            1,
            60,
            1,
            96,
            0x0002_0002,
            0x6261,
            0x0002_0003,
            0x6e69,
            0x0008_0008,
            1_000_000_000,
            0,
            0x0001_0009,
            9,
            0,
            60,
        ];
        let packet = [6, 40, 0, 1, 1, 5, 1514, 0x0a09_0807, 11, 40];
        let with_comment = [
            6,
            52,
            0,
            1,
            1,
            5,
            1514,
            0x0a09_0807,
            11,
            0x0004_0001,
            0x7473_6f6c,
            0,
            52,
        ];
        let blocks = [&section[..], &interface, &packet, &with_comment];
        assert_eq!(words, blocks.concat());
    }
}

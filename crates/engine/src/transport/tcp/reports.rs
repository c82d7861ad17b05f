//! Optional contents of acknowledgements: transit times, router feedback.

use longhaul_congestion::Load;
use longhaul_units::Span;

use crate::config::ClockError;
use crate::packet::{Flags, OptionStore, Packet, SackBlocks, SackHandle, XcpHeader};
use crate::transport::Environment;

/// What a receiver has to report. None if nothing is to be reported.
#[derive(Debug)]
pub(super) struct Reports {
    /// Whether transit times are reported, and that of the last data segment. That of a SYN, which
    /// is shorter, would pass for a lower delay of the path (Weigle, dissertation, UNC 2003, chapter 3).
    transits: bool,
    transit: Option<Span>,
    /// By how much the clock that they are measured with is wrong.
    clock: ClockError,
    /// The highest load among the segments not yet answered.
    load: Option<Load>,
    /// What XCP's routers have granted to these in all, in bytes per second.
    granted: Option<f64>,
}

impl Reports {
    /// What is to be reported, if anything.
    pub(super) fn new(transits: bool, routers: bool) -> Option<Box<Self>> {
        let reports = Self {
            transits,
            transit: None,
            clock: ClockError::default(),
            load: None,
            granted: None,
        };
        (transits || routers).then(|| Box::new(reports))
    }

    /// Has transit times measured with a clock that is wrong.
    pub(super) fn set_clock(&mut self, clock: ClockError) {
        self.clock = clock;
    }

    /// Records a segment.
    pub(super) fn record(&mut self, packet: &Packet, env: &mut impl Environment) {
        if self.transits && packet.seq > 0 {
            let transit = env.now().since(packet.stamp);
            self.transit = Some(self.clock.measured(transit, env.now()));
        }
        self.load = self.load.max(packet.flags.load());
        let (header, _) = env.options().take_header(packet.sack);
        if let Some(header) = header.filter(|header| header.granted) {
            *self.granted.get_or_insert(0.0) += header.change;
        }
    }

    /// Returns what the acknowledgement `next` reports: its options, and its flags so far.
    pub(super) fn take_report(
        &mut self,
        blocks: &SackBlocks,
        next: u64,
        options: &mut OptionStore,
    ) -> (SackHandle, Flags) {
        let mut sack = match self.transit {
            Some(transit) => options.put(&blocks.with_transit(transit), next),
            None => options.put(blocks, next),
        };
        if let Some(change) = self.granted.take() {
            let header = XcpHeader {
                change,
                granted: true,
                ..XcpHeader::default()
            };
            sack = options.put_header(header, sack);
        }
        let load = self.load.take();
        let flags = load.map_or(Flags::ACK, |load| Flags::ACK.with_load(load));
        (sack, flags)
    }
}

//! Optional contents of acknowledgements: transit times or ACK delays, and feedback of routers.

use longhaul_congestion::Load;
use longhaul_units::{Span, Time};

use crate::config::{ClockError, RttSample, Tcp};
use crate::packet::{Flags, Packet, SackBlocks, SackHandle, XcpHeader};
use crate::transport::Environment;

/// Data that a receiver adds to its acknowledgements: a transit time or ACK delay, and routers' feedback (VCP, XCP).
#[derive(Debug)]
pub(super) struct Reports {
    /// The reported time, if any.
    time: Option<ReportedTime>,
    /// Error of the receiver's clock; it affects the measured transit times.
    clock: ClockError,
    /// The highest load factor in the segments not acknowledged yet (VCP).
    load: Option<Load>,
    /// Sum of the throughput changes that XCP's routers granted to unacknowledged segments, in bytes per second.
    granted: Option<f64>,
}

/// A time that acknowledgements report.
#[derive(Clone, Copy, Debug)]
enum ReportedTime {
    /// Transit time of the last data segment. A SYN does not count: it is shorter, and would lower the minimum delay of
    /// the path (Weigle, dissertation, UNC 2003, chapter 3).
    Transit(Option<Span>),
    /// Arrival time of the last segment; acknowledgements report the delay since this time (RFC 9000 section 13.2.5).
    DelaySince(Time),
}

impl ReportedTime {
    fn new(config: &Tcp) -> Option<Self> {
        if config.timestamps.is_one_way() {
            Some(Self::Transit(None))
        } else {
            (config.rtt_sample == RttSample::Reported).then_some(Self::DelaySince(Time::ZERO))
        }
    }
}

impl Reports {
    /// Creates the optional contents of acknowledgements; `None` if there are none. `routers` is true if the receiver
    /// returns feedback of routers.
    pub(super) fn new(config: &Tcp, routers: bool) -> Option<Box<Self>> {
        let time = ReportedTime::new(config);
        let reports = Self {
            time,
            clock: ClockError::default(),
            load: None,
            granted: None,
        };
        (time.is_some() || routers).then(|| Box::new(reports))
    }

    /// Sets the error of the receiver's clock.
    pub(super) fn set_clock(&mut self, clock: ClockError) {
        self.clock = clock;
    }

    /// Records an arrived segment for the next acknowledgement.
    pub(super) fn record(&mut self, packet: &Packet, env: &mut impl Environment) {
        let now = env.now();
        match &mut self.time {
            Some(ReportedTime::Transit(transit)) if packet.seq > 0 => {
                *transit = Some(self.clock.measured(now.since(packet.stamp), now));
            }
            Some(ReportedTime::DelaySince(arrival)) => *arrival = now,
            Some(ReportedTime::Transit(_)) | None => {}
        }
        self.load = self.load.max(packet.flags.load());
        let (header, _) = env.options().take_header(packet.sack);
        if let Some(header) = header.filter(|header| header.granted) {
            *self.granted.get_or_insert(0.0) += header.change;
        }
    }

    /// Returns the options and flags of an acknowledgement of all segments below `next`, with the SACK blocks `blocks`,
    /// the reported time and the feedback of routers. Clears the stored feedback, so it is reported once.
    pub(super) fn take_report(
        &mut self,
        blocks: &SackBlocks,
        next: u64,
        env: &mut impl Environment,
    ) -> (SackHandle, Flags) {
        let time = match self.time {
            Some(ReportedTime::Transit(transit)) => transit,
            Some(ReportedTime::DelaySince(arrival)) => Some(env.now().since(arrival)),
            None => None,
        };
        let options = env.options();
        let mut sack = match time {
            Some(time) => options.put(&blocks.with_transit(time), next),
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

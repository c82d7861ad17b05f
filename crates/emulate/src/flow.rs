//! Flows of programs and their counters, computed from the packets sent and delivered, and from the
//! kernel's state of the sockets.

use std::collections::VecDeque;

use longhaul_engine::emulation::OutsideDrops;
use longhaul_engine::measure::{DelayHistogram, FlowCounters, FlowSample, FlowTotals};
use longhaul_units::{Span, Time};

use crate::packet::{ACK, FIN, FiveTuple, Header, ICMP, SYN, Segment, TCP, UDP};
use crate::socket_info::SocketInfo;

/// First state of the kernel's congestion control with a reduced window (CWR).
const REDUCING: u8 = 2;
/// State of the kernel's congestion control after a timeout.
const LOSS: u8 = 4;

/// Minimum number of data packets of a flow that has its label without `-short`. Shorter flows are
/// requests, or control connections of other flows.
pub(crate) const MIN_DATA_PKTS: u64 = 10;

/// Maximum number of stored send times of segments in flight.
const MAX_TIMED: usize = 1 << 16;

/// A flow: the packets in one direction between two ends.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) tuple: FiveTuple,
    /// Nodes of the sending host and of the receiving host.
    pub(crate) ends: (usize, usize),
    /// Number of the flow among the recorded flows of programs; `None` until the flow has carried data.
    pub(crate) record: Option<u32>,
    start: Time,
    finish: Option<Time>,
    counters: FlowCounters,
    before: FlowCounters,
    stream: Stream,
    /// One-way delays of delivered data packets, since the measurement window began.
    pub(crate) delays: DelayHistogram,
    /// Latest sample of the sending socket's state; `None` before the first.
    info: Option<Noted>,
}

/// A sample of a socket's state.
#[derive(Debug)]
struct Noted {
    info: SocketInfo,
    at: Time,
    retransmitted_pkts: u64,
}

/// The byte stream of one direction of a TCP connection. Position 0 is the first byte after the
/// SYN.
#[derive(Debug, Default)]
struct Stream {
    /// Sequence number of the byte at position 0; `None` before the first packet.
    first: Option<u32>,
    /// Position after the last byte that was sent.
    sent: u64,
    /// Position of the first byte that is not acknowledged yet.
    acknowledged: u64,
    /// Position after the last byte that was delivered in order.
    in_order: u64,
    /// Ranges of bytes that were delivered out of order, sorted by position.
    beyond: Vec<(u64, u64)>,
    /// End position and send time of segments in flight, at most [`MAX_TIMED`]. All are removed when
    /// a segment is retransmitted.
    timed: VecDeque<(u64, Time)>,
    /// Position of the stream's end; `None` until a FIN was sent.
    end: Option<u64>,
}

impl Stream {
    /// Converts a sequence number, which may have wrapped around, to the stream position nearest to `near`.
    fn position(&self, sequence: u32, near: u64) -> u64 {
        let first = self.first.unwrap_or(sequence);
        let offset = sequence.wrapping_sub(first).wrapping_sub(near as u32) as i32;
        near.saturating_add_signed(offset.into())
    }

    /// Adds the delivered bytes from position `begin` to `end`. Returns the number of new bytes, and
    /// the number of bytes by which the data without gaps has grown.
    fn deliver(&mut self, begin: u64, end: u64) -> (u64, u64) {
        let (mut from, before) = (begin.max(self.in_order), self.in_order);
        let mut new = 0;
        for &(left, right) in &self.beyond {
            new += left.min(end).saturating_sub(from);
            from = from.max(right);
        }
        new += end.saturating_sub(from);
        if new == 0 {
            return (0, 0);
        }
        let place = self.beyond.partition_point(|&(left, _)| left < begin);
        self.beyond.insert(place, (begin, end));
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(self.beyond.len());
        for &(left, right) in &self.beyond {
            match merged.last_mut() {
                Some(last) if left <= last.1 => last.1 = last.1.max(right),
                _ => merged.push((left, right)),
            }
        }
        if let Some(&(left, right)) = merged.first()
            && left <= self.in_order
        {
            self.in_order = self.in_order.max(right);
            merged.remove(0);
        }
        self.beyond = merged;
        (new, self.in_order - before)
    }
}

impl Flow {
    pub(crate) fn new(tuple: FiveTuple, ends: (usize, usize), now: Time) -> Self {
        Self {
            tuple,
            ends,
            record: None,
            start: now,
            finish: None,
            counters: FlowCounters::default(),
            before: FlowCounters::default(),
            stream: Stream::default(),
            delays: DelayHistogram::default(),
            info: None,
        }
    }

    /// Counts a packet of `bytes` bytes that the host has sent at `now`, if it carries data. Returns
    /// true if so. Packets of all protocols but TCP carry data.
    pub(crate) fn enter(&mut self, header: &Header, bytes: usize, now: Time) -> bool {
        if let Some(segment) = header.tcp {
            self.note_segment(&segment, header.payload, now);
        }
        let carries_data = header.payload > 0 || header.flow.protocol != TCP;
        if carries_data {
            self.counters.sent_pkts += 1;
            self.counters.sent_bytes += bytes as u64;
        }
        carries_data
    }

    fn note_segment(&mut self, segment: &Segment, payload: usize, now: Time) {
        let stream = &mut self.stream;
        if segment.flags & SYN != 0 {
            stream.first = Some(segment.sequence.wrapping_add(1));
            return;
        }
        stream.first.get_or_insert(segment.sequence);
        let begin = stream.position(segment.sequence, stream.sent);
        let end = begin + payload as u64;
        if segment.flags & FIN != 0 {
            stream.end = Some(end);
        }
        if payload == 0 {
            return;
        }
        if begin < stream.sent {
            self.counters.retransmitted_pkts += 1;
            // An acknowledgement does not identify the copy of a segment that it is for (Karn and
            // Partridge 1987).
            stream.timed.clear();
        } else if stream.timed.len() < MAX_TIMED {
            stream.timed.push_back((end, now));
        }
        stream.sent = stream.sent.max(end);
    }

    /// Counts a data packet that has reached the other host. It was sent at `entered`, and its arrival
    /// was scheduled for `due`. Packets of TCP without payload are ignored.
    pub(crate) fn leave(&mut self, header: &Header, entered: Time, due: Time) {
        if header.payload == 0 && header.flow.protocol == TCP {
            return;
        }
        self.delays.record(due.since(entered));
        let (new, in_order) = match header.tcp {
            Some(segment) => {
                let begin = self.stream.position(segment.sequence, self.stream.in_order);
                self.stream.deliver(begin, begin + header.payload as u64)
            }
            None => (header.payload as u64, header.payload as u64),
        };
        self.counters.delivered_pkts += u64::from(new > 0 || header.tcp.is_none());
        self.counters.delivered_bytes += new;
        self.counters.in_order_pkts += u64::from(in_order > 0 || header.tcp.is_none());
        self.counters.in_order_bytes += in_order;
    }

    /// Processes an acknowledgement that has come back to the sender of the flow.
    pub(crate) fn acknowledge(&mut self, segment: &Segment, now: Time) {
        let stream = &mut self.stream;
        // Without the flag, as in a reset of a closed connection, the field has no meaning (RFC 9293,
        // section 3.1).
        if stream.first.is_none() || segment.flags & ACK == 0 {
            return;
        }
        let acknowledged = stream.position(segment.acknowledged, stream.acknowledged);
        stream.acknowledged = stream.acknowledged.max(acknowledged);
        let mut sample = None;
        while let Some(&(end, sent)) = stream.timed.front()
            && end <= acknowledged
        {
            sample.get_or_insert(now.since(sent));
            stream.timed.pop_front();
        }
        if let Some(rtt) = sample {
            let counters = &mut self.counters;
            counters.rtt_min = match counters.rtt_samples {
                0 => rtt,
                _ => counters.rtt_min.min(rtt),
            };
            counters.rtt_max = counters.rtt_max.max(rtt);
            counters.rtt_samples += 1;
            counters.rtt_sum += rtt;
        }
        // The FIN takes one sequence number.
        let is_over = stream.end.is_some_and(|end| acknowledged > end);
        if is_over && self.finish.is_none() {
            self.finish = Some(now);
        }
    }

    /// Returns the position that `segment` acknowledges in this flow's stream, for links that filter
    /// acknowledgements.
    pub(crate) fn acknowledgement_number(&self, segment: &Segment) -> u64 {
        self.stream
            .position(segment.acknowledged, self.stream.acknowledged)
    }

    /// Stores a sample of the sending socket's state, which the loop uses at `now`. The kernel may have
    /// given it up to a sampling interval earlier.
    pub(crate) fn note_info(&mut self, info: SocketInfo, now: Time) {
        if let Some(before) = &self.info {
            let passed = now.since(before.at).as_secs_f64();
            self.counters.cwnd_integral += f64::from(before.info.cwnd) * passed;
        }
        self.count_reductions(&info);
        let retransmitted_pkts = self.counters.retransmitted_pkts;
        self.info = Some(Noted {
            info,
            at: now,
            retransmitted_pkts,
        });
    }

    /// Counts at most one window reduction and one timeout since the last sample.
    fn count_reductions(&mut self, info: &SocketInfo) {
        let Some(noted) = &self.info else { return };
        let before = &noted.info;
        let begins = |state| before.ca_state < state && info.ca_state >= state;
        // A reduction that has already ended. The end of slow start changes ssthresh, too, but cwnd does not fall.
        let is_over = info.ssthresh != before.ssthresh && info.cwnd < before.cwnd;
        let has_repaired = self.counters.retransmitted_pkts > noted.retransmitted_pkts;
        let (began, is_seen) = (begins(REDUCING), info.ca_state >= REDUCING);
        let by_loss = match is_seen {
            true => info.ca_state != REDUCING,
            false => has_repaired,
        };
        let counts = began || (!is_seen && is_over);
        self.counters.timeouts += u64::from(begins(LOSS));
        self.counters.cuts_loss += u64::from(counts && by_loss);
        self.counters.cuts_ecn += u64::from(counts && !by_loss);
    }

    /// Returns a sample of the flow's counters; `None` if the flow has carried no data. In samples,
    /// the flows between programs have numbers from `first` on.
    pub(crate) fn sample(&self, now: Time, first: u32) -> Option<FlowSample> {
        let info = self.info.as_ref().map(|noted| &noted.info);
        let in_flight = |info: &SocketInfo| {
            let gone = info.sacked + info.lost;
            (info.unacked + info.retransmitted).saturating_sub(gone)
        };
        Some(FlowSample {
            time: now,
            flow: first + self.record?,
            cwnd: info.map(|info| info.cwnd.into()),
            ssthresh: info.and_then(|info| info.ssthresh).map(f64::from),
            srtt: info.map_or(Span::ZERO, |info| Span::from_micros(info.srtt_us.into())),
            in_flight: info.map_or(0, in_flight).into(),
            sent_pkts: self.counters.sent_pkts,
            retransmitted_pkts: self.counters.retransmitted_pkts,
            delivered_bytes: self.counters.delivered_bytes,
            in_order_bytes: self.counters.in_order_bytes,
        })
    }

    /// Sets the numbers of the flow's packets that links have dropped and marked so far.
    pub(crate) fn note_drops(&mut self, drops: OutsideDrops) {
        self.counters.dropped_pkts = drops.dropped_pkts;
        self.counters.marked_pkts = drops.marked_pkts;
    }

    /// Begins the measurement window.
    pub(crate) fn open_window(&mut self) {
        self.before = self.counters;
        self.delays = DelayHistogram::default();
    }

    pub(crate) fn totals(&self) -> FlowTotals {
        FlowTotals::between(self.start, self.finish, self.before, self.counters)
    }

    pub(crate) fn sent_pkts(&self) -> u64 {
        self.counters.sent_pkts
    }

    /// Returns the name of the congestion control that the sending host's kernel reports; `None` if
    /// it reports none.
    pub(crate) fn congestion(&self) -> Option<&str> {
        let info = &self.info.as_ref()?.info;
        (!info.congestion.is_empty()).then_some(info.congestion.as_str())
    }

    /// Returns the label of the flow's group: the name of its congestion control, or else of its
    /// protocol. The label of a flow with few packets ends in `-short`.
    pub(crate) fn label(&self) -> String {
        let kind = match self.tuple.protocol {
            TCP => self.congestion().unwrap_or("tcp"),
            protocol => name_of(protocol),
        };
        match self.counters.sent_pkts < MIN_DATA_PKTS {
            true => format!("{kind}-short"),
            false => kind.to_string(),
        }
    }
}

/// Returns the name of an IP protocol.
pub(crate) fn name_of(protocol: u8) -> &'static str {
    match protocol {
        TCP => "tcp",
        UDP => "udp",
        ICMP => "icmp",
        _ => "ip",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_once_and_in_order_when_the_gap_before_them_is_filled() {
        let mut stream = Stream::default();
        assert_eq!(stream.deliver(0, 10), (10, 10));
        assert_eq!(stream.deliver(20, 30), (10, 0));
        assert_eq!(stream.deliver(20, 30), (0, 0));
        assert_eq!(stream.deliver(25, 40), (10, 0));
        assert_eq!(stream.deliver(5, 25), (10, 30));
        assert_eq!((stream.in_order, stream.beyond.len()), (40, 0));
    }

    fn state(ca_state: u8, cwnd: u32, ssthresh: Option<u32>) -> SocketInfo {
        let ends = (std::net::Ipv4Addr::LOCALHOST, std::net::Ipv4Addr::LOCALHOST);
        SocketInfo {
            flow: FiveTuple {
                protocol: TCP,
                source: ends.0,
                destination: ends.1,
                source_port: 1,
                destination_port: 2,
            },
            congestion: "cubic".to_string(),
            ca_state,
            unacked: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            srtt_us: 0,
            ssthresh,
            cwnd,
        }
    }

    #[test]
    fn a_reduction_between_two_samples_counts_and_the_end_of_slow_start_does_not() {
        let flow = state(0, 0, None).flow;
        let mut flow = Flow::new(flow, (0, 1), Time::ZERO);
        let open = 0;
        for (sample, retransmitted_pkts) in [
            (state(open, 50, None), 0),
            // HyStart ends slow start: the threshold changes, and the window does not shrink.
            (state(open, 80, Some(80)), 0),
            // A reduction that is still going on in two samples is counted once.
            (state(3, 56, Some(56)), 1),
            (state(3, 56, Some(56)), 1),
            (state(open, 60, Some(56)), 1),
            // Reductions that begin and end between two samples: one for a loss, one for a mark.
            (state(open, 45, Some(42)), 2),
            (state(open, 33, Some(31)), 2),
            // A timeout during a recovery counts as a timeout, not as another reduction.
            (state(3, 24, Some(23)), 3),
            (state(LOSS, 1, Some(17)), 4),
        ] {
            flow.counters.retransmitted_pkts = retransmitted_pkts;
            flow.note_info(sample, Time::ZERO);
        }
        let counters = &flow.counters;
        assert_eq!((counters.cuts_loss, counters.cuts_ecn), (3, 1));
        assert_eq!(counters.timeouts, 1);
    }

    #[test]
    fn a_reset_without_an_acknowledgement_acknowledges_nothing() {
        const RST: u8 = 4;
        let segment = |sequence, acknowledged, flags| Segment {
            sequence,
            acknowledged,
            flags,
            is_pure_ack: false,
        };
        let mut flow = Flow::new(state(0, 0, None).flow, (0, 1), Time::ZERO);
        // The field of a reset is zero, which is 1000 above this first sequence number.
        let first = 0_u32.wrapping_sub(1_000);
        flow.note_segment(&segment(first, 0, ACK), 500, Time::ZERO);
        flow.acknowledge(&segment(0, 0, RST), Time::ZERO + Span::from_millis(1));
        assert_eq!(
            (flow.counters.rtt_samples, flow.stream.acknowledged),
            (0, 0)
        );
        flow.acknowledge(
            &segment(0, first.wrapping_add(500), ACK),
            Time::ZERO + Span::from_millis(40),
        );
        assert_eq!(
            (flow.counters.rtt_samples, flow.stream.acknowledged),
            (1, 500)
        );
        assert_eq!(flow.counters.rtt_min, Span::from_millis(40));
    }

    #[test]
    fn positions_go_on_past_the_largest_sequence_number() {
        let stream = Stream {
            first: Some(u32::MAX - 9),
            ..Stream::default()
        };
        assert_eq!(stream.position(u32::MAX, 0), 9);
        assert_eq!(stream.position(5, 9), 15);
        let near = (1 << 32) + 100;
        assert_eq!(stream.position(5, near), (1 << 32) + 15);
    }
}

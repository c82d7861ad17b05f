//! Counters of flows and links, over the whole run and over the measurement window.

use longhaul_units::{Span, Time};

/// Everything known at the end of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// When the simulation ended: the configured duration, or earlier if it was stopped.
    pub end: Time,
    /// Whether the recorder stopped it before its end.
    pub stopped: bool,
    /// One entry per flow, in order of the configuration.
    pub flows: Vec<FlowTotals>,
    /// One entry per link, in order of the configuration.
    pub links: Vec<LinkTotals>,
    /// One entry per proxy, in order of the configuration.
    pub proxies: Vec<ProxyTotals>,
    /// Data packets sent by all flows, and by proxies for them, retransmissions included.
    pub data_packets: u64,
    /// Events processed.
    pub events: u64,
    /// The most events that waited at once.
    pub events_pending_max: u64,
    /// What the run should have seen and has not, in words: for whoever reads its results.
    pub shortcomings: Vec<String>,
}

/// One flow's result.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTotals {
    /// When it started.
    pub start: Time,
    /// When its last byte was acknowledged, for a finite transfer that completed.
    pub finish: Option<Time>,
    /// Over the whole run.
    pub total: FlowCounters,
    /// Over the measurement window.
    pub window: FlowCounters,
}

/// What one flow did in a period. Counters of packets do not include SYN and pure ACKs. In this order
/// in memory: the first six, which nearly every packet counts in, share a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct FlowCounters {
    /// Data packets sent, retransmissions included.
    pub sent_pkts: u64,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Round-trip samples taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Span,
    /// Smallest sample (zero without one). In the window counters: smallest in the window.
    pub rtt_min: Span,
    /// Largest sample.
    pub rtt_max: Span,
    /// Of those packets, retransmissions.
    pub retransmitted_pkts: u64,
    /// Packets that arrived at the receiver for the first time, in order or not.
    pub delivered_pkts: u64,
    /// Their payload bytes.
    pub delivered_bytes: u64,
    /// Packets handed to the receiving application in order.
    pub in_order_pkts: u64,
    /// Their payload bytes.
    pub in_order_bytes: u64,
    /// Packets that links dropped; zero where traffic opens connections, and of datagrams.
    pub dropped_pkts: u64,
    /// Packets that links marked; zero in the same cases.
    pub marked_pkts: u64,
    /// Window reductions for losses.
    pub cuts_loss: u64,
    /// Window reductions for congestion marks.
    pub cuts_ecn: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Integral of the congestion window over time: segment seconds.
    pub cwnd_integral: f64,
    /// How long each limit held the sender back.
    pub limited: LimitTimes,
    /// Connections opened, where traffic opens them as it goes.
    pub connections: u64,
    /// Exchanges over them that are complete.
    pub exchanges: u64,
}

impl FlowCounters {
    /// Adds what another connection of the same flow did.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sent_pkts += other.sent_pkts;
        self.sent_bytes += other.sent_bytes;
        self.retransmitted_pkts += other.retransmitted_pkts;
        self.delivered_pkts += other.delivered_pkts;
        self.delivered_bytes += other.delivered_bytes;
        self.in_order_pkts += other.in_order_pkts;
        self.in_order_bytes += other.in_order_bytes;
        self.dropped_pkts += other.dropped_pkts;
        self.marked_pkts += other.marked_pkts;
        self.cuts_loss += other.cuts_loss;
        self.cuts_ecn += other.cuts_ecn;
        self.timeouts += other.timeouts;
        self.rtt_samples += other.rtt_samples;
        self.rtt_sum += other.rtt_sum;
        if self.rtt_min == Span::ZERO
            || (other.rtt_min > Span::ZERO && other.rtt_min < self.rtt_min)
        {
            self.rtt_min = other.rtt_min;
        }
        self.rtt_max = self.rtt_max.max(other.rtt_max);
        self.cwnd_integral += other.cwnd_integral;
        self.limited.network += other.limited.network;
        self.limited.receive_window += other.limited.receive_window;
        self.limited.application += other.limited.application;
        self.connections += other.connections;
        self.exchanges += other.exchanges;
    }
}

/// How long each limit held the sender back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitTimes {
    /// The congestion window.
    pub network: Span,
    /// The receive window or socket buffer.
    pub receive_window: Span,
    /// Nothing to send.
    pub application: Span,
}

/// One proxy's result.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyTotals {
    /// Over the whole run.
    pub total: ProxyCounters,
    /// Over the measurement window.
    pub window: ProxyCounters,
}

/// What one proxy did in a period.
///
/// Over the whole run, what was admitted is what was forwarded, and what is still on its way between
/// the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProxyCounters {
    /// Its local queue, where what departs is what the proxy takes out.
    pub queue: LinkCounters,
    /// The connection between its nodes.
    pub carrier: FlowCounters,
    /// Payload that has come out of the local queue in order, and gone into the connection.
    pub admitted_bytes: u64,
    /// Segments' payloads given to the senders at the end node.
    pub forwarded_pkts: u64,
    /// Their bytes.
    pub forwarded_bytes: u64,
}

/// One link direction's result.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTotals {
    /// Over the whole run.
    pub total: LinkCounters,
    /// Over the measurement window.
    pub window: LinkCounters,
}

/// What one link direction did in a period.
///
/// `arrived = dropped (all causes) + departed + waiting or in service`, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkCounters {
    /// Packets that reached the link, before any loss. Copies made at its entrance included, packets
    /// that it holds back not.
    pub arrived_pkts: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets fully transmitted.
    pub departed_pkts: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Bytes transmitted, with the part of the packet in service that has left: what fills a period
    /// exactly, however short.
    pub transmitted_bytes: f64,
    /// Packets lost by the link's loss model.
    pub dropped_loss_pkts: u64,
    /// Packets dropped because the queue was full.
    pub dropped_overflow_pkts: u64,
    /// Packets that active queue management chose to drop.
    pub dropped_early_pkts: u64,
    /// Packets dropped because active queue management left no choice (above its upper bound).
    pub dropped_forced_pkts: u64,
    /// Packets marked instead of dropped.
    pub marked_pkts: u64,
    /// Packets that its entrance has made a copy of.
    pub duplicated_pkts: u64,
    /// Integral of the number of waiting packets over time: packet seconds. The packet in service
    /// does not wait.
    pub queue_integral: f64,
    /// The most packets that waited at once. In the window counters: in the window.
    pub queue_max_pkts: u64,
}

impl LinkCounters {
    /// Packets dropped for any cause.
    pub fn dropped_pkts(&self) -> u64 {
        self.dropped_loss_pkts
            + self.dropped_overflow_pkts
            + self.dropped_early_pkts
            + self.dropped_forced_pkts
    }
}

//! Counters of flows and links, over the whole run and over the measurement window.

use longhaul_kernel::memory::Refused;
use longhaul_units::{Span, Time};

use super::columns::{Counter, counters};
use super::delays::Delays;
use crate::config::Work;

/// Everything known at the end of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// When the simulation ended: the configured duration, or earlier if it was stopped.
    pub end: Time,
    /// Whether the recorder stopped it before its end, or it would have needed more memory than it may take.
    pub stopped: bool,
    /// The need of memory that ended it.
    pub out_of_memory: Option<OutOfMemory>,
    /// One entry per flow, in order of the configuration.
    pub flows: Vec<FlowTotals>,
    /// One entry per link, in order of the configuration.
    pub links: Vec<LinkTotals>,
    /// One entry per proxy, in order of the configuration.
    pub proxies: Vec<ProxyTotals>,
    /// How long packets took, if that is measured.
    pub delays: Option<Delays>,
    /// Data packets sent by all flows, and by proxies for them, retransmissions included.
    pub data_packets: u64,
    /// Events processed.
    pub events: u64,
    /// The most events that waited at once.
    pub events_pending_max: u64,
    /// What readers of the results need to know, such as a rule for stopping that was never met.
    pub run_warnings: Vec<String>,
}

/// The end of a run that would have needed more memory than it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The allocation that was refused.
    pub refused: Refused,
    /// The link and the flow that held most, in words.
    pub holders: String,
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

counters! {
    /// What one flow did in a period. Counters of packets do not include SYN and pure ACKs. In this order
    /// in memory: the first six, which nearly every packet counts in, share a cache line.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(C, align(64))]
    pub struct FlowCounters {
        /// Data packets sent, retransmissions included.
        sum sent_pkts: u64 as "sent_pkts",
        /// Their bytes on the wire.
        sum sent_bytes: u64 as "sent_bytes",
        /// Round-trip samples taken.
        sum rtt_samples: u64 as "rtt_samples",
        /// Their sum.
        sum rtt_sum: Span,
        /// Smallest sample, zero without one.
        min rtt_min: Span,
        /// Largest sample.
        max rtt_max: Span,
        /// Packets retransmitted.
        sum retransmitted_pkts: u64 as "retransmitted_pkts",
        /// Packets that arrived at the receiver for the first time, in order or not.
        sum delivered_pkts: u64 as "delivered_pkts",
        /// Their payload.
        sum delivered_bytes: u64 as "delivered_bytes",
        /// Packets handed to the receiving application, which gets them in order.
        sum in_order_pkts: u64 as "in_order_pkts",
        /// Their payload.
        sum in_order_bytes: u64 as "in_order_bytes",
        /// Packets dropped by links; not known of connections that come and go, and of datagrams.
        sum dropped_pkts: u64 as "dropped_pkts",
        /// Packets marked by links; known of the same flows.
        sum marked_pkts: u64 as "marked_pkts",
        /// Reductions of the congestion window for losses.
        sum cuts_loss: u64 as "cuts_loss",
        /// Reductions of the congestion window for congestion marks.
        sum cuts_ecn: u64 as "cuts_ecn",
        /// Retransmission timeouts.
        sum timeouts: u64 as "timeouts",
        /// Integral of the congestion window over time: segment seconds.
        sum cwnd_integral: f64,
        /// How long each limit held the sender back.
        sum limited: LimitTimes,
        /// Connections opened, by flows that open them as they go.
        sum connections: u64 as "connections",
        /// Requests answered, or data delivered one way, over them.
        sum exchanges: u64 as "exchanges",
    }
    columns {
        /// Mean round-trip time.
        "rtt_mean_s": Option<f64> = |c| c.of_samples(c.rtt_sum.as_secs_f64() / c.rtt_samples as f64),
        /// Smallest round-trip time.
        "rtt_min_s": Option<f64> = |c| c.of_samples(c.rtt_min.as_secs_f64()),
        /// Largest round-trip time.
        "rtt_max_s": Option<f64> = |c| c.of_samples(c.rtt_max.as_secs_f64()),
        /// Time that the congestion window was the limit.
        "limited_network_s": Span = |c| c.limited.network,
        /// Time that the receive window or socket buffer was the limit.
        "limited_receive_window_s": Span = |c| c.limited.receive_window,
        /// Time that there was nothing to send.
        "limited_application_s": Span = |c| c.limited.application,
    }
}

impl FlowCounters {
    /// A figure of the round-trip samples; none without samples.
    fn of_samples(&self, figure: f64) -> Option<f64> {
        (self.rtt_samples > 0).then_some(figure)
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

impl Counter for LimitTimes {
    fn sum(self, other: Self) -> Self {
        Self {
            network: self.network + other.network,
            receive_window: self.receive_window + other.receive_window,
            application: self.application + other.application,
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            network: self.network.since(before.network),
            receive_window: self.receive_window.since(before.receive_window),
            application: self.application.since(before.application),
        }
    }
}

/// One proxy's result.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyTotals {
    /// Over the whole run.
    pub total: ProxyCounters,
    /// Over the measurement window.
    pub window: ProxyCounters,
}

counters! {
    /// What one proxy did in a period.
    ///
    /// Over the whole run, what was admitted is what was forwarded, and what is still on its way between
    /// the nodes.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ProxyCounters {
        /// Its local queue, where what departs is what the proxy takes out.
        sum queue: LinkCounters,
        /// The connection between its nodes.
        sum carrier: FlowCounters,
        /// Payload that came out of the local queue in order, and went into the connection between the nodes.
        sum admitted_bytes: u64 as "admitted_bytes",
        /// Segments' payloads given to the senders at the end node.
        sum forwarded_pkts: u64 as "forwarded_pkts",
        /// Their bytes.
        sum forwarded_bytes: u64 as "forwarded_bytes",
    }
}

/// One link direction's result.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTotals {
    /// Over the whole run.
    pub total: LinkCounters,
    /// Over the measurement window.
    pub window: LinkCounters,
}

counters! {
    /// What one link direction did in a period.
    ///
    /// `arrived = dropped (all causes) + departed + waiting or in service`, over the whole run.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct LinkCounters {
        /// Packets that reached the link, before any loss; with copies made at its entrance, without packets
        /// that are held back there.
        sum arrived_pkts: u64 as "arrived_pkts",
        /// Their bytes.
        sum arrived_bytes: u64 as "arrived_bytes",
        /// Packets fully transmitted.
        sum departed_pkts: u64 as "departed_pkts",
        /// Their bytes.
        sum departed_bytes: u64 as "departed_bytes",
        /// What was transmitted, with the part of the packet in service that has left: what fills a period
        /// exactly, however short.
        sum transmitted: Work,
        /// What its token buckets let through in the long run; without any, what the line could have transmitted.
        sum bucket_capacity: Work,
        /// What the line could have transmitted.
        sum line_capacity: Work,
        /// Packets lost by the link's loss model.
        sum dropped_loss_pkts: u64 as "dropped_loss_pkts",
        /// Packets dropped because the queue was full.
        sum dropped_overflow_pkts: u64 as "dropped_overflow_pkts",
        /// Packets that active queue management chose to drop.
        sum dropped_early_pkts: u64 as "dropped_early_pkts",
        /// Packets dropped where active queue management drops all, above its upper bound.
        sum dropped_forced_pkts: u64 as "dropped_forced_pkts",
        /// Packets dropped because they exceeded the rate of the link's policer; a column only where there is one.
        sum dropped_policed_pkts: u64 as "dropped_policed_pkts",
        /// Acknowledgements dropped for newer ones by `ack_thinning`; a column only where a link has it.
        sum dropped_thinned_pkts: u64 as "dropped_thinned_pkts",
        /// Acknowledgements that took the place of older ones in the queue, by `ack_filtering`; a column only where a link
        /// has it.
        sum dropped_filtered_pkts: u64 as "dropped_filtered_pkts",
        /// Packets marked instead of dropped.
        sum marked_pkts: u64 as "marked_pkts",
        /// Packets of which a copy was made at the link's entrance.
        sum duplicated_pkts: u64 as "duplicated_pkts",
        /// Integral of the number of waiting packets over time, in picoseconds. The packet in service
        /// does not wait.
        sum queue_integral_ps: u128,
        /// Sum of the packets that arriving ones found waiting: divided by these, a mean over arrivals.
        sum queue_found_pkts: u64,
        /// The most packets that waited at once.
        max queue_max_pkts: u64 as "queue_max_pkts",
    }
    columns {
        /// Packets dropped, any cause.
        "dropped_pkts": u64 = |c| c.dropped_pkts(),
    }
}

impl LinkCounters {
    /// What could have been transmitted in the period: at most so much, beside bursts of token buckets.
    pub fn capacity(&self) -> Work {
        self.bucket_capacity.min(self.line_capacity)
    }

    /// Integral of the number of waiting packets over time: packet seconds.
    pub fn queue_integral(&self) -> f64 {
        self.queue_integral_ps as f64 * 1e-12
    }

    /// Packets dropped for any cause.
    pub fn dropped_pkts(&self) -> u64 {
        self.dropped_loss_pkts
            + self.dropped_overflow_pkts
            + self.dropped_early_pkts
            + self.dropped_forced_pkts
            + self.dropped_policed_pkts
            + self.dropped_thinned_pkts
            + self.dropped_filtered_pkts
    }
}

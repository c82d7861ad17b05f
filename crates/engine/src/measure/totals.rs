//! Counters of flows and links, over the whole run and over the measurement window.

use longhaul_kernel::memory::RefusedAllocation;
use longhaul_units::{Span, Time};

use super::columns::{Counter, counters};
use super::delays::Delays;
use crate::config::Work;

/// Results at the end of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Time at which the simulation ended: the configured duration, or earlier if a stop rule, the recorder or the
    /// memory limit ended the run.
    pub end: Time,
    /// True if the recorder stopped the run, or if the run would have exceeded its memory limit. An end by a stop rule
    /// does not count.
    pub stopped: bool,
    /// The request for memory that ended the run.
    pub out_of_memory: Option<OutOfMemory>,
    /// One entry per flow, in order of the configuration.
    pub flows: Vec<FlowTotals>,
    /// One entry per link direction, in order of the configuration.
    pub links: Vec<LinkTotals>,
    /// One entry per proxy, in order of the configuration.
    pub proxies: Vec<ProxyTotals>,
    /// Delays of packets, if they are measured.
    pub delays: Option<Delays>,
    /// Number of data packets sent by all flows, and by proxies for them, retransmissions included.
    pub data_packets: u64,
    /// Number of events processed.
    pub events: u64,
    /// Maximum number of pending events, counted whenever a timer or an observation is scheduled.
    pub events_pending_max: u64,
    /// Warnings for readers of the results, for example that the condition of a stop rule was never met.
    pub run_warnings: Vec<String>,
}

/// Description of a run that ended because it would have exceeded its memory limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The memory allocation that was refused because it would have exceeded the limit.
    pub refused: RefusedAllocation,
    /// Text that names the link and the flow that held most packets.
    pub holders: String,
}

/// Results of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTotals {
    /// Start of the flow.
    pub start: Time,
    /// Time at which the flow's last byte was acknowledged; `None` for an incomplete or unlimited transfer, a datagram
    /// stream, or application traffic.
    pub finish: Option<Time>,
    /// Counters over the whole run.
    pub total: FlowCounters,
    /// Counters over the measurement window.
    pub window: FlowCounters,
}

impl FlowTotals {
    /// Returns the results of a flow. `before` contains the counters at the beginning of the measurement window,
    /// `total` the counters over the whole run. The minimum and maximum round-trip times are those of the whole run.
    pub fn between(
        start: Time,
        finish: Option<Time>,
        before: FlowCounters,
        total: FlowCounters,
    ) -> Self {
        Self {
            start,
            finish,
            total,
            window: total.since(before),
        }
    }
}

counters! {
    /// Counters of one flow in a period. Packet counters exclude SYNs and pure ACKs. If a proxy splits the flow, counts
    /// of delivered data are those of the receiver, and all others those of the sender's connection to the proxy. The
    /// order of fields in memory is fixed: the first six change with almost every packet, and share a cache line.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(C, align(64))]
    pub struct FlowCounters {
        /// Data packets sent, retransmissions included.
        sum sent_pkts: u64 as "sent_pkts",
        /// Bytes on the wire of the data packets sent.
        sum sent_bytes: u64 as "sent_bytes",
        /// Round-trip samples taken.
        sum rtt_samples: u64 as "rtt_samples",
        /// Sum of the round-trip samples.
        sum rtt_sum: Span,
        /// Smallest round-trip sample; zero if there is none.
        min rtt_min: Span,
        /// Largest round-trip sample; zero if there is none.
        max rtt_max: Span,
        /// Packets retransmitted.
        sum retransmitted_pkts: u64 as "retransmitted_pkts",
        /// Packets that arrived at the receiver for the first time, in order or not.
        sum delivered_pkts: u64 as "delivered_pkts",
        /// Payload of the packets that arrived for the first time.
        sum delivered_bytes: u64 as "delivered_bytes",
        /// Packets delivered to the receiving application, in order.
        sum in_order_pkts: u64 as "in_order_pkts",
        /// Payload of the packets delivered to the application.
        sum in_order_bytes: u64 as "in_order_bytes",
        /// Packets dropped by links; unknown for connections that traffic opens, and for datagram streams.
        sum dropped_pkts: u64 as "dropped_pkts",
        /// Packets marked by links; unknown for connections that traffic opens, and for datagram streams.
        sum marked_pkts: u64 as "marked_pkts",
        /// Reductions of the congestion window for losses.
        sum cuts_loss: u64 as "cuts_loss",
        /// Reductions of the congestion window for congestion marks.
        sum cuts_ecn: u64 as "cuts_ecn",
        /// Retransmission timeouts.
        sum timeouts: u64 as "timeouts",
        /// Integral of the congestion window over time, in segment seconds.
        sum cwnd_integral: f64,
        /// Times for which each limit held the sender back.
        sum limited: LimitTimes,
        /// Connections opened during the run; counted only for flows of application traffic.
        sum connections: u64 as "connections",
        /// Exchanges completed over connections opened during the run: requests answered, or data delivered one way.
        sum exchanges: u64 as "exchanges",
    }
    columns {
        /// Mean round-trip time.
        "rtt_mean_s": Option<f64> = |c| c.of_samples(c.rtt_sum.as_secs_f64() / c.rtt_samples as f64),
        /// Smallest round-trip time.
        "rtt_min_s": Option<f64> = |c| c.of_samples(c.rtt_min.as_secs_f64()),
        /// Largest round-trip time.
        "rtt_max_s": Option<f64> = |c| c.of_samples(c.rtt_max.as_secs_f64()),
        /// Time during which the congestion window was the limit.
        "limited_network_s": Span = |c| c.limited.network,
        /// Time during which the receive window or socket buffer was the limit.
        "limited_receive_window_s": Span = |c| c.limited.receive_window,
        /// Time during which the application had no data to send.
        "limited_application_s": Span = |c| c.limited.application,
    }
}

impl FlowCounters {
    /// Returns `figure` if there are round-trip samples, and `None` otherwise.
    fn of_samples(&self, figure: f64) -> Option<f64> {
        (self.rtt_samples > 0).then_some(figure)
    }
}

/// Times for which each limit held the sender back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitTimes {
    /// Time during which the congestion window was the limit.
    pub network: Span,
    /// Time during which the receive window or the socket buffer was the limit.
    pub receive_window: Span,
    /// Time during which the application had nothing to send.
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

/// Results of one proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyTotals {
    /// Counters over the whole run.
    pub total: ProxyCounters,
    /// Counters over the measurement window.
    pub window: ProxyCounters,
}

counters! {
    /// Counters of one proxy in a period.
    ///
    /// Over the whole run, admitted payload = forwarded payload + payload still on its way between the nodes.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ProxyCounters {
        /// Counters of the local queue: departures are packets that the proxy takes out.
        sum queue: LinkCounters,
        /// Counters of the connection between the proxy's nodes.
        sum carrier: FlowCounters,
        /// Payload bytes passed in order from the local queue to the connection between the nodes.
        sum admitted_bytes: u64 as "admitted_bytes",
        /// Segments of payload that the proxy has passed to the connections from its end node to the receivers.
        sum forwarded_pkts: u64 as "forwarded_pkts",
        /// Payload bytes that the proxy has passed to the connections from its end node to the receivers.
        sum forwarded_bytes: u64 as "forwarded_bytes",
    }
}

/// Results of one link direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTotals {
    /// Counters over the whole run.
    pub total: LinkCounters,
    /// Counters over the measurement window.
    pub window: LinkCounters,
}

counters! {
    /// Counters of the packets of one class, in a queue with several classes.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ClassCounters {
        /// Packets that left the queue into service.
        sum served_pkts: u64,
        /// Packets that were marked.
        sum marked_pkts: u64,
        /// Packets that the queue dropped.
        sum dropped_pkts: u64,
        /// Sum of the waiting times of the packets that left the queue into service, in picoseconds.
        sum waits_ps: u128,
    }
}

counters! {
    /// Counters of one link direction in a period.
    ///
    /// `arrived = dropped (all causes) + departed + waiting or in service`, over the whole run.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct LinkCounters {
        /// Packets that reached the link, including those that it then dropped. Copies made by
        /// duplication count. Packets still held back in front of the link do not count.
        sum arrived_pkts: u64 as "arrived_pkts",
        /// Bytes of the packets that reached the link.
        sum arrived_bytes: u64 as "arrived_bytes",
        /// Packets fully transmitted.
        sum departed_pkts: u64 as "departed_pkts",
        /// Bytes of the packets fully transmitted.
        sum departed_bytes: u64 as "departed_bytes",
        /// Work transmitted, including the transmitted part of the packet in service. The utilisation of a short period
        /// is therefore exact.
        sum transmitted: Work,
        /// Data that the link's token buckets let pass in the long run; `line_capacity` without token buckets.
        sum bucket_capacity: Work,
        /// Amount of data that the line could have transmitted.
        sum line_capacity: Work,
        /// Packets lost by the link's loss model.
        sum dropped_loss_pkts: u64 as "dropped_loss_pkts",
        /// Packets dropped because the queue was full.
        sum dropped_overflow_pkts: u64 as "dropped_overflow_pkts",
        /// Packets dropped by a decision of active queue management, random or not; also dummy segments that found
        /// packets waiting.
        sum dropped_early_pkts: u64 as "dropped_early_pkts",
        /// Packets dropped by active queue management above its upper bound, where all packets are dropped.
        sum dropped_forced_pkts: u64 as "dropped_forced_pkts",
        /// Packets dropped because they exceeded the rate of the link's policer; a column only if a link has one.
        sum dropped_policed_pkts: u64 as "dropped_policed_pkts",
        /// Acknowledgements dropped for newer ones by `ack_thinning`; a column only if a link has it.
        sum dropped_thinned_pkts: u64 as "dropped_thinned_pkts",
        /// Acknowledgements dropped from the queue because a newer one took their place; a column only if a link has
        /// `ack_filtering`.
        sum dropped_filtered_pkts: u64 as "dropped_filtered_pkts",
        /// Packets that the queue marked.
        sum marked_pkts: u64 as "marked_pkts",
        /// Number of packets that were copied before the link.
        sum duplicated_pkts: u64 as "duplicated_pkts",
        /// Integral of the number of waiting packets over time, in packets times picoseconds. Packets in service do not
        /// count.
        sum queue_integral_ps: u128,
        /// Sum of the numbers of waiting packets that arriving packets have found. Packets dropped by a delay box, a
        /// policer or ACK thinning add nothing. Without such drops, the sum divided by the number of arrivals is the
        /// mean queue at arrivals.
        sum queue_found_pkts: u64,
        /// Maximum number of packets waiting.
        max queue_max_pkts: u64 as "queue_max_pkts",
        /// Packets of the L4S queue of DualPI2.
        sum l4s: ClassCounters,
        /// Packets of the classic queue of DualPI2.
        sum classic: ClassCounters,
    }
    columns {
        /// Packets dropped, any cause.
        "dropped_pkts": u64 = |c| c.dropped_pkts(),
    }
}

impl LinkCounters {
    /// Returns the amount of data that the link could have transmitted in the period. Only bursts of token buckets can
    /// exceed it.
    pub fn capacity(&self) -> Work {
        self.bucket_capacity.min(self.line_capacity)
    }

    /// Returns the integral of the number of waiting packets over time, in packets times seconds.
    pub fn queue_integral(&self) -> f64 {
        self.queue_integral_ps as f64 * 1e-12
    }

    /// Returns the number of packets dropped, for any cause.
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

//! Records made while the simulation runs.

use longhaul_congestion::Cause;
use longhaul_kernel::{Control, DataPackets, record};
use longhaul_units::{Span, Time};

use super::Ticker;

/// A receiver of samples, events and captured packets; its methods are called while the simulation runs.
///
/// No method is called per packet, except for captured packets and acknowledgements of traced flows.
pub trait Recorder {
    /// Records the state of a flow at a sampling point.
    fn flow_sample(&mut self, sample: &FlowSample);
    /// Records the state of a link at a sampling point.
    fn link_sample(&mut self, sample: &LinkSample);
    /// Records the state of a proxy at a sampling point.
    fn proxy_sample(&mut self, sample: &ProxySample);
    /// Records a congestion event. Flows are numbered in the order of the configuration. The connections between the
    /// nodes of proxies have the numbers after those of the flows.
    fn event(&mut self, event: &Event);
    /// Records one quantity of a traced flow after an acknowledgement. Calls are in order of time.
    fn trace(&mut self, sample: &AckTrace);
    /// Records an exchange (a request and its response) that is complete, or that the end of the run has interrupted.
    /// Exchanges are recorded in the order in which they end.
    fn exchange(&mut self, exchange: &Exchange);
    /// Records a packet at a captured link or node.
    fn packet(&mut self, packet: &CapturedPacket);
    /// Records `_text`, the next part of the log that the foreign stack of a flow writes.
    fn stack_log(&mut self, _flow: u32, _text: &[u8]) {}
    /// Reports the simulated time as progress. Called a thousand times per run, and when [`Self::ticker`] requests it.
    /// The returned value can stop the simulation.
    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control;
    /// Returns the flag with which other threads request progress reports, also during the setup of the simulation.
    fn ticker(&self) -> Ticker {
        Ticker::default()
    }
}

/// A recorder that discards everything.
#[derive(Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn proxy_sample(&mut self, _: &ProxySample) {}
    fn event(&mut self, _: &Event) {}
    fn trace(&mut self, _: &AckTrace) {}
    fn exchange(&mut self, _: &Exchange) {}
    fn packet(&mut self, _: &CapturedPacket) {}
    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}

record! {
    /// State of a flow at a sampling point. Counters are cumulative from the start of the run.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowSample {
        /// Simulated time.
        time: Time,
        /// Number of the flow.
        flow: u32,
        /// Congestion window; none for datagram streams and traffic sources.
        cwnd: Option<f64> as "cwnd_pkts",
        /// Slow start threshold.
        ssthresh: Option<f64> as "ssthresh_pkts",
        /// Smoothed round-trip time, zero before the first sample.
        srtt: Span,
        /// Segments in flight.
        in_flight: u64 as "in_flight_pkts",
        /// Data packets sent, retransmissions included.
        sent_pkts: u64 as "sent_pkts",
        /// Packets retransmitted.
        retransmitted_pkts: u64 as "retransmitted_pkts",
        /// Payload that arrived for the first time, in order or not.
        delivered_bytes: u64 as "delivered_bytes",
        /// Payload delivered to the application, in order.
        in_order_bytes: u64 as "in_order_bytes",
    }
    columns {
        /// Smoothed round-trip time; none before the first sample, for datagram streams and for traffic sources.
        "srtt_s": Option<f64> = |f| (f.srtt > Span::ZERO).then(|| f.srtt.as_secs_f64()),
    }
}

record! {
    /// State of a link at a sampling point. Counters are cumulative from the start of the run.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LinkSample {
        /// Simulated time.
        time: Time,
        /// Number of the link.
        link: u32,
        /// Packets waiting.
        queue_pkts: u64 as "queue_pkts",
        /// Bytes waiting.
        queue_bytes: u64 as "queue_bytes",
        /// The discipline's average queue, if it keeps one.
        queue_avg_pkts: Option<f64> as "queue_avg_pkts",
        /// The discipline's maximum marking probability, if it has one.
        max_p: Option<f64> as "max_p",
        /// The discipline's probability of a drop or mark, if it has one; for RED, the value of its
        /// curve at the average queue.
        drop_p: Option<f64> as "drop_p",
        /// Integral of the number of waiting packets over time; its increase per second is the mean queue.
        queue_integral: f64 as "queue_integral_pkt_s",
        /// Packets transmitted.
        departed_pkts: u64 as "departed_pkts",
        /// Bytes transmitted.
        departed_bytes: u64 as "departed_bytes",
        /// Bytes transmitted, including the part of the packet in service that has left.
        transmitted_bytes: f64 as "transmitted_bytes",
        /// Packets dropped, any cause.
        dropped_pkts: u64 as "dropped_pkts",
        /// Packets marked.
        marked_pkts: u64 as "marked_pkts",
        /// Bytes that the link could have transmitted, at the rate of its token buckets if it has any; none for a
        /// proxy's local queue.
        capacity_bytes: Option<u64> as "capacity_bytes",
    }
}

/// State of a proxy at a sampling point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProxySample {
    /// State of the connection between the proxy's nodes; `flow` is the number of the proxy.
    pub carrier: FlowSample,
    /// State of the local queue; `link` is the proxy's number. Departures are packets that the proxy takes from the
    /// queue.
    pub queue: LinkSample,
}

record! {
    /// A congestion event of a flow.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Event {
        /// Simulated time.
        time: Time as "t_s",
        /// Number of the flow.
        flow: u32 as "flow",
        /// Kind of the event.
        kind: EventKind,
        /// Congestion window before the event.
        cwnd_before: f64 as "cwnd_before_pkts",
        /// Congestion window after the event.
        cwnd_after: f64 as "cwnd_after_pkts",
        /// Slow start threshold after the event.
        ssthresh_after: f64 as "ssthresh_after_pkts",
        /// Segments in flight.
        in_flight: u64 as "in_flight_pkts",
    }
    columns {
        /// Kind of the event: start, cut, recovery_exit, timeout, finish or connection_lost.
        "event": &'static str = |event| event.kind.name(),
        /// Cause of a reduction of the window: loss, nak or ecn; none for other events.
        "cause": Option<&'static str> = |event| event.kind.cause(),
    }
}

record! {
    /// One quantity of a traced flow's state after an acknowledgement.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AckTrace {
        /// Simulated time.
        time: Time as "t_s",
        /// Number of the flow.
        flow: u32 as "flow",
        /// Number of the connection within its flow, in order of opening.
        connection: u64 as "connection",
        /// Name of the quantity: cwnd, ssthresh or in_flight, in segments, or a variable of the congestion
        /// control's state; times are in seconds.
        quantity: &'static str as "quantity",
        /// Value of the quantity.
        value: f64 as "value",
    }
}

/// Kind of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The SYN was sent, or a foreign stack was started.
    Start,
    /// A window reduction.
    Cut(Cause),
    /// The end of loss recovery.
    RecoveryExit,
    /// A retransmission timeout.
    Timeout,
    /// The last byte was acknowledged.
    Finish,
    /// The connection of a foreign stack has ended prematurely, or could not be opened.
    ConnectionLost,
}

impl EventKind {
    /// Returns the name of this kind of event in tables.
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Cut(_) => "cut",
            Self::RecoveryExit => "recovery_exit",
            Self::Timeout => "timeout",
            Self::Finish => "finish",
            Self::ConnectionLost => "connection_lost",
        }
    }

    /// Returns the cause of a reduction of the window; `None` for other events.
    fn cause(self) -> Option<&'static str> {
        let Self::Cut(cause) = self else {
            return None;
        };
        Some(match cause {
            Cause::Loss => "loss",
            Cause::Nak => "nak",
            Cause::Ecn => "ecn",
        })
    }
}

record! {
    /// A request with its response, or one-way data, on a connection that traffic has opened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Exchange {
        /// Number of the flow whose source made the exchange.
        flow: u32 as "flow",
        /// Number of the connection within its flow, in order of opening.
        connection: u64 as "connection",
        /// Time at which the exchange began. If it opened a connection, this is when the SYN was sent, otherwise when
        /// the request was sent.
        start: Time as "start_s",
        /// Time at which the last byte of the request arrived.
        requested: Option<Time> as "requested_s",
        /// Time at which the first segment of the response arrived.
        answered: Option<Time> as "answered_s",
        /// Time at which the last byte of the exchange arrived; none if the run ended before.
        end: Option<Time> as "end_s",
        /// Payload of the request, or of one-way data.
        request_bytes: u64 as "request_bytes",
        /// Payload of the response; none if there is no response, or if the run ended before the response began.
        response_bytes: Option<u64> as "response_bytes",
        /// Extra round-trip time of the connection, added to the network's round-trip time.
        round_trip: Span as "extra_rtt_s",
        /// Data packets retransmitted, both ways.
        retransmitted_pkts: u64 as "retransmitted_pkts",
        /// Retransmission timeouts in both directions, including timeouts of SYNs.
        timeouts: u64 as "timeouts",
    }
}

/// A packet at a captured link or node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time at which the packet reached the link (before its queue), or was sent or received at the node.
    pub time: Time,
    /// Number of the interface: links are numbered first, then nodes ([`Config::interface_of_node`](crate::Config)).
    pub interface: u32,
    /// Number of the flow.
    pub flow: u32,
    /// Number of the TCP connection within its flow. If requests and responses have separate TCP connections, it is
    /// twice the number in [`Exchange`], plus one for responses.
    pub connection: u32,
    /// True if the flow's second node has opened the connection.
    pub opened_by_receiver: bool,
    /// True if the packet goes from the flow's second node to its first.
    pub reverse: bool,
    /// True if the packet is a datagram: of a UDP flow or of a foreign stack.
    pub udp: bool,
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// Position of the first payload byte in the stream; the SYN has number 0.
    pub sequence: u64,
    /// The next byte expected from the other side.
    pub acknowledgement: u64,
    /// Receive window in bytes, not scaled.
    pub window_bytes: u64,
    /// SYN flag.
    pub syn: bool,
    /// ACK flag.
    pub ack: bool,
    /// FIN flag.
    pub fin: bool,
    /// ECN echo flag.
    pub ece: bool,
    /// Congestion window reduced flag.
    pub cwr: bool,
    /// Accurate ECN flag.
    pub ae: bool,
    /// True if the packet is ECN-capable; `ect1` distinguishes the codepoints.
    pub ect: bool,
    /// True for the codepoint ECT(1), of L4S.
    pub ect1: bool,
    /// True for the congestion experienced codepoint.
    pub ce: bool,
    /// Timestamp value and echo, if the option is in use.
    pub timestamps: Option<(Time, Time)>,
    /// SACK blocks as byte positions `[left, right)`.
    pub sack: [Option<(u64, u64)>; 3],
    /// True if the link dropped the packet on arrival.
    pub dropped: bool,
}

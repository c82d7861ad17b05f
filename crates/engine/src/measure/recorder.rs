//! Records made while the simulation runs.

use longhaul_congestion::Cause;
use longhaul_units::{Span, Time};

use super::Ticker;

/// Takes samples, events and captured packets as they happen.
///
/// Never called per packet, except for packets of links that are captured.
pub trait Recorder {
    /// The state of a flow at a sampling point.
    fn flow_sample(&mut self, sample: &FlowSample);
    /// The state of a link at a sampling point.
    fn link_sample(&mut self, sample: &LinkSample);
    /// The state of a proxy at a sampling point.
    fn proxy_sample(&mut self, sample: &ProxySample);
    /// A congestion event. Flows are numbered in order of the configuration, and after them the
    /// connections between the nodes of proxies.
    fn event(&mut self, event: &Event);
    /// A request and its response that are over, or that the end of the run has cut short. In order
    /// of their ends.
    fn exchange(&mut self, exchange: &Exchange);
    /// A packet that reached the far end of a captured link.
    fn packet(&mut self, packet: &CapturedPacket);
    /// Called a thousand times in a run with the simulated time, and whenever the ticker asks; the answer
    /// can stop the simulation.
    fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control;
    /// What asks for further reports of progress, from the setting up of the simulation on.
    fn ticker(&self) -> Ticker {
        Ticker::default()
    }
}

/// Says how many data packets there were so far: a question to every connection, which most reports of
/// progress need not ask.
pub type DataPackets<'a> = &'a mut dyn FnMut() -> u64;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop here.
    Stop,
}

/// A recorder that keeps nothing.
#[derive(Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn proxy_sample(&mut self, _: &ProxySample) {}
    fn event(&mut self, _: &Event) {}
    fn exchange(&mut self, _: &Exchange) {}
    fn packet(&mut self, _: &CapturedPacket) {}
    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}

/// A flow at a sampling point. Counters are cumulative from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// When.
    pub time: Time,
    /// Which flow.
    pub flow: u32,
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow start threshold in segments.
    pub ssthresh: f64,
    /// Smoothed round-trip time, zero before the first sample.
    pub srtt: Span,
    /// Segments in flight.
    pub in_flight: u64,
    /// Data packets sent.
    pub sent_pkts: u64,
    /// Packets retransmitted.
    pub retransmitted_pkts: u64,
    /// Payload bytes that arrived for the first time, in order or not.
    pub delivered_bytes: u64,
    /// Payload bytes handed to the application in order.
    pub in_order_bytes: u64,
}

/// A link at a sampling point. Counters are cumulative from the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSample {
    /// When.
    pub time: Time,
    /// Which link.
    pub link: u32,
    /// Packets waiting.
    pub queue_pkts: u64,
    /// Bytes waiting.
    pub queue_bytes: u64,
    /// The discipline's average queue in packets, if it keeps one.
    pub queue_avg_pkts: Option<f64>,
    /// The discipline's maximum marking probability, if it has one.
    pub max_p: Option<f64>,
    /// The probability with which it drops or marks a packet, if it has one.
    pub drop_p: Option<f64>,
    /// Integral of the waiting packets over time: packet seconds.
    pub queue_integral: f64,
    /// Packets transmitted.
    pub departed_pkts: u64,
    /// Bytes transmitted.
    pub departed_bytes: u64,
    /// The same with the part of the packet in service that has left.
    pub transmitted_bytes: f64,
    /// Packets dropped, any cause.
    pub dropped_pkts: u64,
    /// Packets marked.
    pub marked_pkts: u64,
}

/// A proxy at a sampling point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProxySample {
    /// The connection between its nodes; `flow` is the number of the proxy.
    pub carrier: FlowSample,
    /// Its local queue, where what departs is what the proxy takes out; `link` is the number of the
    /// proxy.
    pub queue: LinkSample,
}

/// A congestion event of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Which flow.
    pub flow: u32,
    /// What happened.
    pub kind: EventKind,
    /// Window before, in segments.
    pub cwnd_before: f64,
    /// Window after, in segments.
    pub cwnd_after: f64,
    /// Threshold after, in segments.
    pub ssthresh_after: f64,
    /// Segments in flight.
    pub in_flight: u64,
}

/// Kinds of congestion events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The first segment was sent.
    Start,
    /// A window reduction.
    Cut(Cause),
    /// The end of loss recovery.
    RecoveryExit,
    /// A retransmission timeout.
    Timeout,
    /// The last byte was acknowledged.
    Finish,
}

/// A request and its response, or data one way, over a connection that traffic has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Which flow.
    pub flow: u32,
    /// Number of its connection among those of the flow, in order of opening.
    pub connection: u64,
    /// When it began: with the SYN, or with the request if its connection was open.
    pub start: Time,
    /// When the whole request had arrived.
    pub requested: Option<Time>,
    /// When the first segment of the response arrived.
    pub answered: Option<Time>,
    /// When the last of all had arrived; none if the run ended before.
    pub end: Option<Time>,
    /// Bytes of the request, or of data one way.
    pub request_bytes: u64,
    /// Bytes of the response; none without one, or if it was not known by the end.
    pub response_bytes: Option<u64>,
    /// Round trip of the connection beyond that of the network.
    pub round_trip: Span,
    /// Data packets retransmitted in it, both ways.
    pub retransmitted_pkts: u64,
    /// Retransmission timeouts in it, both ways, lost SYNs included.
    pub timeouts: u64,
}

/// A packet on a captured link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// When it reached the far end of the link.
    pub time: Time,
    /// The link.
    pub link: u32,
    /// The flow.
    pub flow: u32,
    /// Number of its connection among those of the flow.
    pub connection: u32,
    /// Whether the flow's second node has opened that connection.
    pub opened_by_receiver: bool,
    /// Whether it goes from the flow's second node to its first.
    pub reverse: bool,
    /// Whether it belongs to a UDP flow.
    pub udp: bool,
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// First payload byte's position in the stream, the SYN being number 0.
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
    /// ECN-capable transport code point.
    pub ect: bool,
    /// Congestion experienced code point.
    pub ce: bool,
    /// Timestamp value and echo, if the option is in use.
    pub timestamps: Option<(Time, Time)>,
    /// SACK blocks as byte positions `[left, right)`.
    pub sack: [Option<(u64, u64)>; 3],
}

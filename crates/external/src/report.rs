//! Reports to a controller: lines of JSON, written without allocation.

use std::io::Write;

use longhaul_congestion::{AckSample, Cause, Congestion, Limit, Phase, Timeout, Window};
use longhaul_units::Span;

/// Version of the protocol, which the first line states.
const PROTOCOL: u32 = 1;

/// Rule that selects the acknowledgements to report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    Ack,
    /// The first acknowledgement of each round trip.
    Round,
    /// The first acknowledgement at least this time after the last one reported.
    Every(Span),
}

macro_rules! facts {
    ($($fact:ident $name:literal)*) => {
        /// A fact that the report of an acknowledgement can contain.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fact {
            $($fact,)*
        }

        impl Fact {
            pub(crate) const ALL: &[Self] = &[$(Self::$fact,)*];

            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$fact => $name,)*
                }
            }

            /// Returns the fact's key as JSON text, from the comma before the key to the colon after it.
            fn key(self) -> &'static str {
                match self {
                    $(Self::$fact => concat!(",\"", $name, "\":"),)*
                }
            }
        }
    };
}

facts! {
    NowS "now_s"
    Acked "acked"
    Delivered "delivered"
    Lost "lost"
    InFlight "in_flight"
    InRecovery "in_recovery"
    MayGrow "may_grow"
    RttS "rtt_s"
    SrttS "srtt_s"
    MinRttS "min_rtt_s"
    DeliveryRate "delivery_rate"
    EcnEcho "ecn_echo"
    Marked "marked"
    Limit "limit"
    Round "round"
    SegmentBytes "segment_bytes"
    Cwnd "cwnd"
    Ssthresh "ssthresh"
}

/// Writes the first line: the protocol's version, and the names of the values that a controller can request.
pub(crate) fn hello(line: &mut Vec<u8>) {
    let names: Vec<&str> = Fact::ALL.iter().map(|fact| fact.name()).collect();
    line.clear();
    line.extend_from_slice(b"{\"event\":\"hello\",\"protocol\":");
    put(line, PROTOCOL);
    line.extend_from_slice(b",\"facts\":");
    put(line, names);
    line.push(b'}');
}

/// Writes the line that announces a flow.
pub(crate) fn open(line: &mut Vec<u8>, flow: u64, window: &Window) {
    begin(line, "open", flow);
    end(line, window);
}

/// Writes one report of an acknowledgement and all unreported acknowledgements before it.
pub(crate) fn ack(
    line: &mut Vec<u8>,
    flow: u64,
    facts: &[Fact],
    ack: &AckSample,
    phase: Phase,
    may_grow: bool,
    window: &Window,
) {
    begin(line, "ack", flow);
    for fact in facts {
        line.extend_from_slice(fact.key().as_bytes());
        match fact {
            Fact::NowS => put(line, ack.now.as_secs_f64()),
            Fact::Acked => put(line, ack.acked),
            Fact::Delivered => put(line, ack.delivered),
            Fact::Lost => put(line, ack.lost),
            Fact::InFlight => put(line, ack.in_flight),
            Fact::InRecovery => put(line, phase == Phase::Recovery),
            Fact::MayGrow => put(line, may_grow),
            Fact::RttS => put(line, ack.rtt.map(Span::as_secs_f64)),
            Fact::SrttS => put(line, ack.srtt.as_secs_f64()),
            Fact::MinRttS => put(line, ack.min_rtt.as_secs_f64()),
            Fact::DeliveryRate => put(line, ack.delivery_rate.map(|rate| rate.per_second())),
            Fact::EcnEcho => put(line, ack.ecn_echo),
            Fact::Marked => put(line, ack.marked),
            Fact::Limit => put(line, limit(ack.limit)),
            Fact::Round => put(line, ack.round),
            Fact::SegmentBytes => put(line, ack.segment_bytes),
            Fact::Cwnd => put(line, window.cwnd()),
            Fact::Ssthresh => put(line, window.ssthresh()),
        }
    }
    line.push(b'}');
}

/// Writes the report of a congestion signal.
pub(crate) fn congestion(line: &mut Vec<u8>, flow: u64, event: &Congestion, window: &Window) {
    begin(line, "congestion", flow);
    key(line, "now_s", event.now.as_secs_f64());
    key(line, "cause", cause(event.cause));
    key(line, "base", event.base);
    key(line, "in_flight", event.in_flight);
    end(line, window);
}

/// Writes the report of a retransmission timeout.
pub(crate) fn timeout(line: &mut Vec<u8>, flow: u64, event: &Timeout, window: &Window) {
    begin(line, "timeout", flow);
    key(line, "now_s", event.now.as_secs_f64());
    key(line, "base", event.base);
    key(line, "keep_ssthresh", event.keep_ssthresh);
    end(line, window);
}

fn begin(line: &mut Vec<u8>, event: &str, flow: u64) {
    line.clear();
    line.extend_from_slice(b"{\"event\":\"");
    line.extend_from_slice(event.as_bytes());
    line.extend_from_slice(b"\",\"flow\":");
    put(line, flow);
}

fn end(line: &mut Vec<u8>, window: &Window) {
    key(line, "cwnd", window.cwnd());
    key(line, "ssthresh", window.ssthresh());
    line.push(b'}');
}

fn key(line: &mut Vec<u8>, name: &str, value: impl serde::Serialize) {
    let _ = write!(line, ",\"{name}\":");
    put(line, value);
}

/// Appends a value as JSON. A number has the fewest digits that identify it. `None`, NaN and infinite numbers become
/// `null`.
fn put(line: &mut Vec<u8>, value: impl serde::Serialize) {
    serde_json::to_writer(line, &value).expect("a vector takes any value");
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Nak => "nak",
        Cause::Ecn => "ecn",
    }
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Network => "network",
        Limit::ReceiveWindow => "receive window",
        Limit::Application => "application",
    }
}

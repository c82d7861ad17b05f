//! Applications that open connections as they go, or send in bursts: defaults, consistency, and the engine's
//! configuration.

mod keys;
mod trace;

use std::path::Path;
use std::sync::Arc;

use longhaul_engine::config::{
    Bursts, Distribution, Messages, PackMime, Process, Requests, Source, Tcp, Transport, Web,
};
use longhaul_units::{Bytes, Rate};

pub(crate) use self::keys::{KINDS, TRAFFIC};
use self::keys::{
    OnOffKeys, PackMimeKeys, PerturbationKeys, RequestKeys, RoundTrips, TraceKeys, WebKeys,
};
pub(crate) use self::trace::parse as parse_trace;
use crate::defaults;
use crate::distribution;
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::read_text;
use crate::read::{refuse_both, relative_to};
use crate::typed::{Typed, text_of};

/// Fills in defaults and checks what the declarations of keys cannot.
pub(crate) fn resolve(traffic: &mut Table, protocol: &Node, path: &str, out: &mut Vec<Diagnostic>) {
    let udp = text_of(protocol) == "udp";
    match traffic.word("kind") {
        "on-off" => resolve_on_off(traffic, udp, path, out),
        kind if udp => {
            let message = format!("`{kind}` opens TCP connections; a UDP flow may be `on-off`");
            let origin = &traffic.node("kind").origin;
            return out.push(Diagnostic::new(&join(path, "kind"), origin, message));
        }
        "trace" => resolve_trace(traffic, path, out),
        _ => {}
    }
    for (key, _) in traffic.iter() {
        distribution::check(traffic, key, path, out);
    }
    if traffic.contains_key("interval") {
        check_interval(traffic, path, out);
    }
}

/// Over UDP messages are the packets of the flow; over TCP their rate and size are keys of `traffic`.
fn resolve_on_off(traffic: &mut Table, udp: bool, path: &str, out: &mut Vec<Diagnostic>) {
    for key in ["rate", "message", "whole_segments"] {
        match traffic.get(key) {
            Some(node) if udp => {
                let message = format!(
                    "messages of a UDP flow are its packets; leave out {key}, and write rate and \
                     packet of the flow"
                );
                out.push(Diagnostic::new(
                    &join(path, key),
                    node.key_origin(),
                    message,
                ));
            }
            None if !udp && key != "whole_segments" => {
                let origin = &traffic.node("kind").origin;
                let message = format!("over TCP, `on-off` needs {key}");
                out.push(Diagnostic::new(path, origin, message));
            }
            _ => {}
        }
    }
    if !udp {
        traffic.default("whole_segments", Value::Flag(false), Origin::Default);
        check_messages(traffic, path, out);
    }
}

/// Refuses intervals between messages that are below 1 ps, or longer than a run may last.
fn check_messages(traffic: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    if !traffic.contains_key("rate") || !traffic.contains_key("message") {
        return;
    }
    let (rate, message) = (
        traffic.read::<Rate>("rate"),
        traffic.read::<Bytes>("message"),
    );
    let seconds = 8.0 * message.0 as f64 / rate.as_bps() as f64;
    if !(1e-12..=1e5).contains(&seconds) {
        let origin = &traffic.node("message").origin;
        let text = format!(
            "{message} at {rate} take {seconds:.1e} s, which must be between 1 ps and 100000 s"
        );
        out.push(Diagnostic::new(&join(path, "message"), origin, text));
    }
}

/// Refuses an interval of 0 between connections: an unlimited number would be opened at once.
fn check_interval(traffic: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let interval = traffic.node("interval");
    if distribution::is_zero(interval) {
        let message =
            "must be greater than 0 s: connections would be opened without limit at one time";
        out.push(Diagnostic::new(
            &join(path, "interval"),
            &interval.origin,
            message,
        ));
    }
}

/// Reads the file: the scenario's hash covers the table, and the resolved scenario runs without the file.
fn resolve_trace(traffic: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    if let Err(both) = refuse_both(traffic, "csv", path) {
        return out.push(both);
    }
    let named = traffic.get("file").cloned();
    if !traffic.contains_key("csv") {
        let Some(file) = traffic.get("file").cloned() else {
            let origin = &traffic.node("kind").origin;
            let message = "a trace needs a table, such as file = \"trace.csv\"";
            return out.push(Diagnostic::new(path, origin, message));
        };
        let name = traffic.word("file").to_string();
        match read_text(&relative_to(&file.origin, &name)) {
            Ok(text) => traffic.derive("csv", Value::Text(text), &format!("the text of {name}")),
            Err(reason) => {
                return out.push(Diagnostic::new(&join(path, "file"), &file.origin, reason));
            }
        }
        let short = Path::new(&name).file_name();
        let short = short.map_or(name.clone(), |short| short.display().to_string());
        traffic.remove("file");
        traffic.insert("from_file".to_string(), Node::text(&short, file.origin));
    }
    if let Err(reason) = trace::parse(traffic.word("csv")) {
        let (key, node) = match &named {
            Some(file) => ("file", file),
            None => ("csv", traffic.node("csv")),
        };
        out.push(Diagnostic::new(&join(path, key), &node.origin, reason));
    }
}

/// The engine's configuration of resolved bursts.
pub(crate) fn bursts(traffic: &Table) -> Bursts {
    Bursts::of(&defaults::values(traffic))
}

/// The engine's configuration of a TCP flow with a resolved application.
pub(crate) fn transport(tcp: Arc<Tcp>, traffic: &Table) -> Transport {
    let values = defaults::values(traffic);
    let mss = u64::from(tcp.mss_bytes);
    let source = match traffic.word("kind") {
        "on-off" => return Transport::Messages(tcp, OnOffKeys::of(&values).into()),
        "trace" => {
            let entries = trace::parse(&TraceKeys::of(&values).csv).expect("checked when resolved");
            Source::Trace(entries.into())
        }
        "packmime" => Source::Requests(PackMimeKeys::of(&values).into()),
        "perturbation" => Source::CutOff(PerturbationKeys::of(&values).lifetime),
        "web" => Source::Web(WebKeys::of(&values).with_segments_of(mss)),
        _ => Source::Requests(RequestKeys::of(&values).into()),
    };
    Transport::Traffic(tcp, Arc::new(source))
}

impl From<OnOffKeys> for Messages {
    fn from(keys: OnOffKeys) -> Self {
        Self {
            rate: keys.rate.expect("checked when resolved"),
            message_bytes: keys.message.expect("checked when resolved"),
            bursts: keys.bursts,
            whole_segments: keys.whole_segments.unwrap_or(false),
        }
    }
}

impl WebKeys {
    fn with_segments_of(self, mss: u64) -> Web {
        Web {
            pages: self.pages,
            inter_page: self.inter_page,
            objects: self.objects,
            inter_object: self.inter_object,
            object: self.object,
            whole_units_of: self.whole_segments.then_some(mss),
            request_bytes: self.request.unwrap_or(mss),
            separate: self.connection_per_object,
        }
    }
}

impl From<RequestKeys> for Requests {
    fn from(keys: RequestKeys) -> Self {
        Self {
            arrivals: Process::Independent(keys.interval),
            request: Process::Independent(keys.request),
            response: Process::Independent(keys.response),
            binding: keys.connections.binding,
            server_delay: keys.server_delay,
            round_trip: Process::Independent(keys.extra_rtt),
            per_connection: keys.connections.requests_per_connection,
            think: keys.connections.think,
        }
    }
}

impl From<PackMimeKeys> for Requests {
    fn from(keys: PackMimeKeys) -> Self {
        let rate = keys.rate;
        let round_trip =
            |client_side| Process::PackMime(PackMime::RoundTrips { rate, client_side });
        Self {
            arrivals: Process::PackMime(PackMime::Arrivals { rate }),
            request: Process::PackMime(PackMime::Requests { rate }),
            response: Process::PackMime(PackMime::Responses),
            binding: keys.connections.binding,
            server_delay: keys.server_delay.unwrap_or_else(packmime_server_delay),
            round_trip: match keys.round_trips {
                RoundTrips::Both => round_trip(true),
                RoundTrips::Server => round_trip(false),
                RoundTrips::None => Process::Independent(Distribution::Constant(0.0)),
            },
            per_connection: keys.connections.requests_per_connection,
            think: keys.connections.think,
        }
    }
}

/// PackMime's server delays, in seconds (Cao, Cleveland and others, INFOCOM 2004, section 7).
fn packmime_server_delay() -> Distribution {
    let inverse = Distribution::InverseWeibull {
        shape: 0.63,
        scale: 305.0,
    };
    Distribution::Limited {
        of: Box::new(inverse),
        max: 0.1,
    }
}

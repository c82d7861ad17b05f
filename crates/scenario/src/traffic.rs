//! Applications that open connections as they go, or send in bursts: defaults, what contradicts what, and the engine's
//! form.

use std::path::Path;
use std::sync::Arc;

use longhaul_engine::config::{
    Binding, Bursts, Distribution, Messages, PackMime, Process, Requests, Source, Tcp, Transport,
    Web,
};
use longhaul_units::{Quantity, Span};

use crate::distribution;
use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::files::read_text;
use crate::read::{beside, join};
use crate::trace;
use crate::typed::{Typed, span, text_of};

/// Fills in defaults and checks what the model cannot.
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
        "packmime" => resolve_packmime(traffic),
        "web" => resolve_web(traffic),
        "perturbation" => {}
        _ => resolve_requests(traffic),
    }
    for (key, _) in traffic.iter() {
        distribution::check(traffic, key, path, out);
    }
    if traffic.contains_key("interval") {
        check_interval(traffic, path, out);
    }
}

fn resolve_requests(traffic: &mut Table) {
    resolve_connections(traffic);
    for key in ["server_delay", "extra_rtt"] {
        traffic.default(key, span(Span::ZERO), Origin::Default);
    }
    let request = Value::Quantity(Quantity::Bytes(longhaul_units::Bytes(400)));
    traffic.default("request", request, Origin::Default);
}

fn resolve_packmime(traffic: &mut Table) {
    resolve_connections(traffic);
    for (key, word) in [("round_trips", "both"), ("server_delay", "model")] {
        traffic.default(key, Value::Text(word.to_string()), Origin::Default);
    }
}

fn resolve_web(traffic: &mut Table) {
    traffic.default("pages", Value::Whole(1000), Origin::Default);
    for key in ["whole_segments", "separate"] {
        traffic.default(key, Value::Flag(true), Origin::Default);
    }
}

/// What all models of requests have in common.
fn resolve_connections(traffic: &mut Table) {
    traffic.default("think", span(Span::ZERO), Origin::Default);
    traffic.default("per_connection", Value::Whole(1), Origin::Default);
    let binding = Value::Text("with-request".to_string());
    traffic.default("binding", binding, Origin::Default);
}

/// Messages are packets over UDP, and described here over TCP.
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

/// Refuses messages between which there is no time, or more than a run may last.
fn check_messages(traffic: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    if !traffic.contains_key("rate") || !traffic.contains_key("message") {
        return;
    }
    let (rate, message) = (traffic.rate("rate"), traffic.bytes("message"));
    let seconds = 8.0 * message.0 as f64 / rate.as_bps() as f64;
    if !(1e-12..=1e5).contains(&seconds) {
        let origin = &traffic.node("message").origin;
        let text = format!(
            "{message} at {rate} take {seconds:.1e} s, which has to be between 1 ps and 100000 s"
        );
        out.push(Diagnostic::new(&join(path, "message"), origin, text));
    }
}

/// Refuses connections between which there is no time: they would be opened without end at once.
fn check_interval(traffic: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let interval = traffic.node("interval");
    if distribution::is_nothing(interval) {
        let message = "connections would be opened without end at one time; write more than 0 s";
        out.push(Diagnostic::new(
            &join(path, "interval"),
            &interval.origin,
            message,
        ));
    }
}

/// Reads the file: what identifies the results includes the table, and the resolved scenario runs
/// without the file.
fn resolve_trace(traffic: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    if !traffic.contains_key("csv") {
        let Some(file) = traffic.get("file").cloned() else {
            let origin = &traffic.node("kind").origin;
            let message = "a trace needs a table; write file = \"trace.csv\"";
            return out.push(Diagnostic::new(path, origin, message));
        };
        let name = traffic.word("file").to_string();
        match read_text(&beside(&file.origin, &name)) {
            Ok(text) => traffic.derive("csv", Value::Text(text), &format!("the text of {name}")),
            Err(reason) => {
                return out.push(Diagnostic::new(&join(path, "file"), &file.origin, reason));
            }
        }
        let short = Path::new(&name).file_name();
        let short = short.map_or(name.clone(), |short| short.display().to_string());
        traffic.insert("file".to_string(), Node::text(&short, file.origin));
    }
    if let Err(reason) = trace::parse(traffic.word("csv")) {
        let (key, node) = match traffic.get("file") {
            Some(file) => ("file", file),
            None => ("csv", traffic.node("csv")),
        };
        out.push(Diagnostic::new(&join(path, key), &node.origin, reason));
    }
}

/// The engine's form of resolved bursts.
pub(crate) fn bursts(traffic: &Table) -> Bursts {
    Bursts {
        on: distribution::config(traffic.node("on")),
        off: distribution::config(traffic.node("off")),
    }
}

/// The engine's form of a TCP flow with a resolved application.
pub(crate) fn transport(tcp: Arc<Tcp>, traffic: &Table) -> Transport {
    if traffic.word("kind") == "on-off" {
        let messages = Messages {
            rate: traffic.rate("rate"),
            message_bytes: traffic.bytes("message").0,
            bursts: bursts(traffic),
            whole_segments: traffic.flag("whole_segments"),
        };
        return Transport::Messages(tcp, messages);
    }
    let source = source(traffic, tcp.mss_bytes.into());
    Transport::Traffic(tcp, Arc::new(source))
}

/// The engine's form of an application that opens connections, with segments of `mss` bytes.
fn source(traffic: &Table, mss: u64) -> Source {
    let drawn = |key| distribution::config(traffic.node(key));
    match traffic.word("kind") {
        "trace" => {
            let entries = trace::parse(traffic.word("csv")).expect("checked when resolved");
            Source::Trace(entries.into())
        }
        "packmime" => Source::Requests(packmime(traffic)),
        "perturbation" => Source::CutOff(traffic.span("lifetime")),
        "web" => Source::Web(Web {
            pages: traffic.whole("pages"),
            inter_page: drawn("inter_page"),
            objects: drawn("objects"),
            inter_object: drawn("inter_object"),
            object: drawn("object"),
            whole_units_of: traffic.flag("whole_segments").then_some(mss),
            request_bytes: match traffic.contains_key("request") {
                true => traffic.bytes("request").0,
                false => mss,
            },
            separate: traffic.flag("separate"),
        }),
        _ => Source::Requests(Requests {
            arrivals: Process::Independent(drawn("interval")),
            request: Process::Independent(drawn("request")),
            response: Process::Independent(drawn("response")),
            binding: binding(traffic),
            server_delay: drawn("server_delay"),
            round_trip: Process::Independent(drawn("extra_rtt")),
            per_connection: traffic.whole("per_connection") as u32,
            think: drawn("think"),
        }),
    }
}

fn packmime(traffic: &Table) -> Requests {
    let rate = traffic.number("rate");
    let drawn = |key| distribution::config(traffic.node(key));
    let round_trip = |client_side| Process::PackMime(PackMime::RoundTrips { rate, client_side });
    Requests {
        arrivals: Process::PackMime(PackMime::Arrivals { rate }),
        request: Process::PackMime(PackMime::Requests { rate }),
        response: Process::PackMime(PackMime::Responses),
        binding: binding(traffic),
        server_delay: match &traffic.node("server_delay").value {
            Value::Text(_) => packmime_server_delay(),
            _ => drawn("server_delay"),
        },
        round_trip: match traffic.word("round_trips") {
            "both" => round_trip(true),
            "server" => round_trip(false),
            _ => Process::Independent(Distribution::Constant(0.0)),
        },
        per_connection: traffic.whole("per_connection") as u32,
        think: drawn("think"),
    }
}

/// PackMime's delays of servers, in seconds (spec 001b B.7).
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

fn binding(traffic: &Table) -> Binding {
    match traffic.word("binding") {
        "on-arrival" => Binding::OnArrival,
        _ => Binding::WithRequest,
    }
}

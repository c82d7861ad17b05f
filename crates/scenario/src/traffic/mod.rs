//! Applications that open connections during the run, or send in bursts: defaults, checks of
//! consistency, and the engine's configuration.

mod abt;
mod keys;
mod tmix;
mod trace;

use std::sync::Arc;

use longhaul_engine::config::{
    Distribution, Messages, PackMime, Process, Requests, Source, Tcp, Transport, Web,
};
use longhaul_keys::{Field, KIND};
use longhaul_units::Bytes;

pub(crate) use self::keys::Traffic;
use self::keys::{
    ConnectionKeys, OnOffKeys, PackMimeKeys, RequestKeys, RoundTrips, TmixKeys, TraceKeys, WebKeys,
};
pub(crate) use self::trace::parse as parse_trace;
use crate::distribution;
use crate::document::{Table, Value, join};
use crate::error::Diagnostic;
use crate::files::{refuse_both, replace_file};
use crate::model::protocol::Protocol;

/// Sets defaults of an application, replaces the name of a file by its text, and checks the rules that declarations of
/// keys cannot express.
pub(crate) fn resolve(
    traffic: &mut Table,
    protocol: Protocol,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let udp = protocol == Protocol::Udp;
    match traffic.word(KIND) {
        "on-off" => resolve_on_off(traffic, udp, path, out),
        kind if udp => {
            let message = format!("`{kind}` opens TCP connections; a UDP flow may be `on-off`");
            return out.push(Diagnostic::at(traffic, KIND, path, message));
        }
        "trace" => {
            let keys = (TraceKeys::file, TraceKeys::csv, TraceKeys::from_file);
            let needs = "a trace needs a table, such as file = \"trace.csv\"";
            resolve_file(traffic, keys, needs, path, out, |table| {
                trace::parse(table.word(TraceKeys::csv)).map(drop)
            });
        }
        "tmix" => {
            let keys = (TmixKeys::file, TmixKeys::vectors, TmixKeys::from_file);
            let needs = "`tmix` needs connection vectors, such as file = \"r4s1.cvec\"";
            resolve_file(traffic, keys, needs, path, out, |table| {
                let scale = table.read(TmixKeys::scale);
                tmix::parse(table.word(TmixKeys::vectors), scale).map(drop)
            });
        }
        _ => {}
    }
    for (key, node) in &traffic.entries {
        distribution::check_node(node, &join(path, key), out);
    }
    check_interval(traffic, path, out);
}

/// Checks the keys of on-off traffic. Over TCP, `traffic` must give the rate and size of messages. Over UDP, messages
/// are the flow's packets, and these keys are refused.
fn resolve_on_off(traffic: &mut Table, udp: bool, path: &str, out: &mut Vec<Diagnostic>) {
    let needed = [OnOffKeys::rate.seen_as(), OnOffKeys::message.seen_as()];
    let own: [Field<()>; 3] = [needed[0], needed[1], OnOffKeys::whole_segments.seen_as()];
    if udp {
        for key in own.into_iter().filter(|key| traffic.has(*key)) {
            let message = format!(
                "messages of a UDP flow are its packets; leave out {}, and write rate and \
                 packet of the flow",
                key.name()
            );
            out.push(Diagnostic::of_key(traffic, key, path, message));
        }
        return;
    }
    for key in needed.into_iter().filter(|key| !traffic.has(*key)) {
        let message = format!("over TCP, `on-off` needs {}", key.name());
        let origin = &traffic.node(KIND).origin;
        out.push(Diagnostic::new(path, origin, message));
    }
    traffic.or_default(OnOffKeys::whole_segments, Value::Flag(false));
    check_messages(traffic, path, out);
}

/// Refuses an interval between messages that is below 1 ps, or longer than a run can be.
fn check_messages(traffic: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let (rate, message) = (
        traffic.read(OnOffKeys::rate),
        traffic.read(OnOffKeys::message),
    );
    let (Some(rate), Some(message)) = (rate, message.map(Bytes)) else {
        return;
    };
    let seconds = 8.0 * message.0 as f64 / rate.as_bps() as f64;
    if !(1e-12..=1e5).contains(&seconds) {
        let text = format!(
            "{message} at {rate} take {seconds:.1e} s, which must be between 1 ps and 100000 s"
        );
        out.push(Diagnostic::at(traffic, OnOffKeys::message, path, text));
    }
}

/// Refuses an interval of 0 between connections: an unlimited number would be opened at once.
fn check_interval(traffic: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let key = RequestKeys::interval;
    if traffic.get(key).is_some_and(distribution::is_zero) {
        let message =
            "must be greater than 0 s: connections would be opened without limit at one time";
        out.push(Diagnostic::at(traffic, key, path, message));
    }
}

/// Replaces the name of a file in the traffic's table by the file's text. The scenario's hash then
/// covers the text, and the resolved scenario runs without the file. Reports `needs` if the table has
/// neither file nor text, and the message of `check` if the text is wrong.
fn resolve_file(
    traffic: &mut Table,
    (file_key, text_key, name_key): (Field<Option<String>>, Field<String>, Field<Option<String>>),
    needs: &str,
    path: &str,
    out: &mut Vec<Diagnostic>,
    check: impl FnOnce(&Table) -> Result<(), String>,
) {
    if let Err(both) = refuse_both(traffic, file_key, text_key, path) {
        return out.push(both);
    }
    let named = traffic.get(file_key).cloned();
    if !traffic.has(text_key) {
        let Some(file) = &named else {
            let origin = &traffic.node(KIND).origin;
            return out.push(Diagnostic::new(path, origin, needs));
        };
        let keys = (file_key, text_key, name_key);
        if let Err(reason) = replace_file(traffic, file, keys) {
            return out.push(Diagnostic::at(traffic, file_key, path, reason));
        }
    }
    if let Err(reason) = check(traffic) {
        let (key, node, reason) = match &named {
            Some(file) => (file_key.name(), file, format!("{}: {reason}", file.word())),
            None => (text_key.name(), traffic.node(text_key), reason),
        };
        out.push(Diagnostic::new(&join(path, key), &node.origin, reason));
    }
}

/// Returns the engine's configuration of a TCP flow with a resolved application.
pub(crate) fn transport(tcp: Arc<Tcp>, traffic: Traffic) -> Transport {
    let mss = u64::from(tcp.mss_bytes);
    let source = match traffic {
        Traffic::OnOff(keys) => return Transport::Messages(tcp, keys.into()),
        Traffic::Trace(keys) => {
            let entries = trace::parse(&keys.csv).expect("checked when resolved");
            Source::Trace(entries.into())
        }
        Traffic::Tmix(keys) => {
            let entries = tmix::parse(&keys.vectors, keys.scale).expect("checked when resolved");
            Source::Vectors(entries.into())
        }
        Traffic::Abt(keys) => Source::Requests(abt::requests(keys.rate)),
        Traffic::PackMime(keys) => Source::Requests(keys.into()),
        Traffic::Perturbation(keys) => Source::CutOff(keys.lifetime),
        Traffic::Web(keys) => Source::Web(keys.with_segments_of(mss)),
        Traffic::Requests(keys) => Source::Requests(keys.into()),
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
            per_connection: keys.connections.count(),
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
            per_connection: keys.connections.count(),
            think: keys.connections.think,
        }
    }
}

impl ConnectionKeys {
    fn count(&self) -> Distribution {
        Distribution::Constant(f64::from(self.requests_per_connection))
    }
}

/// Returns PackMime's server delays, in seconds (Cao, Cleveland and others, INFOCOM 2004, section 7).
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

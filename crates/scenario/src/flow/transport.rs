//! Transport of a group of flows: congestion control, slow start and every TCP option.

use longhaul_congestion::{
    CongestionControl, Controller, ControllerSpec, DefaultValue, Parameter, Point, SlowStartSpec,
    SpecError, Variant, registry,
};
use longhaul_engine::config::{Recovery, Tcp};
use longhaul_keys::Profile;
use longhaul_units::{Bytes, Quantity, Span};

use super::{Shared, refuse_large};
use crate::check::{DEFAULT_CONGESTION, points};
use crate::custom::{self, Algorithms};
use crate::defaults;
use crate::document::{Node, Origin, Table, Value, fill, join};
use crate::error::Diagnostic;
use crate::profile;
use crate::typed::{Typed, text_of};

/// Sync-TCP's option: kind, length, and three times of four bytes (Weigle 2003, chapter 3).
const ONE_WAY_OPTION: Bytes = Bytes(14);

/// Congestion control, slow start and transport options. `held` is what path and queues hold, in
/// packets. Returns the congestion control, unless something is wrong.
pub(crate) fn resolve_tcp(
    flow: &mut Table,
    path: &str,
    shared: &Shared<'_>,
    held: f64,
    out: &mut Vec<Diagnostic>,
) -> Option<ControllerSpec> {
    let preferred = profile::variant(shared.context.profile);
    let congestion = resolve_congestion(flow, path, &preferred, shared.algorithms, out);
    let controller = congestion.as_ref().and_then(|spec| spec.build().ok());
    if let Some(controller) = &controller {
        resolve_recovery(flow, controller);
    }
    flow.default("tcp", Value::Table(Table::new()), Origin::Default);
    let recovery = flow.read::<Recovery>("recovery");
    let packet = flow.read::<Bytes>("packet");
    let flow_path = path;
    let tcp = flow.sub_mut("tcp");
    let path = join(path, "tcp");
    layer_options(tcp, shared.tcp, &path, out);
    if let Some(controller) = &controller {
        serve(tcp, controller, shared.context.profile);
    }
    resolve_one_way_option(tcp);
    fill_options(tcp, shared.context.profile);
    let paced = !matches!(tcp.node("pacing").value, Value::Flag(false));
    for key in ["ack_size", "sack_option", "sack_block"] {
        refuse_large(tcp, key, &path, out);
    }
    refuse_missing_blocks(tcp, recovery, &path, out);
    let Some(payload) = payload(tcp, packet) else {
        let message = format!("{packet} leaves no room for data after the headers");
        let path = path.replace(".tcp", ".packet");
        out.push(Diagnostic::new(&path, &flow.node("packet").origin, message));
        return None;
    };
    let (times, rule) = profile::receive_window(shared.context.profile);
    let auto = (times * held).ceil().clamp(64.0, 1e12) as i64;
    resolve_window(
        tcp,
        "receive_window",
        payload,
        Some((auto, rule)),
        &path,
        out,
    );
    resolve_window(tcp, "send_buffer", payload, None, &path, out);
    if matches!(tcp.node("initial_ssthresh").value, Value::Text(_)) && out.is_empty() {
        let window = Value::Number(tcp.read::<u64>("receive_window") as f64);
        tcp.derive("initial_ssthresh", window, "the receive window");
    }
    let rto = tcp.sub("rto");
    if rto.read::<Span>("min") > rto.read::<Span>("max") {
        let message = format!(
            "min ({}) is above max ({})",
            rto.read::<Span>("min"),
            rto.read::<Span>("max")
        );
        out.push(Diagnostic::new(
            &join(&path, "rto.min"),
            &rto.node("min").origin,
            message,
        ));
    }
    resolve_slow_start(flow, flow_path, shared.context.profile, paced, out);
    congestion
}

/// A sender whose peer does not permit SACK recovers without it (RFC 6675 section 1); only ns-2's agents can be
/// combined otherwise.
fn refuse_missing_blocks(tcp: &Table, recovery: Recovery, path: &str, out: &mut Vec<Diagnostic>) {
    if tcp.read::<bool>("sack_blocks") || !recovery.uses_sack() || recovery == Recovery::Ns2Sack {
        return;
    }
    let message = "false leaves this recovery without what it works with; \
                   allowed: recovery = \"newreno\", or \"ns2-sack\", whose sender then waits for timeouts";
    let origin = &tcp.node("sack_blocks").origin;
    out.push(Diagnostic::new(&join(path, "sack_blocks"), origin, message));
}

/// Adds options of `lower` that are absent. A timer has either a granularity or a tick.
fn layer_options(tcp: &mut Table, lower: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let mut lower = lower.clone();
    if let (Some(own), Some(below)) = (
        tcp.get("rto").and_then(Node::table),
        lower.get_mut("rto").and_then(Node::table_mut),
    ) {
        if RTT_CLOCK.iter().any(|key| own.contains_key(*key)) {
            below.retain(|key, _| !RTT_CLOCK.contains(&key.as_str()));
        }
        if let (Some(tick), true) = (own.get("tick"), own.contains_key("granularity")) {
            let message = "give either granularity (exact round trips) or tick (ns-2's clock)";
            out.push(Diagnostic::new(
                &join(path, "rto.tick"),
                tick.key_origin(),
                message,
            ));
        }
    }
    fill(tcp, &lower);
}

/// The recovery that the algorithm needs, unless the scenario names one.
fn resolve_recovery(flow: &mut Table, controller: &Controller) {
    let recovery = flow.node("recovery");
    let chosen = !matches!(recovery.origin, Origin::Profile(_));
    if controller.needs().rack_tlp && !chosen && !is_rack_tlp(text_of(recovery)) {
        let rule = "the algorithm needs lost retransmissions to be noticed";
        flow.derive("recovery", Value::Text("rack-tlp".into()), rule);
    }
}

fn is_rack_tlp(recovery: &str) -> bool {
    recovery.starts_with("rack-tlp")
}

/// Turns on what the algorithm needs, unless the scenario says otherwise.
fn serve(tcp: &mut Table, controller: &Controller, profile: Profile) {
    let needs = controller.needs();
    if needs.one_way_delay && !tcp.contains_key("timestamps") {
        let rule = "the algorithm works with transit times";
        tcp.derive("timestamps", Value::Text("one-way".into()), rule);
    }
    let ecn = Tcp::KEYS.iter().find(|key| key.name == "ecn");
    let uses_ecn = ecn.and_then(|key| key.default_in(profile)) == Some("true");
    let counts_marks = needs.every_mark || needs.exact_marks && uses_ecn;
    if counts_marks && !tcp.contains_key("ecn") {
        let rule = "the algorithm counts marked segments";
        tcp.derive("ecn", Value::Text("dctcp".into()), rule);
    }
    if needs.no_ecn && !tcp.contains_key("ecn") {
        let rule = "the algorithm does not respond to marks";
        tcp.derive("ecn", Value::Flag(false), rule);
    }
    if controller.sends_pairs() && !tcp.contains_key("delayed_ack") {
        let rule = "the algorithm times the acknowledgements of single segments";
        tcp.derive("delayed_ack", Value::Flag(false), rule);
    }
}

/// The size of Sync-TCP's option, which does not depend on the profile's size of that of RFC 7323.
fn resolve_one_way_option(tcp: &mut Table) {
    let one_way = tcp.get("timestamps").is_some_and(reports_one_way_delay);
    if one_way && !tcp.contains_key("timestamp_option") {
        let rule = "kind, length and three times of 4 B (Sync-TCP)";
        tcp.derive(
            "timestamp_option",
            Value::Quantity(Quantity::Bytes(ONE_WAY_OPTION)),
            rule,
        );
    }
}

/// Whether a value of `timestamps` means Sync-TCP's option.
pub(crate) fn reports_one_way_delay(timestamps: &Node) -> bool {
    matches!(timestamps.value, Value::Text(_))
}

/// Bytes of the timestamp option on the wire, if there is one.
pub(crate) fn timestamp_option(tcp: &Table) -> Option<u64> {
    let without = matches!(tcp.node("timestamps").value, Value::Flag(false));
    (!without).then(|| tcp.read::<Bytes>("timestamp_option").0)
}

/// Adds the profile's options that are absent. A timer has either a granularity or a tick.
fn fill_options(tcp: &mut Table, profile: Profile) {
    let own = tcp.get("rto").and_then(Node::table);
    let clock = own.and_then(|rto| RTT_CLOCK.into_iter().find(|key| rto.contains_key(*key)));
    defaults::fill(tcp, Tcp::KEYS, profile);
    if let Some(clock) = clock {
        tcp.sub_mut("rto")
            .retain(|key, _| key == clock || !RTT_CLOCK.contains(&key.as_str()));
    }
}

/// Keys of the timer of which only one may be given.
const RTT_CLOCK: [&str; 2] = ["granularity", "tick"];

/// Payload bytes of a full packet.
pub(crate) fn payload(tcp: &Table, packet: Bytes) -> Option<u64> {
    let options = timestamp_option(tcp).unwrap_or(0);
    packet
        .0
        .checked_sub(tcp.read::<Bytes>("header").0)?
        .checked_sub(options)
        .filter(|&payload| payload > 0)
}

/// A window in segments, given in segments, in bytes, or by the word that `auto` stands for.
fn resolve_window(
    tcp: &mut Table,
    key: &str,
    payload: u64,
    auto: Option<(i64, &str)>,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let node = tcp.node(key);
    match (&node.value, auto) {
        (Value::Text(_), Some((segments, rule))) => {
            tcp.derive(key, Value::Whole(segments), rule);
        }
        (Value::Quantity(Quantity::Bytes(bytes)), _) => {
            let segments = bytes.0 / payload;
            if segments == 0 {
                let message = format!("{bytes} is less than one segment of {} B", payload);
                return out.push(Diagnostic::new(&join(path, key), &node.origin, message));
            }
            let rule = format!("{bytes} ({}) / {payload} B", node.origin);
            tcp.derive(key, Value::Whole(segments as i64), &rule);
        }
        _ => {}
    }
}

/// Congestion control of a table that has the key `congestion`, or Reno. `preferred` is the variant of
/// algorithms that have it.
pub(crate) fn resolve_congestion(
    flow: &mut Table,
    path: &str,
    preferred: &Node,
    algorithms: &dyn Algorithms,
    out: &mut Vec<Diagnostic>,
) -> Option<ControllerSpec> {
    flow.default("congestion", Value::Table(Table::new()), Origin::Default);
    let path = join(path, "congestion");
    let table = flow.sub_mut("congestion");
    let spec = if custom::is_custom(table) {
        custom::resolve(table, &path, algorithms)
    } else {
        resolve_registered(table, &path, preferred)
    };
    spec.map_err(|error| out.push(error)).ok()
}

/// An algorithm of the registry: its variant, every parameter, and whether they go together.
fn resolve_registered(
    table: &mut Table,
    path: &str,
    preferred: &Node,
) -> Result<ControllerSpec, Diagnostic> {
    table.default(
        "kind",
        Value::Text(DEFAULT_CONGESTION.to_string()),
        Origin::Default,
    );
    let origin = table.node("kind").origin.clone();
    let refuse = |error: SpecError| Diagnostic::new(path, &origin, error.to_string());
    let entry = registry::find_algorithm(table.word("kind")).map_err(refuse)?;
    if entry
        .variants
        .iter()
        .any(|variant| variant.name() == text_of(preferred))
    {
        fill(
            table,
            &Table::from([("variant".to_string(), preferred.clone())]),
        );
    }
    let first = entry.variants[0].name().to_string();
    table.default("variant", Value::Text(first), Origin::Default);
    let spec = |table: &Table| controller(table, entry.parameters);
    let settings = spec(table).settings().map_err(refuse)?;
    for (parameter, value) in settings.values() {
        let origin = match parameter.default {
            DefaultValue::Derived { rule, .. } => Origin::Derived(rule.to_string()),
            DefaultValue::Fixed(_) | DefaultValue::Points(_) => Origin::Default,
        };
        table.default(parameter.name, written(parameter, value), origin);
    }
    for (parameter, points) in settings.functions() {
        table.default(parameter.name, list_of(points), Origin::Default);
    }
    let spec = spec(table);
    spec.build().map_err(refuse)?;
    Ok(spec)
}

/// The registered algorithm of a table.
fn controller(table: &Table, known: &[Parameter]) -> ControllerSpec {
    let named = |variant: &Variant| variant.name() == table.word("variant");
    ControllerSpec {
        kind: table.word("kind").to_string(),
        variant: Variant::ALL.into_iter().find(named).unwrap_or_default(),
        parameters: parameters(table, known),
        functions: functions(table),
        custom: None,
    }
}

/// The slow start of a table.
pub(crate) fn slow_start(table: &Table) -> SlowStartSpec {
    let kind = table.word("kind");
    let entry = registry::slow_starts()
        .iter()
        .find(|entry| entry.kind == kind);
    SlowStartSpec {
        kind: kind.to_string(),
        parameters: parameters(table, entry.map_or(&[], |entry| entry.parameters)),
    }
}

/// Values of the known parameters that are numbers or names of choices.
fn parameters(table: &Table, known: &[Parameter]) -> Vec<(String, f64)> {
    let value = |parameter: &Parameter| match &table.get(parameter.name)?.value {
        Value::Number(number) => Some(*number),
        Value::Text(name) => parameter.allowed.value_of(name),
        _ => None,
    };
    let named = |parameter: &Parameter| Some((parameter.name.to_string(), value(parameter)?));
    known.iter().filter_map(named).collect()
}

/// The value of a parameter as one would write it.
fn written(parameter: &Parameter, value: f64) -> Value {
    match parameter.allowed.names.get(value as usize) {
        Some(name) => Value::Text((*name).to_string()),
        None => Value::Number(value),
    }
}

/// Parameters given by points.
fn functions(table: &Table) -> Vec<(String, Vec<Point>)> {
    let function = |(key, node): (&String, &Node)| Some((key.clone(), points(node)?));
    table.iter().filter_map(function).collect()
}

/// Points as one would write them.
fn list_of(points: &[Point]) -> Value {
    let number = |value| Node::new(Value::Number(value), Origin::Default);
    let pair = |&(window, value): &Point| {
        Node::new(
            Value::List(vec![number(window), number(value)]),
            Origin::Default,
        )
    };
    Value::List(points.iter().map(pair).collect())
}

/// The profile's slow start, where the flow names none; `max_ssthresh` alone means its limited slow start.
fn resolve_slow_start(
    flow: &mut Table,
    path: &str,
    profile: Profile,
    paced: bool,
    out: &mut Vec<Diagnostic>,
) {
    let usual = profile::slow_start(profile, flow.sub("congestion"));
    flow.default("slow_start", Value::Table(Table::new()), Origin::Default);
    let table = flow.sub_mut("slow_start");
    let chosen = if table.contains_key("max_ssthresh") {
        profile::limited_slow_start(profile)
    } else {
        usual
    };
    table.entry("kind".to_string()).or_insert(chosen);
    if paced && table.word("kind") == "hystart" && !table.contains_key("train") {
        table.derive("train", Value::Number(1.0), "segments are paced");
    }
    if let Ok(settings) = slow_start(table).settings() {
        for (parameter, value) in settings.values() {
            table.default(parameter.name, Value::Number(value), Origin::Default);
        }
    }
    if let Err(error) = slow_start(table).build() {
        let origin = &table.node("kind").origin;
        out.push(Diagnostic::new(
            &join(path, "slow_start"),
            origin,
            error.to_string(),
        ));
    }
}

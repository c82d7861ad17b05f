//! Transport of a group of flows: congestion control, slow start, and all TCP options.

use longhaul_congestion::{
    CongestionControl, Controller, ControllerSpec, DefaultValue, Parameter, Point, SlowStartSpec,
    SpecError, Variant, registry,
};
use longhaul_engine::config::{
    Recovery, Rto, RttClockKeys, RttSample, Tcp, TimestampKeys, TimestampKind,
};
use longhaul_keys::{Field, KIND, Profile};
use longhaul_units::{Bytes, Quantity, Span};

use super::{SharedSettings, refuse_large};
use crate::algorithm::{DEFAULT_CONGESTION, MAX_SSTHRESH, TRAIN, VARIANT, is_custom};
use crate::check::points;
use crate::custom;
use crate::document::{Node, Origin, Table, Value, fill, join};
use crate::error::Diagnostic;
use crate::external;
use crate::making::Algorithms;
use crate::model::flow::{AnyFlow, Stack};
use crate::module;
use crate::profile;

/// Bytes of Sync-TCP's option: its kind, its length, and three timestamps of four bytes each
/// (Weigle 2003, chapter 3).
const ONE_WAY_OPTION: Bytes = Bytes(14);

/// Smallest slow start threshold in segments (RFC 5681, equation 4).
const MIN_SSTHRESH: u64 = 2;

/// Slow start threshold of a connection of Linux that has never reduced its window.
const TCP_INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

/// Resolves congestion control, slow start and transport options. `held` is the number of packets
/// that the path and its queues can contain. Returns the congestion control; `None` after an error in
/// it or in the packet size.
pub(crate) fn resolve_tcp(
    flow: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    held: f64,
    out: &mut Vec<Diagnostic>,
) -> Option<ControllerSpec> {
    let preferred = profile::variant(shared.context.profile);
    let congestion = resolve_congestion(flow, path, &preferred, shared.algorithms, out);
    let controller = congestion.as_ref().and_then(|spec| spec.build().ok());
    if let Some(controller) = &controller {
        resolve_recovery(flow, controller);
    }
    let is_module = module::is_module(flow.sub(Stack::congestion));
    flow.or_default(Stack::tcp, Value::Table(Table::new()));
    let recovery = flow.read(Stack::recovery);
    let packet = flow.read(AnyFlow::packet);
    let tcp = flow.sub_mut(Stack::tcp);
    let flow_path = path;
    let path = join(path, Stack::tcp.name());
    layer_options(tcp, shared.tcp, &path, out);
    if let Some(controller) = &controller {
        serve(tcp, controller, shared.context.profile);
    }
    resolve_one_way_option(tcp);
    fill_options(tcp, shared.context.profile);
    let paced = !matches!(tcp.node(Tcp::pacing).value, Value::Flag(false));
    for key in [
        Tcp::ack_bytes,
        Tcp::sack_option_bytes,
        Tcp::sack_block_bytes,
    ] {
        refuse_large(tcp, key, &path, out);
    }
    refuse_missing_blocks(tcp, recovery, &path, out);
    refuse_two_times(tcp, &path, out);
    refuse_ticks_of_segments(tcp, &path, out);
    let Some(payload) = payload(tcp, packet) else {
        let message = format!("{packet} leaves no room for data after the headers");
        out.push(Diagnostic::at(flow, AnyFlow::packet, flow_path, message));
        return None;
    };
    let (times, rule) = profile::receive_window(shared.context.profile);
    let auto = (times * held).ceil().clamp(64.0, 1e12) as i64;
    let auto = Some((auto, rule));
    resolve_window(tcp, Tcp::receive_window, payload, auto, &path, out);
    resolve_window(tcp, Tcp::send_buffer, payload, None, &path, out);
    if tcp.read(Tcp::initial_ssthresh).is_none() && out.is_empty() {
        let (ssthresh, rule) = match tcp.read(Tcp::receive_window) {
            // Modules compare the threshold with it to recognise the first slow start.
            _ if is_module => (TCP_INFINITE_SSTHRESH, "TCP_INFINITE_SSTHRESH of Linux"),
            ..MIN_SSTHRESH => (MIN_SSTHRESH, "the smallest threshold"),
            window => (window, "the receive window"),
        };
        tcp.derive(Tcp::initial_ssthresh, Value::Number(ssthresh as f64), rule);
    }
    let rto = tcp.sub(Tcp::rto);
    let (min, max) = (rto.read(Rto::min), rto.read(Rto::max));
    if min > max {
        let message = format!("min ({min}) is above max ({max})");
        let path = join(&path, Tcp::rto.name());
        out.push(Diagnostic::at(rto, Rto::min, &path, message));
    }
    resolve_slow_start(flow, flow_path, shared.context.profile, paced, out);
    congestion
}

/// Refuses a recovery that uses SACK if the receiver sends no SACK blocks (RFC 6675 section 1). The recovery of ns-2's
/// SACK sender is allowed.
fn refuse_missing_blocks(tcp: &Table, recovery: Recovery, path: &str, out: &mut Vec<Diagnostic>) {
    if tcp.read(Tcp::sack_blocks) || !recovery.uses_sack() || recovery == Recovery::Ns2Sack {
        return;
    }
    let message = "this recovery needs SACK blocks; allowed with false: recovery = \"newreno\", or \"ns2-sack\", \
        whose sender then waits for timeouts";
    out.push(Diagnostic::at(tcp, Tcp::sack_blocks, path, message));
}

/// Refuses `rtt_sample = "reported"` with one-way timestamps: an acknowledgement cannot report both an acknowledgement
/// delay and a transit time.
fn refuse_two_times(tcp: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let one_way = tcp.read(TimestampKeys::timestamps) == TimestampKind::OneWay;
    if one_way && tcp.read(Tcp::rtt_sample) == RttSample::Reported {
        let message = "ACKs report transit times (timestamps = \"one-way\", which some algorithms imply), not how long they were delayed";
        out.push(Diagnostic::at(tcp, Tcp::rtt_sample, path, message));
    }
}

/// Refuses ns-2's clock if round trips are taken of segments: its ticks are counted from echoed timestamps only.
fn refuse_ticks_of_segments(tcp: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let ticks = tcp.sub(Tcp::rto).has(RttClockKeys::tick);
    if ticks && tcp.read(Tcp::rtt_sample) != RttSample::Echo {
        let message = "rto.tick (ns-2's clock) needs rtt_sample = \"echo\"";
        out.push(Diagnostic::at(tcp, Tcp::rtt_sample, path, message));
    }
}

/// Adds to a flow's options `tcp` the options of the file's table `[tcp]` (`lower`) that the flow does not set. A timer
/// has a granularity or a tick: if the flow sets either key, neither is added. Both together are refused.
fn layer_options(tcp: &mut Table, lower: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let mut lower = lower.clone();
    if let (Some(own), Some(below)) = (tcp.table(Tcp::rto), lower.table_mut(Tcp::rto))
        && RTT_CLOCK.iter().any(|key| own.has(*key))
    {
        for key in RTT_CLOCK {
            below.remove(key);
        }
    }
    fill(tcp, &lower);
    let rto = tcp.table(Tcp::rto);
    if let Some(rto) = rto.filter(|rto| RTT_CLOCK.iter().all(|key| rto.has(*key))) {
        let message = "give either granularity (exact round trips) or tick (ns-2's clock)";
        let path = join(path, Tcp::rto.name());
        out.push(Diagnostic::of_key(rto, RttClockKeys::tick, &path, message));
    }
}

/// Sets the loss recovery that the algorithm needs, unless the scenario names a recovery.
fn resolve_recovery(flow: &mut Table, controller: &Controller) {
    let recovery = flow.node(Stack::recovery);
    let chosen = !matches!(recovery.origin, Origin::Profile(_));
    if controller.needs().rack_tlp && !chosen && !is_rack_tlp(recovery.word()) {
        let rule = "the algorithm needs lost retransmissions to be noticed";
        flow.derive(Stack::recovery, Value::text("rack-tlp"), rule);
    }
}

fn is_rack_tlp(recovery: &str) -> bool {
    recovery.starts_with("rack-tlp")
}

/// Sets the transport options that the algorithm needs (on or off), unless the scenario sets them.
fn serve(tcp: &mut Table, controller: &Controller, profile: Profile) {
    let needs = controller.needs();
    if needs.one_way_delay && !tcp.has(TimestampKeys::timestamps) {
        let rule = "the algorithm works with transit times";
        tcp.derive(TimestampKeys::timestamps, Value::text("one-way"), rule);
    }
    if needs.l4s && !tcp.has(Tcp::ecn) {
        let rule = "the algorithm asks for L4S (RFC 9331)";
        tcp.derive(Tcp::ecn, Value::text("accecn"), rule);
    }
    let ecn = Tcp::KEYS.iter().find(|key| key.name == Tcp::ecn.name());
    let uses_ecn = ecn.and_then(|key| key.default_in(profile)) == Some("true");
    let counts_marks = needs.every_mark || needs.exact_marks && uses_ecn;
    if counts_marks && !tcp.has(Tcp::ecn) {
        let rule = "the algorithm counts marked segments";
        tcp.derive(Tcp::ecn, Value::text("dctcp"), rule);
    }
    if needs.no_ecn && !tcp.has(Tcp::ecn) {
        let rule = "the algorithm does not respond to marks";
        tcp.derive(Tcp::ecn, Value::Flag(false), rule);
    }
    if needs.pairs && !tcp.has(Tcp::delayed_ack) {
        let rule = "the algorithm times the acknowledgements of single segments";
        tcp.derive(Tcp::delayed_ack, Value::Flag(false), rule);
    }
}

/// Sets the size of the timestamp option if it is the one-way option of Sync-TCP and the scenario
/// sets no size. The profile's default is the size of RFC 7323's option.
fn resolve_one_way_option(tcp: &mut Table) {
    let (kind, size) = (TimestampKeys::timestamps, TimestampKeys::timestamp_option);
    let one_way = tcp.has(kind) && tcp.read(kind) == TimestampKind::OneWay;
    if one_way && !tcp.has(size) {
        let rule = "kind, length and three times of 4 B (Sync-TCP)";
        let bytes = Value::Quantity(Quantity::Bytes(ONE_WAY_OPTION));
        tcp.derive(size, bytes, rule);
    }
}

/// Adds the profile's options that `tcp` does not have. The retransmission timer has either a
/// granularity or a tick: if the scenario gives one of them, the profile does not add the other.
fn fill_options(tcp: &mut Table, profile: Profile) {
    let own = tcp.table(Tcp::rto);
    let other = own.and_then(|rto| {
        let [granularity, tick] = RTT_CLOCK;
        let given = RTT_CLOCK.map(|key| rto.has(key));
        match given {
            [true, _] => Some(tick),
            [false, true] => Some(granularity),
            [false, false] => None,
        }
    });
    tcp.fill(Tcp::KEYS, profile);
    if let Some(other) = other {
        tcp.sub_mut(Tcp::rto).remove(other);
    }
}

/// Keys of the retransmission timer's clock. Only one of them may be given.
const RTT_CLOCK: [Field<Option<Span>>; 2] = [RttClockKeys::granularity, RttClockKeys::tick];

/// Returns the payload bytes of a packet of `packet` bytes; `None` if headers and options leave no
/// payload.
pub(crate) fn payload(tcp: &Table, packet: Bytes) -> Option<u64> {
    // Both sizes may exceed the packet, and the range of their type.
    let header = tcp.read(Tcp::header_bytes.seen_as::<Bytes>());
    let options = match tcp.read(TimestampKeys::timestamps) {
        TimestampKind::Off => Bytes(0),
        _ => tcp.read(TimestampKeys::timestamp_option.seen_as()),
    };
    let payload = packet.0.checked_sub(header.0)?.checked_sub(options.0)?;
    (payload > 0).then_some(payload)
}

/// Converts a window to segments; it is given in segments, in bytes, or by a word for an automatic
/// value.
fn resolve_window<T>(
    tcp: &mut Table,
    key: Field<T>,
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
                return out.push(Diagnostic::at(tcp, key, path, message));
            }
            let rule = format!("{bytes} ({}) / {payload} B", node.origin);
            tcp.derive(key, Value::Whole(segments as i64), rule);
        }
        _ => {}
    }
}

/// Resolves the congestion control in the key `congestion` of `flow`; Reno if it names none. If the
/// algorithm has the variant `preferred`, this variant is the default.
pub(crate) fn resolve_congestion(
    flow: &mut Table,
    path: &str,
    preferred: &Node,
    algorithms: &dyn Algorithms,
    out: &mut Vec<Diagnostic>,
) -> Option<ControllerSpec> {
    flow.or_default(Stack::congestion, Value::Table(Table::new()));
    let path = join(path, Stack::congestion.name());
    let table = flow.sub_mut(Stack::congestion);
    let spec = if is_custom(table) {
        custom::resolve(table, &path, algorithms)
    } else if module::is_module(table) {
        module::resolve(table, &path, algorithms)
    } else if external::is_external(table) {
        external::resolve(table, &path, algorithms)
    } else {
        resolve_registered(table, &path, preferred)
    };
    spec.map_err(|error| out.push(error)).ok()
}

/// Resolves an algorithm of the registry: its variant and all parameters. Checks that the
/// parameters do not contradict each other.
fn resolve_registered(
    table: &mut Table,
    path: &str,
    preferred: &Node,
) -> Result<ControllerSpec, Diagnostic> {
    table.or_default(KIND, Value::text(DEFAULT_CONGESTION));
    let origin = table.node(KIND).origin.clone();
    let refuse = |error: SpecError| Diagnostic::new(path, &origin, error.to_string());
    let entry = registry::find_algorithm(table.word(KIND)).map_err(refuse)?;
    let mut variants = entry.variants.iter();
    if variants.any(|variant| variant.name() == preferred.word()) {
        let Node { value, origin, .. } = preferred.clone();
        table.or_insert(VARIANT, value, origin);
    }
    table.or_default(VARIANT, Value::text(entry.variants[0].name()));
    let spec = |table: &Table| controller(table, entry.parameters);
    let settings = spec(table).settings().map_err(refuse)?;
    for (parameter, value) in settings.values() {
        let origin = match parameter.default {
            DefaultValue::SameAs(_) => continue,
            DefaultValue::Derived { rule, .. } => Origin::Derived(rule.to_string()),
            DefaultValue::Fixed(_) | DefaultValue::Points(_) => Origin::Default,
        };
        table.or_insert(of(parameter), written(parameter, value), origin);
    }
    for (parameter, points) in settings.functions() {
        table.or_default(of(parameter), list_of(points));
    }
    let spec = spec(table);
    spec.build().map_err(refuse)?;
    Ok(spec)
}

/// Returns the engine's description of the registered algorithm that `table` selects. `known` are the algorithm's
/// parameters.
fn controller(table: &Table, known: &[Parameter]) -> ControllerSpec {
    let named = |variant: &Variant| variant.name() == table.word(VARIANT);
    ControllerSpec {
        kind: table.read(KIND),
        variant: Variant::ALL.into_iter().find(named).unwrap_or_default(),
        parameters: parameters(table, known),
        functions: functions(table),
        custom: None,
    }
}

/// Returns the engine's description of the slow start in a table.
pub(crate) fn slow_start(table: &Table) -> SlowStartSpec {
    let kind = table.word(KIND);
    let entry = registry::slow_starts()
        .iter()
        .find(|entry| entry.kind == kind);
    SlowStartSpec {
        kind: kind.to_string(),
        parameters: parameters(table, entry.map_or(&[], |entry| entry.parameters)),
    }
}

/// Returns the names and values of those parameters in `known` that `table` sets to a number or to the name of a
/// choice. The value of a choice is its index.
fn parameters(table: &Table, known: &[Parameter]) -> Vec<(String, f64)> {
    let value = |parameter: &Parameter| match &table.get(of(parameter))?.value {
        Value::Number(number) => Some(*number),
        Value::Text(name) => parameter.allowed.value_of(name),
        _ => None,
    };
    let named = |parameter: &Parameter| Some((parameter.name.to_string(), value(parameter)?));
    known.iter().filter_map(named).collect()
}

/// Returns the key that sets `parameter` in the table of an algorithm.
fn of(parameter: &Parameter) -> Field<f64> {
    Field::new(parameter.name)
}

/// Returns the value of a parameter as written in a scenario.
fn written(parameter: &Parameter, value: f64) -> Value {
    match parameter.allowed.names.get(value as usize) {
        Some(name) => Value::text(name),
        None => Value::Number(value),
    }
}

/// Returns the name and the points of each parameter in `table` that is a function, given by a list of points.
fn functions(table: &Table) -> Vec<(String, Vec<Point>)> {
    let function = |(key, node): (&String, &Node)| Some((key.clone(), points(node)?));
    table.entries.iter().filter_map(function).collect()
}

/// Returns the points of a parameter that is a function of the window, as scenarios write them: as a list of pairs.
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

/// Sets a missing kind of slow start: limited slow start if the key `max_ssthresh` is given,
/// otherwise the default of the profile. Also sets missing parameters; `paced` changes the default of
/// HyStart's `train`.
pub(super) fn resolve_slow_start(
    flow: &mut Table,
    path: &str,
    profile: Profile,
    paced: bool,
    out: &mut Vec<Diagnostic>,
) {
    let usual = profile::slow_start(profile, flow.sub(Stack::congestion));
    flow.or_default(Stack::slow_start, Value::Table(Table::new()));
    let table = flow.sub_mut(Stack::slow_start);
    if !table.has(KIND) {
        let chosen = if table.has(MAX_SSTHRESH) {
            profile::limited_slow_start(profile)
        } else {
            usual
        };
        table.insert(KIND, chosen);
    }
    if paced && table.is_word(KIND, "hystart") && !table.has(TRAIN) {
        table.derive(TRAIN, Value::Number(1.0), "segments are paced");
    }
    if let Ok(settings) = slow_start(table).settings() {
        for (parameter, value) in settings.values() {
            table.or_default(of(parameter), Value::Number(value));
        }
    }
    if let Err(error) = slow_start(table).build() {
        let origin = &table.node(KIND).origin;
        let path = join(path, Stack::slow_start.name());
        out.push(Diagnostic::new(&path, origin, error.to_string()));
    }
}

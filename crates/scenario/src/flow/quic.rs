//! Settings of flows in a QUIC stack. The stack itself comes from the program that uses this crate.

use std::sync::Arc;

use longhaul_engine::stack::ForeignStack;
use longhaul_keys::{Field, Profile};
use longhaul_units::{Bytes, Quantity};

use super::transport::resolve_slow_start;
use super::{SharedSettings, resolve_congestion, slow_start};
use crate::document::{Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::making::{OwnAlgorithm, StackError};
use crate::model::flow::{AnyFlow, Stack, TcpFlow, UdpFlow};
use crate::model::quic::{self, QuicFlow, QuicStack};
use crate::profile;

/// Keys of TCP flows that QUIC flows have as well.
const SHARED: [&str; 4] = [
    TcpFlow::transfer.name(),
    TcpFlow::trace_acks.name(),
    Stack::congestion.name(),
    Stack::slow_start.name(),
];

/// Smallest UDP payload that QUIC needs (RFC 9000 section 14).
const MIN_MTU: Bytes = Bytes(1200);

/// The QUIC stack of a group of flows.
pub(crate) struct ResolvedStack {
    pub(crate) transport: Arc<ForeignStack>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<String>,
}

/// Refuses keys that do not apply to QUIC flows, and fills in the defaults of the QUIC stack's keys.
pub(super) fn resolve_basics(
    flow: &mut Table,
    path: &str,
    profile: Profile,
    out: &mut Vec<Diagnostic>,
) {
    let mut refuse = |flow: &Table, key: &'static str, reason: &str| {
        let field = Field::<()>::new(key);
        if flow.has(field) {
            let message = format!("a QUIC flow has no {key}: {reason}; leave it out");
            out.push(Diagnostic::of_key(flow, field, path, message));
        }
    };
    let of_tcp = TcpFlow::KEYS.iter().map(|key| key.name);
    for key in of_tcp.filter(|key| !SHARED.contains(key)) {
        let reason = match key {
            "tcp" => "its transport is the stack's own, with settings in stack = { ... }",
            "recovery" => {
                "the stack detects losses itself (stack.packet_threshold, stack.time_threshold)"
            }
            _ => "it is a key of TCP flows",
        };
        refuse(flow, key, reason);
    }
    for key in UdpFlow::KEYS {
        refuse(
            flow,
            key.name,
            "the stack's congestion control sets the rate",
        );
    }
    refuse(
        flow,
        AnyFlow::traffic.name(),
        "it has one connection, with a transfer or unlimited data",
    );
    if !flow.has(Stack::congestion) {
        let reason = "it applies to an algorithm of Longhaul (congestion = { kind = ... }), and the flow names none";
        refuse(flow, Stack::slow_start.name(), reason);
    }
    flow.or_default(QuicFlow::stack, Value::Table(Table::new()));
    flow.sub_mut(QuicFlow::stack).fill(QuicStack::KEYS, profile);
}

/// Returns the default label of a group of flows: the name of the stack, and the name of the
/// congestion control if the group gives one.
pub(crate) fn label(flow: &Table) -> String {
    let stack = flow.sub(QuicFlow::stack);
    let kind = stack.word(QuicStack::kind);
    let own = flow.table(Stack::congestion);
    let own = own.map(|table| crate::algorithm::name(Some(table)).to_string());
    match own.or_else(|| stack.read(QuicStack::congestion)) {
        Some(congestion) => format!("{kind}-{congestion}"),
        None => kind.to_string(),
    }
}

/// Completes the settings of a QUIC flow, and returns the stack that they name. `bdp` is the path's
/// bandwidth-delay product, and `held` the number of bytes that the path and its queues can contain.
pub(super) fn resolve(
    flow: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    (bdp, held): (Bytes, f64),
    out: &mut Vec<Diagnostic>,
) -> Option<ResolvedStack> {
    let own = resolve_own(flow, path, shared, out);
    let packet = flow.read(AnyFlow::packet);
    let algorithm = flow.get(Stack::congestion);
    let algorithm = algorithm.map(|node| node.origin.clone());
    let flow_path = path;
    let path = join(path, QuicFlow::stack.name());
    let stack = flow.sub_mut(QuicFlow::stack);
    if own.is_some() && stack.has(QuicStack::congestion) {
        let message = "give either `congestion` of the flow, for an algorithm of Longhaul, or this key, for one of \
            the stack's own";
        let refusal = Diagnostic::of_key(stack, QuicStack::congestion, &path, message);
        out.push(refusal);
    }
    resolve_window(stack, bdp, held);
    check(stack, packet, &path, out);
    let settings = QuicStack::of(stack);
    let found = match shared.algorithms.stack(&settings, own.as_ref()) {
        Ok(found) => found,
        Err(StackError { key, message }) => {
            let given = stack.get(Field::<()>::new(key)).map(|node| &node.origin);
            let (path, origin) = match (given, &algorithm) {
                (Some(origin), _) => (&*path, origin),
                (None, Some(origin)) => (flow_path, origin),
                (None, None) => (&*path, &Origin::Default),
            };
            out.push(Diagnostic::new(&join(path, key), origin, message));
            return None;
        }
    };
    if own.is_none() {
        let rule = "the stack's default";
        let name = Value::text(&found.congestion);
        stack.or_insert(QuicStack::congestion, name, Origin::Derived(rule.into()));
    }
    match stack
        .get(QuicStack::version)
        .map(|node| node.word() == found.version)
    {
        Some(true) => {}
        Some(false) => {
            let given = stack.word(QuicStack::version);
            let message = format!(
                "this build has {}, not {given}; leave version out",
                found.version
            );
            out.push(Diagnostic::at(stack, QuicStack::version, &path, message));
        }
        None => {
            let rule = "version of the stack in this build";
            stack.derive(QuicStack::version, Value::text(&found.version), rule);
        }
    }
    let kind = &settings.kind;
    let congestion = match &own {
        Some(own) => format!("{kind}:longhaul-{}", own.controller.kind),
        None => format!("{kind}:{}", found.congestion),
    };
    let transport = ForeignStack {
        factory: found.factory,
        congestion,
        transfer: flow.read(TcpFlow::transfer),
        packet_bytes: quic::packet_bytes(&settings) as u32,
    };
    Some(ResolvedStack {
        transport: Arc::new(transport),
        warnings: found.warnings,
    })
}

/// Returns the algorithm of Longhaul that replaces the QUIC stack's own; `None` if the flow names none,
/// or after an error.
fn resolve_own(
    flow: &mut Table,
    path: &str,
    shared: &SharedSettings<'_>,
    out: &mut Vec<Diagnostic>,
) -> Option<OwnAlgorithm> {
    if !flow.has(Stack::congestion) {
        return None;
    }
    let profile = shared.context.profile;
    let preferred = profile::variant(profile);
    let controller = resolve_congestion(flow, path, &preferred, shared.algorithms, out)?;
    resolve_slow_start(flow, path, profile, true, out);
    let slow_start = slow_start(flow.sub(Stack::slow_start)).build().ok()?;
    Some(OwnAlgorithm {
        controller,
        slow_start,
    })
}

/// Resolves a flow control window to bytes. The scenario gives it in bytes, in bandwidth-delay products, or as `auto`.
/// `auto` is four times `held`, the number of bytes that the path and its queues can contain, and at least `MIN`.
fn resolve_window(stack: &mut Table, bdp: Bytes, held: f64) {
    /// Default of quinn's stream receive window in bytes: the product of 100 Mbit/s and 100 ms.
    const MIN: f64 = 1_250_000.0;
    let node = stack.node(QuicStack::window);
    let (bytes, rule) = match &node.value {
        Value::Text(_) => {
            // Slow start overshoots to 2 x `held`, and flow control credit arrives a round trip late.
            let rule = "4 x (path's bandwidth-delay product + its queues), at least 1250 kB";
            ((4.0 * held).max(MIN), rule.to_string())
        }
        Value::Quantity(Quantity::Bdp(times)) => {
            let rule = format!("{times} BDP ({}) of {bdp}", node.origin);
            (times * bdp.0 as f64, rule)
        }
        _ => return,
    };
    let bytes = Value::Quantity(Quantity::Bytes(Bytes(bytes.ceil() as u64)));
    stack.derive(QuicStack::window, bytes, rule);
}

/// Refuses settings that contradict each other or the packet size `packet`.
fn check(stack: &Table, packet: Bytes, path: &str, out: &mut Vec<Diagnostic>) {
    let settings = QuicStack::of(stack);
    let largest = Bytes(quic::packet_bytes(&settings));
    if settings.mtu < MIN_MTU || largest > packet {
        let message = format!(
            "{} is out of range; expected from {MIN_MTU} (RFC 9000 section 14) to what a packet of {packet} holds after \
             IP and UDP headers",
            settings.mtu
        );
        out.push(Diagnostic::at(stack, QuicStack::mtu, path, message));
    }
    if settings.max_ack_delay.is_some() && settings.ack_frequency.is_none() {
        let message =
            "the sender requests this delay only together with ack_frequency; give that key, too";
        out.push(Diagnostic::of_key(
            stack,
            QuicStack::max_ack_delay,
            path,
            message,
        ));
    }
}

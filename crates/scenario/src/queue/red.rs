//! RED: its automatic values, and the engine's form.

use longhaul_engine::queue::{
    AdaptationParameters, Gentle, Marking, RedConfig, RedParameters, Rule, Weight,
};
use longhaul_units::{Quantity, Rate, Span};

use super::{Place, capacity};
use crate::document::{Table, Value};
use crate::error::Diagnostic;
use crate::read::join;
use crate::typed::Typed;

/// Makes automatic values explicit.
pub(super) fn resolve(queue: &mut Table, path: &str, place: &Place<'_>, out: &mut Vec<Diagnostic>) {
    let red = parameters(queue).resolve(place.rate, place.delay);
    let packets = |packets| Value::Quantity(Quantity::Packets(packets));
    let mut make_explicit = |key: &str, value: Value, rule: &str| {
        if matches!(queue.node(key).value, Value::Text(_)) {
            queue.derive(key, value, rule);
        }
    };
    let target = "max(5, half of target_delay at the link's rate), in mean packets";
    make_explicit("min_th", packets(red.min_th_pkts), target);
    make_explicit("max_th", packets(red.max_th_pkts), "3 min_th");
    let rule = "1 - exp(-1/packets) over one second, or over ten round trips of at least 100 ms";
    make_explicit("weight", Value::Number(red.weight), rule);
    match red.adaptive {
        Some(adaptive) if adaptive.rule == Rule::GentleAdaptive => {
            // It has no lower bound.
            queue.remove("bottom");
        }
        Some(adaptive) => {
            let rule = "80 kbit/s over the rate, at most 0.01";
            make_explicit("bottom", Value::Number(adaptive.bottom), rule);
        }
        // What steers an adaptation that does not happen says nothing.
        None => ["interval", "alpha", "beta", "top", "bottom"]
            .iter()
            .for_each(|key| {
                queue.remove(*key);
            }),
    }
    if red.min_th_pkts > red.max_th_pkts {
        let message = format!(
            "min_th ({} packets) is above max_th ({} packets)",
            red.min_th_pkts, red.max_th_pkts
        );
        out.push(Diagnostic::new(
            &join(path, "min_th"),
            &queue.node("min_th").origin,
            message,
        ));
    }
    if let Some(adaptive) = red.adaptive
        && adaptive.bottom > adaptive.top
    {
        let message = format!(
            "bottom ({}) is above top ({})",
            adaptive.bottom, adaptive.top
        );
        out.push(Diagnostic::new(
            &join(path, "bottom"),
            &queue.node("bottom").origin,
            message,
        ));
    }
}

/// The engine's form.
pub(super) fn config(queue: &Table, rate: Rate, delay: Span) -> RedConfig {
    parameters(queue).resolve(rate, delay)
}

fn parameters(queue: &Table) -> RedParameters {
    RedParameters {
        limit: capacity(queue),
        limit_overshoot: queue.flag("limit_overshoot"),
        mean_packet: queue.bytes("mean_packet"),
        min_th_pkts: threshold(queue, "min_th"),
        max_th_pkts: threshold(queue, "max_th"),
        target_delay: queue.span("target_delay"),
        weight: match &queue.node("weight").value {
            Value::Number(weight) => Weight::Explicit(*weight),
            Value::Text(word) if word == "per-packet" => Weight::OneSecond,
            _ => Weight::TenRoundTrips,
        },
        max_p: queue.number("max_p"),
        gentle: match queue.node("gentle").value {
            Value::Flag(false) => Gentle::Off,
            Value::Flag(true) => Gentle::On,
            _ => Gentle::Frozen,
        },
        ecn: queue.flag("ecn"),
        marking: match &queue.node("mark_p").value {
            Value::Number(mark_p) => Marking::UpTo(*mark_p),
            Value::Text(word) if word == "below-max-th" => Marking::BelowMaxTh,
            _ => Marking::Always,
        },
        queue_in_bytes: queue.flag("in_bytes"),
        scale_by_size: queue.flag("size_scaled"),
        wait: queue.flag("wait"),
        adaptive: adaptation(queue),
    }
}

fn adaptation(queue: &Table) -> Option<AdaptationParameters> {
    let (rule, bottom) = match queue.node("adaptive").value {
        Value::Flag(false) => return None,
        Value::Flag(true) => (Rule::Adaptive, number_unless_word(queue, "bottom")),
        _ => (Rule::GentleAdaptive, Some(0.0)),
    };
    Some(AdaptationParameters {
        rule,
        interval: queue.span("interval"),
        alpha: queue.number("alpha"),
        beta: queue.number("beta"),
        top: queue.number("top"),
        bottom,
    })
}

fn number_unless_word(queue: &Table, key: &str) -> Option<f64> {
    if let Value::Number(number) = queue.node(key).value {
        Some(number)
    } else {
        None
    }
}

fn threshold(queue: &Table, key: &str) -> Option<f64> {
    match queue.node(key).value {
        Value::Quantity(Quantity::Packets(packets)) => Some(packets),
        _ => None,
    }
}

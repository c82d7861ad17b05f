//! MulTCP: one flow that behaves like several flows, or like a fraction of one.
//!
//! Crowcroft and Oechslin, "Differentiated end-to-end Internet services using a weighted proportional fair sharing
//! TCP", CCR 28(3), 1998. `n` flows together grow by `n` segments per round trip. A loss affects one of them, and
//! therefore removes half of an `n`-th of the window. With `n` below one, this is the fractional congestion control of
//! parallel streams (LBNL-52549, 2003): each of `1 / n` streams grows by `n` segments per round trip, and halves its
//! window.

use super::reno::Reno;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};

/// State of MulTCP: standard TCP with other amounts of increase and decrease.
pub type MulTcp = Reno;

pub(crate) static ENTRY: Entry<MulTcp> = Entry {
    kind: "multcp",
    title: "MulTCP and fractional congestion control",
    description: "Standard TCP that stands for a number of flows: it grows by as many segments per round trip, and \
        removes at a congestion signal half of one flow's part of the window. If it stands for less than one flow, \
        it grows by that part of a segment and halves the window.",
    law: &[
        "each ACK: cwnd += flows * acked / cwnd",
        "congestion, flows >= 1: cwnd = (1 - 1 / (2 * flows)) * cwnd",
        "congestion, flows < 1: cwnd = cwnd / 2",
    ],
    source: "Crowcroft and Oechslin, CCR 28(3), 1998",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[Parameter {
        name: "flows",
        unit: "flows",
        default: DefaultValue::Fixed(2.0),
        allowed: Range::above(0.0, 1e6),
        help: "Number of standard TCP flows that the flow stands for.",
        source: "CCR 1998, N; LBNL-52549, 2003",
    }],
    build: |settings| {
        let (increase, decrease) = amounts(settings);
        Ok(Reno::general(increase, decrease))
    },
};

/// Returns the growth in segments per round trip, and the fraction of the window that a loss removes.
fn amounts(settings: &Settings) -> (f64, f64) {
    let flows = settings.get("flows");
    (flows, 0.5 / flows.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_those_of_the_flows_it_stands_for() {
        for (flows, expected) in [(4.0, (4.0, 0.125)), (1.0, (1.0, 0.5)), (0.1, (0.1, 0.5))] {
            let given = [("flows".to_string(), flows)];
            let settings = ENTRY.settings(Variant::Paper, &given).unwrap();
            assert_eq!(amounts(&settings), expected);
        }
    }
}

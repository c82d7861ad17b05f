//! General AIMD: additive increase and multiplicative decrease with any parameters.
//!
//! Yang and Lam, "General AIMD congestion control", ICNP 2000. The window changes as in standard TCP, with other
//! amounts. With the default increase, timeouts limit the throughput as much as in standard TCP (the paper's formula
//! has the same term for them). Without timeouts, the default values give a mean window 1.25 times that of standard
//! TCP.

use super::reno::Reno;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::parameter::{DefaultValue, Parameter, Range, Variant};

/// State of GAIMD: standard TCP with other amounts of increase and decrease.
pub type Gaimd = Reno;

pub(crate) static ENTRY: Entry<Gaimd> = Entry {
    kind: "gaimd",
    title: "GAIMD",
    description: "Standard TCP with a smaller decrease and an increase that makes up for it, so that the window is \
        smoother. By the paper's model, the throughput is that of standard TCP if timeouts determine it; without \
        timeouts the default values give a mean window 1.25 times as large.",
    law: &[
        "each ACK: cwnd += increase * acked / cwnd",
        "congestion: cwnd = (1 - decrease) * cwnd",
        "by default increase = 4/3 * (1 - (1 - decrease)^2), which has standard TCP's throughput with many timeouts",
    ],
    source: "Yang and Lam, ICNP 2000",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed at a congestion signal; the paper's beta is the part kept.",
            source: "ICNP 2000, beta 7/8",
        },
        Parameter {
            name: "increase",
            unit: "segments per round trip",
            default: DefaultValue::Derived {
                rule: "4/3 (1 - (1 - decrease)^2), friendly to standard TCP",
                value: |settings| {
                    let kept = 1.0 - settings.get("decrease");
                    4.0 / 3.0 * (1.0 - kept * kept)
                },
            },
            allowed: Range::above(0.0, 1e6),
            help: "Additive increase.",
            source: "ICNP 2000, TCP-friendliness",
        },
    ],
    build: |settings| {
        let reno = Reno::general(settings.get("increase"), settings.get("decrease"));
        Ok(reno)
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the default increase against the paper, which pairs an increase of 0.31 with a factor of 7/8.
    #[test]
    fn the_default_increase_is_the_friendly_one() {
        let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
        assert!((settings.get("increase") - 0.3125).abs() < 1e-12);
        let halving = [("decrease".to_string(), 0.5)];
        let settings = ENTRY.settings(Variant::Paper, &halving).unwrap();
        assert!((settings.get("increase") - 1.0).abs() < 1e-12);
    }
}

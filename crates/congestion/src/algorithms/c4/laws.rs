//! Constants and formulas that both variants of C4 share: rate coefficients of the states, and bounds of windows and
//! rates.

use longhaul_units::Rate;

pub(super) const INITIAL_ALPHA: f64 = 2.0;
pub(super) const RECOVERY_ALPHA: f64 = 15.0 / 16.0;
pub(super) const DRAINING_ALPHA: f64 = 7.0 / 8.0;
pub(super) const PROBING_ALPHA: f64 = 17.0 / 16.0;
pub(super) const MARKED_PROBING_ALPHA: f64 = 33.0 / 32.0;
/// Rate coefficient of Pushing in the draft; variant picoquic has its own.
pub(super) const PUSHING_ALPHA: f64 = 5.0 / 4.0;

/// Maximum fraction of the nominal rate that a congestion signal removes.
pub(super) const MAX_BETA: f64 = 0.25;
/// Minimum pacing rate in Initial, in bits per second.
pub(super) const MIN_INITIAL_BPS: f64 = 1_048_576.0;
/// Maximum of the margin that is added to the nominal maximum round-trip time (section 4.1), in seconds.
pub(super) const MAX_MARGIN_S: f64 = 0.015;
/// Minimum of the nominal maximum round-trip time (section 6.3), in seconds.
pub(super) const MIN_MAX_RTT_S: f64 = 1e-3;
/// Duration of a quantum at the pacing rate, in seconds (section 4.1). A quantum is the burst of the pacer.
pub(super) const QUANTUM_S: f64 = 4e-3;
pub(super) const MAX_QUANTUM_BYTES: f64 = 65_536.0;
/// Minimum of the window and of the quantum, in segments.
pub(super) const MIN_SEGMENTS: f64 = 2.0;

/// Returns the margin, in seconds, that states except Initial add to the nominal maximum round-trip time (section 4.1).
pub(super) fn margin_s(max_rtt_s: f64) -> f64 {
    (max_rtt_s / 4.0).min(MAX_MARGIN_S)
}

/// Returns the pacing rate and the number of segments in a burst (quantum), for a rate of `per_s` segments per second
/// (section 4.1). Below one bit per second, the pacing rate is `None`.
pub(super) fn pacing(per_s: f64, segment_bytes: f64) -> (Option<Rate>, u64) {
    let at_once = (QUANTUM_S * per_s).min(MAX_QUANTUM_BYTES / segment_bytes);
    let bits_per_s = 8.0 * segment_bytes * per_s;
    let rate = (bits_per_s >= 1.0).then(|| Rate::from_bps(bits_per_s as u64));
    (rate, at_once.max(MIN_SEGMENTS) as u64)
}

/// Reports four values for traces: the nominal rate, the nominal maximum round-trip time, the running minimum of the
/// round-trip time, and the rate coefficient.
pub(super) fn show(values: [f64; 4], out: &mut dyn FnMut(&'static str, f64)) {
    let names = [
        "nominal_segments_per_s",
        "nominal_max_rtt_s",
        "running_min_rtt_s",
        "alpha",
    ];
    for (name, value) in names.into_iter().zip(values) {
        out(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a quantum covers 4 ms, but has at most 64 KiB and at least two segments (section 4.1). Segments
    /// have 1024 bytes.
    #[test]
    fn quanta_last_four_milliseconds_within_their_bounds() {
        for (per_s, quantum) in [
            (100.0, 2),
            (500.0, 2),
            (2_500.0, 10),
            (16_000.0, 64),
            (1e6, 64),
        ] {
            let rate = Rate::from_bps(8 * 1024 * per_s as u64);
            assert_eq!(pacing(per_s, 1024.0), (Some(rate), quantum), "{per_s}");
        }
        assert_eq!(pacing(1.0 / 8192.0, 1024.0).0, Some(Rate::from_bps(1)));
        assert_eq!(
            pacing(0.9 / 8192.0, 1024.0).0,
            None,
            "below a bit per second"
        );
    }

    /// Checks the margin added to the nominal maximum round-trip time: a quarter of it, up to 15 ms (section 4.1).
    #[test]
    fn margins_are_a_quarter_of_the_round_trip_up_to_fifteen_milliseconds() {
        for (max_rtt_s, margin) in [(0.02, 0.005), (0.06, 0.015), (0.4, 0.015)] {
            assert_eq!(margin_s(max_rtt_s), margin);
        }
    }
}

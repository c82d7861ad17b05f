//! Rules of picoquic for BBR version 3 (picoquic/bbr.c, August 2026), where they differ from the draft:
//!
//! - The smallest round-trip time is updated with the longest of seven samples, so that jitter does not lower it
//!   (`BBRUpdateMinRTT`). While samples are close to it, no ProbeRTT is due.
//! - Startup also ends after eight acknowledgements at each of which the last seven samples all exceeded the smallest
//!   round-trip time by a quarter (`RTTJitterBufferStartup`). ProbeBW_UP ends, after its first round trip, at one such
//!   acknowledgement or with 1.25 bandwidth-delay products in flight (`do_exit_probeBW_up_on_delay`), but not at a
//!   plateau of the rate.
//! - A probe begins after a random time, not after a number of rounds (`rounds_since_bw_probe` is never incremented).
//!   After Startup, and as long as probes increase the rate by a fifteenth, the next probe comes within 250 ms and a
//!   round trip (`do_rapid_start`).
//! - Startup begins again if the rate exceeds 1.5 times its value at the start of the ProbeBW cycles
//!   (`bw_probe_ceiling`), and after a timeout (`do_handle_suspension`). In QUIC this is the probe timeout (RFC 9002
//!   section 6.2); here it is the retransmission timeout, or a silence of two round trips, as for TCP's tail loss probe
//!   (RFC 8985 section 7.2).
//! - A path is saturated if the delivery rate is below a third of the pacing rate, and the round-trip time above twice
//!   the smallest one. The delivery rate is then taken as the bandwidth (`BBRCheckPathSaturated`).
//! - Each loss removes its segment from the window. Up to three losses in a round otherwise lower only the short-term
//!   bounds. More losses than three, if they also exceed the loss threshold, freeze the window for a round trip
//!   (`IsInflightTooHigh`, `BBROnEnterFastRecovery`).
//!
//! Not implemented: HyStart on paths above 250 ms, careful resume, the response to missing acknowledgements
//! (`BBREnterLostFeedback`), the check if the application has stopped limiting the sender (`BBRCheckAppLimitedEnded`),
//! and the response to marks (`BBRExcessiveEcnCE`; it is that of Linux, as with the draft's rules).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::machine::{Machine, State, per_second};
use super::model::{Aggregation, Flight, MIN_RTT_AGE, MinRtt};
use super::rules::Rules;
use crate::algorithms::bbr::{Episode, FullPipe, Sample, larger};
use crate::facts::AckSample;
use crate::recent_rtts::{RecentRtts, SAMPLES};
use crate::window::Window;

/// Divisor of the smallest round-trip time. A sample is long if it exceeds the smallest round-trip time by more than
/// the quotient plus `MARGIN` (`PICOQUIC_MINRTT_MARGIN`).
const GROWTH: u64 = 4;
const MARGIN: Span = Span::from_micros(128);

/// Threshold of the smallest round-trip time. If the smallest round-trip time is at most this threshold, no sample
/// counts as long (`PICOQUIC_MINRTT_THRESHOLD`).
const SHORTEST: Span = Span::from_micros(128);

/// Fraction of the smallest round-trip time. A margin is the sum of this fraction and the transmission time of
/// `LIKE_PACKETS` packets (`BBRAdaptMinRttMargin`). A sample postpones ProbeRTT if it exceeds the smallest round-trip
/// time by less than the margin.
const LIKE: f64 = 5e-4;
const LIKE_PACKETS: f64 = 2.0;

/// Threshold of the smallest round-trip time. Above it, the times between probes are multiples of the smallest
/// round-trip time (`BBRLongRttThreshold`).
const LONG: Span = Span::from_millis(250);

/// Multiple of the rate at the start of the ProbeBW cycles. Startup begins again if the rate exceeds this multiple.
const CEILING: f64 = 1.5;

/// Factor by which a probe must increase the rate for the next probe to come early.
const PROBE_GROWTH: f64 = 16.0 / 15.0;
/// Maximum number of successive probes with less growth than `PROBE_GROWTH`. After one more such probe, probes no
/// longer come early.
const PROBES: u32 = 3;

/// Number of round trips without an acknowledgement after which the path counts as suspended.
const SILENCE_RTTS: u64 = 2;

/// Maximum number of losses in a flight that do not freeze the window.
const FEW_LOSSES: f64 = 3.0;

/// Segments in flight at which ProbeBW_UP ends, in bandwidth-delay products.
const UP_IN_FLIGHT: f64 = 1.25;

/// Round-trip time above which a path may count as saturated, as a multiple of the smallest round-trip time.
const SATURATED_RTTS: u64 = 2;
/// Ratio of pacing rate to delivery rate above which a path counts as saturated, if the round-trip time is also high.
const SATURATED_RATES: f64 = 3.0;

/// State of picoquic's rules, in addition to that of the state machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Picoquic {
    rtts: RecentRtts,
    /// Number of acknowledgements, since the last reset of this count, at which the seven recent round-trip times were
    /// all long.
    excess: usize,
    /// True if the next probe for bandwidth comes early.
    hurries: bool,
    /// Rate above which Startup begins again, in segments per second.
    ceiling: f64,
    /// Number of segments that had been sent when losses or marks last froze the window. The window is restored when
    /// more have been delivered or lost.
    held_until: u64,
    /// Number of segments that had been delivered when a recovery last froze the window or restored it.
    delivered: u64,
    /// Time of the last acknowledgement.
    heard: Time,
}

impl Picoquic {
    /// Processes an acknowledgement. Not inlined, which leaves more registers to the code for the draft's rules.
    #[inline(never)]
    pub(super) fn on_ack(&mut self, machine: &mut Machine, ack: &AckSample, window: &mut Window) {
        machine.full_update(self, ack, window);
    }

    /// Decides at the end of a probe if the next probes come early: yes if this probe has raised the rate by the factor
    /// `PROBE_GROWTH`; no after more than `PROBES` successive probes with less growth.
    fn note_growth(&mut self, full: &mut FullPipe, max_rate: f64) {
        if max_rate >= PROBE_GROWTH * full.bandwidth {
            *full = FullPipe {
                bandwidth: max_rate,
                rounds: 0,
            };
            self.hurries = true;
            return;
        }
        full.rounds += 1;
        if full.rounds > PROBES {
            full.rounds = 0;
            self.hurries = false;
        }
    }

    /// Counts an acknowledgement if all recent round-trip times are long, that is, above 1.25 `min_rtt` + `MARGIN`.
    /// Resets the count if one of these times is at most `min_rtt`, or if `min_rtt` is at most `SHORTEST`.
    fn count_excess(&mut self, min_rtt: Span) {
        let (shortest, _) = self.rtts.bounds();
        if shortest <= min_rtt || min_rtt <= SHORTEST {
            self.excess = 0;
        } else if shortest > min_rtt + MARGIN + min_rtt / GROWTH {
            self.excess += 1;
        }
    }
}

impl MinRtt {
    /// Updates the smallest round-trip time with the longest of the recent samples (`BBRUpdateMinRTT`). Postpones
    /// ProbeRTT if the shortest recent sample is less than `like` above the smallest round-trip time.
    fn update_as_picoquic(&mut self, rtts: &RecentRtts, like: Span, interval: Span, now: Time) {
        let (shortest, longest) = rtts.bounds();
        self.expired = self.recent.is_some_and(|(_, since)| now > since + interval);
        let shorter = |(recent, _): (Span, Time)| longest < recent;
        if self.expired || !rtts.is_full() || self.recent.is_none_or(shorter) {
            self.recent = Some((longest, now));
        } else if let (Some((min, since)), Some((_, recent_since))) =
            (&mut self.rtt, &mut self.recent)
            && shortest < *min + like
        {
            (*since, *recent_since) = (now, now);
        }
        let Some((recent, _)) = self.recent else {
            return;
        };
        let replace = |(min, since): (Span, Time)| recent < min || now > since + MIN_RTT_AGE;
        if !rtts.is_full() || self.rtt.is_none_or(replace) {
            self.rtt = self.recent;
            self.rtt_s = recent.as_secs_f64();
        }
    }
}

impl Rules for Picoquic {
    const CONSERVES: bool = true;
    const SAMPLES_BEYOND_PROBES: bool = true;

    /// Begins Startup again if no acknowledgement arrived for `SILENCE_RTTS` round trips while segments were in flight.
    fn begin_ack(&mut self, machine: &mut Machine, ack: &AckSample) {
        let before = std::mem::replace(&mut self.heard, ack.now);
        let silent = before > Time::ZERO && ack.now > before + ack.srtt * SILENCE_RTTS;
        if silent && !machine.was_idle && machine.filled {
            self.restart_startup(machine);
        }
    }

    /// Returns true if `losses` show that too many segments were in flight. The number must exceed three. Also, more
    /// than `flight.segments()` segments must have been delivered since the window was last frozen or restored.
    /// `delivered` is the number of all segments that the connection has delivered.
    fn counts(&self, losses: f64, flight: Flight, delivered: u64) -> bool {
        losses > FEW_LOSSES && delivered as f64 - flight.segments() > self.delivered as f64
    }

    /// Begins a new interval of aggregation. In picoquic, every acknowledgement ends the interval, since the expected
    /// number of segments always exceeds the number delivered (`BBRUpdateACKAggregation`).
    fn begin_aggregation(&self, aggregation: &mut Aggregation, now: Time) {
        aggregation.go_on(Aggregation::none(now));
    }

    /// Checks if Startup has filled the pipe (`BBRCheckStartupDone`).
    fn check_full(&mut self, machine: &mut Machine, _ack: &AckSample, sample: &Sample) {
        if machine.state != State::Startup {
            return;
        }
        let long = self.excess > SAMPLES;
        let checks = !machine.filled && sample.round_start && !sample.limited;
        machine.filled |= long || checks && machine.full.is_full(machine.max_rate());
    }

    /// Sets the long-term bound to the number of segments in flight when Startup has filled the pipe. A larger finite
    /// bound is kept. The next probe comes early.
    fn on_full_pipe(&mut self, machine: &mut Machine, flight: Flight) {
        self.hurries = true;
        machine.full.rounds = 0;
        let bound = &mut machine.bounds.long_in_flight;
        let before = if *bound == f64::INFINITY { 0.0 } else { *bound };
        *bound = flight.or_more(before);
    }

    /// Freezes the window after too many losses or marks, or releases it (`BBRCheckRecovery`); ends Drain when the
    /// queue has drained (`BBRCheckDrain`).
    fn drain(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    ) {
        if machine.recovery.is_fast() {
            self.let_go(machine, ack, window);
        } else if machine.recovery.episode.is_none() && machine.is_too_high(self, flight) {
            self.hold(machine, sample, window);
        }
        let is_draining = matches!(machine.state, State::Drain { .. });
        if is_draining && machine.has_drained(sample) {
            machine.start_cycles(self, ack.now);
        }
    }

    fn on_cycles(&mut self, bandwidth: f64) {
        self.ceiling = CEILING * bandwidth;
    }

    /// Returns the wait until the next probe (`BBRPickProbeWait`, `BBRPickProbeWaitEarly`).
    fn wait(&mut self, min_rtt: &MinRtt, drawn: f64) -> Span {
        self.excess = 0;
        let rtt_s = min_rtt.rtt_s;
        let is_long = rtt_s >= LONG.as_secs_f64();
        let wait_s = match (self.hurries, is_long) {
            (true, false) => rtt_s + drawn * LONG.as_secs_f64(),
            (true, true) => rtt_s * (1.0 + drawn),
            (false, false) => 2.0 + drawn,
            (false, true) => rtt_s * (8.0 + 4.0 * drawn),
        };
        Span::from_secs_f64(wait_s)
    }

    fn on_up(&mut self, machine: &mut Machine, ack: &AckSample) {
        self.excess = 0;
        machine.probe.start = ack.now;
    }

    /// Advances the cycle of ProbeBW (`BBRUpdateProbeBWCyclePhase`).
    fn advance_cycle(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        if !machine.filled {
            return;
        }
        machine.adapt_long_bound(self, ack, sample, flight, window);
        let state = machine.state;
        match state {
            State::Down | State::Cruise if machine.is_saturated(ack) => {
                return machine.take_rate_for_the_path_s(ack, flight);
            }
            State::Down | State::Cruise if ack.now > machine.probe.start + machine.probe.wait => {
                machine.full.bandwidth = machine.max_rate();
                return machine.start_refill(0);
            }
            State::Down if machine.is_time_to_cruise(ack) => {
                let max_rate = machine.max_rate();
                self.note_growth(&mut machine.full, max_rate);
                machine.state = State::Cruise;
            }
            State::Refill if sample.round_start => machine.start_up(self, ack, window),
            State::Up if self.is_time_to_go_down(machine, ack) => {
                machine.start_down(self, ack.now);
            }
            _ => {}
        }
        if machine.is_in_cycle() && machine.bandwidth() > self.ceiling {
            self.restart_startup(machine);
        }
    }

    /// Updates the smallest round-trip time, and the count of long round-trip times.
    fn update_min_rtt(&mut self, machine: &mut Machine, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        self.rtts.take(rtt, ack.now);
        let max_rate = machine.max_rate();
        let packets_s = if max_rate > 0.0 {
            LIKE_PACKETS / max_rate
        } else {
            0.0
        };
        let min_rtt = &mut machine.min_rtt;
        let like = Span::from_secs_f64(LIKE * min_rtt.rtt_s + packets_s);
        let interval = match min_rtt.rtt {
            Some((min, _)) if min > LONG => min * 100,
            _ => machine.probe_rtt_interval,
        };
        min_rtt.update_as_picoquic(&self.rtts, like, interval, ack.now);
        if let Some((min, _)) = min_rtt.rtt {
            self.count_excess(min);
        }
    }

    fn on_probe_rtt(&self, min_rtt: &mut MinRtt, ack: &AckSample) {
        min_rtt.measure_anew(ack);
    }

    /// Does nothing: picoquic processes losses when acknowledgements report them.
    fn on_loss(&mut self, _machine: &mut Machine, _window: &Window) {}

    /// Restarts Startup and restores the window at the end of a recovery from a timeout. Does nothing at the end of
    /// other recoveries.
    fn on_recovery_exit(&mut self, machine: &mut Machine, window: &mut Window) {
        if machine.recovery.episode == Some(Episode::Timeout) {
            self.restart_startup(machine);
            self.delivered = machine.meter.delivered;
            machine.recovery.exit(window);
        }
    }
}

impl Picoquic {
    /// Restarts Startup, with the current window.
    fn restart_startup(&mut self, machine: &mut Machine) {
        machine.reset_full(0.0);
        machine.filled = false;
        self.hurries = true;
        machine.state = State::Startup;
    }

    /// Freezes the window for a round trip after too many losses or marks, at the number of segments in flight plus the
    /// newly delivered ones.
    fn hold(&mut self, machine: &mut Machine, sample: &Sample, window: &mut Window) {
        machine.recovery.enter(window, machine.is_probing_rtt());
        let held = sample.in_flight + larger(sample.newly_delivered, 1.0);
        window.set_cwnd(held);
        self.held_until = machine.meter.sent();
        self.delivered = machine.meter.delivered;
    }

    /// Restores the window after it was frozen for a round trip. Also postpones ProbeRTT, and ends ProbeBW_UP.
    fn let_go(&mut self, machine: &mut Machine, ack: &AckSample, window: &mut Window) {
        if machine.meter.answered() <= self.held_until {
            return;
        }
        self.delivered = machine.meter.delivered;
        machine.recovery.exit(window);
        machine.min_rtt.put_off(ack.now);
        if machine.is_probing_up() {
            machine.start_down(self, ack.now);
        }
    }

    fn is_time_to_go_down(&self, machine: &Machine, ack: &AckSample) -> bool {
        let Some((min, _)) = machine.min_rtt.rtt else {
            return false;
        };
        let most = || machine.budget(machine.carried(machine.max_rate(), UP_IN_FLIGHT));
        ack.now > machine.probe.start + min
            && min > SHORTEST
            && (self.excess > 0 || ack.in_flight as f64 > most())
    }
}

impl Machine {
    /// Returns true if the path is saturated (`BBRCheckPathSaturated`): the round-trip time is well above the minimum,
    /// and the pacing rate well above the delivery rate.
    fn is_saturated(&self, ack: &AckSample) -> bool {
        let (Some(rtt), Some((min, _)), Some(rate)) =
            (ack.rtt, self.min_rtt.rtt, ack.delivery_rate)
        else {
            return false;
        };
        let paced = self.pacer.segments_per_s.unwrap_or(0.0);
        rtt > min * SATURATED_RTTS
            // A cycle begins with zero or one round, at random. Saturation is detected only in the latter case.
            && self.probe.rounds >= 1
            && paced > SATURATED_RATES * rate.per_second()
    }

    fn take_rate_for_the_path_s(&mut self, ack: &AckSample, flight: Flight) {
        let rate = per_second(ack);
        self.rates = [rate; 2];
        self.full.bandwidth = rate;
        self.recovery.good_cwnd = flight.segments();
        self.probe.stopping = true;
        self.start_drain();
        self.meter.restart_round();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bbr::Bbr3;
    use crate::algorithms::bbr::flow::{Flow, RTT};
    use crate::algorithms::bbr::v3::Form;
    use crate::algorithms::bbr3::ENTRY;
    use crate::congestion_control::CongestionControl;
    use crate::facts::Idle;
    use crate::parameter::Variant;

    const MS: Span = Span::from_millis(1);
    const TWO_MS: Span = Span::from_millis(2);

    fn flow() -> Flow<Bbr3> {
        let settings = ENTRY.settings(Variant::Picoquic, &[]).unwrap();
        Flow::new(Bbr3::new(&settings))
    }

    /// Passes `count` acknowledgements of one segment each, 2 ms apart, with round-trip times of `rtt_ms`.
    fn acks(flow: &mut Flow<Bbr3>, count: u32, rtt_ms: u64) {
        flow.ack.rtt = Some(Span::from_millis(rtt_ms));
        let in_flight = flow.ack.in_flight;
        (0..count).for_each(|_| flow.acked(1, 0, 1000.0, in_flight, TWO_MS));
        flow.ack.rtt = Some(RTT);
    }

    /// Returns a flow that cruises on a path of 1000 segments per second, with 100 in flight.
    fn cruising() -> Flow<Bbr3> {
        let mut flow = flow();
        flow.round(500.0, 200);
        flow.rounds(8, 1000.0, 200);
        assert!(matches!(flow.bbr.machine.state, State::Drain { .. }));
        // The segments in flight are 15 % fewer than the path carries at that rate.
        flow.round(1000.0, 85);
        flow.acked(1, 0, 1000.0, 85, MS);
        assert_eq!(flow.bbr.machine.state, State::Cruise);
        flow
    }

    /// Sets the time of the last acknowledgement.
    fn hears(flow: &mut Flow<Bbr3>, time: Time) {
        let Form::Picoquic(picoquic) = &mut flow.bbr.form else {
            unreachable!("picoquic's");
        };
        picoquic.heard = time;
    }

    fn going_up() -> Flow<Bbr3> {
        let mut flow = cruising();
        let wait = flow.bbr.machine.probe.wait;
        let heard = flow.ack.now + wait;
        hears(&mut flow, heard);
        flow.acked(1, 0, 1000.0, 100, wait + MS);
        assert_eq!(flow.bbr.machine.state, State::Refill);
        flow.round(1000.0, 100);
        assert_eq!(flow.bbr.machine.state, State::Up);
        flow
    }

    /// Checks that fourteen long round-trip times end Startup: after seven, all recent samples are long, and they must
    /// still be long at seven more acknowledgements. On a path of 100 ms, samples of 125 ms are not long, because the
    /// increase must exceed a quarter plus a margin.
    #[test]
    fn grown_round_trips_end_startup() {
        for (rtt_ms, count, ends) in [(126, 14, true), (126, 13, false), (125, 60, false)] {
            let mut flow = flow();
            flow.ack.in_flight = 1_000;
            acks(&mut flow, 10, 100);
            acks(&mut flow, count, rtt_ms);
            // The next acknowledgement includes the check for the preceding ones.
            acks(&mut flow, 1, rtt_ms);
            assert_eq!(flow.bbr.machine.filled, ends, "{rtt_ms} {count}");
        }
    }

    /// Checks that six short samples do not lower the smallest round-trip time while the seventh is long. The longest
    /// of seven samples updates the smallest round-trip time, so that jitter does not lower it.
    #[test]
    fn jitter_does_not_lower_the_smallest_round_trip_time() {
        let mut flow = flow();
        flow.ack.in_flight = 1_000;
        acks(&mut flow, 7, 100);
        acks(&mut flow, 6, 60);
        assert_eq!(flow.bbr.machine.min_rtt.rtt.unwrap().0, RTT);
        acks(&mut flow, 1, 61);
        assert_eq!(
            flow.bbr.machine.min_rtt.rtt.unwrap().0,
            Span::from_millis(61)
        );
    }

    /// Checks the end of a probe: at long round-trip times or with 1.25 bandwidth-delay products in flight, but not
    /// before a round trip has passed. A plateau of the rate does not end a probe.
    #[test]
    fn a_probe_ends_when_round_trips_grow_or_with_much_in_flight() {
        let mut flow = going_up();
        flow.rounds(6, 1000.0, 110);
        assert_eq!(flow.bbr.machine.state, State::Up);
        acks(&mut flow, 8, 130);
        assert_eq!(flow.bbr.machine.state, State::Down);

        let mut flow = going_up();
        flow.acked(1, 0, 1000.0, 160, MS);
        assert_eq!(flow.bbr.machine.state, State::Up);
        flow.acked(1, 0, 1000.0, 160, RTT);
        assert_eq!(flow.bbr.machine.state, State::Down);
    }

    /// Checks that the next probe comes within 250 ms and a round trip while probes increase the rate. After four
    /// successive increases of less than a fifteenth, probes no longer come early.
    #[test]
    fn probes_come_early_while_they_bring_more() {
        let mut picoquic = Picoquic {
            hurries: true,
            ..Picoquic::default()
        };
        let min_rtt = MinRtt {
            rtt: Some((RTT, Time::ZERO)),
            rtt_s: 0.1,
            ..MinRtt::default()
        };
        let mut full = FullPipe {
            bandwidth: 1000.0,
            rounds: 0,
        };
        let mut wait = |rates: &[f64]| {
            for &rate in rates {
                picoquic.note_growth(&mut full, rate);
            }
            picoquic.wait(&min_rtt, 0.5)
        };
        assert_eq!(wait(&[1000.0; 3]), Span::from_millis(225));
        assert_eq!(wait(&[1000.0]), Span::from_millis(2_500));
        assert_eq!(wait(&[1067.0]), Span::from_millis(225));
    }

    #[test]
    fn startup_begins_again_far_above_the_first_rate_and_after_silence() {
        let mut flow = cruising();
        flow.acked(1, 0, 1_490.0, 90, MS);
        assert_eq!(flow.bbr.machine.state, State::Cruise);
        flow.acked(1, 0, 1_510.0, 90, MS);
        flow.acked(1, 0, 1_510.0, 90, MS);
        assert_eq!(
            (flow.bbr.machine.state, flow.bbr.machine.filled),
            (State::Startup, false)
        );

        for (silence_ms, state) in [(200, State::Cruise), (201, State::Startup)] {
            let mut flow = cruising();
            flow.bbr.machine.probe.wait = Span::from_secs(9);
            flow.acked(1, 0, 900.0, 90, Span::from_millis(silence_ms));
            assert_eq!(flow.bbr.machine.state, state);
        }
        let mut flow = cruising();
        flow.bbr.machine.probe.wait = Span::from_secs(9);
        flow.bbr.on_idle(&Idle::of(RTT), &mut flow.window);
        flow.acked(1, 0, 900.0, 90, Span::from_secs(1));
        assert_eq!(
            flow.bbr.machine.state,
            State::Cruise,
            "there was nothing to send"
        );
    }

    /// Checks that more than three losses in a flight, and more than 2 %, freeze the window for a round trip, at the
    /// number of segments in flight plus the newly delivered ones. Then the window is restored.
    #[test]
    fn many_losses_hold_the_window_for_a_round_trip() {
        let mut flow = cruising();
        flow.bbr.machine.bounds.long_in_flight = 1_000.0;
        flow.round(1000.0, 90);
        let before = flow.window.cwnd();
        flow.lose();
        flow.acked(1, 3, 1000.0, 90, MS);
        assert!(!flow.bbr.machine.is_conserving::<Picoquic>());
        assert_eq!(flow.window.cwnd(), before - 3.0 + 1.0);
        flow.acked(1, 1, 1000.0, 86, MS);
        assert!(flow.bbr.machine.is_conserving::<Picoquic>());
        assert_eq!(flow.window.cwnd(), 87.0);
        flow.acked(86, 0, 1000.0, 86, RTT);
        assert!(flow.bbr.machine.is_conserving::<Picoquic>());
        flow.acked(1, 0, 1000.0, 86, MS);
        assert!(!flow.bbr.machine.is_conserving::<Picoquic>());
        assert!(flow.window.cwnd() >= before - 2.0);
    }

    /// Checks that each ACK begins a new interval of ACK aggregation (`BBRUpdateACKAggregation`). The segments in
    /// excess of the expected number are then only the 7 of the last burst. In the draft, the 5 of an earlier burst
    /// count, too.
    #[test]
    fn each_acknowledgement_begins_an_aggregation() {
        let now = Time::ZERO + MS;
        let mut aggregation = Aggregation {
            delivered: 5.0,
            ..Aggregation::default()
        };
        let extra = |aggregation: &Aggregation| aggregation.with(now, 7.0, 1000.0, 100.0).extra;
        // 5 + 7 segments, less the one that is expected in a millisecond.
        assert_eq!(extra(&aggregation), 11.0);
        Picoquic::default().begin_aggregation(&mut aggregation, now);
        assert_eq!(extra(&aggregation), 7.0);
    }

    /// Checks that a saturated path sets the bandwidth estimate to the delivery rate of 300 segments per second.
    #[test]
    fn a_saturated_path_has_the_rate_that_it_delivers() {
        // A path is not saturated in a cycle that begins at zero rounds, or at a round-trip time of only twice the
        // minimum.
        for (rounds, rtt_ms, max_rate) in [(1, 201, 300.0), (0, 201, 1000.0), (1, 200, 1000.0)] {
            let mut flow = cruising();
            flow.bbr.machine.probe.rounds = rounds;
            flow.bbr.machine.probe.wait = Span::from_secs(9);
            flow.ack.rtt = Some(Span::from_millis(rtt_ms));
            flow.acked(1, 0, 300.0, 90, MS);
            assert_eq!(flow.bbr.machine.max_rate(), max_rate, "{rounds} {rtt_ms}");
        }
    }
}

//! BBR, version 3, as picoquic has it (picoquic/bbr.c, August 2026), where it differs from the draft:
//!
//! - The smallest round-trip time is that of the longest of seven samples, which jitter does not lower
//!   (`BBRUpdateMinRTT`); while samples are close to it no probe for it is due.
//! - When all seven are a quarter longer, Startup ends (`RTTJitterBufferStartup`), and probing up does after a round-trip
//!   time, as it does with 1.25 bandwidth-delay products in flight (`do_exit_probeBW_up_on_delay`). A plateau of the rate
//!   does not end it.
//! - A cycle is as long as its clock says; rounds are not counted (`rounds_since_bw_probe` is never incremented). After
//!   Startup, and while a probe brings a sixteenth more, the next one comes within 250 ms and a round trip
//!   (`do_rapid_start`).
//! - Beyond 1.5 times the rate at which the cycles began, Startup begins again (`bw_probe_ceiling`); after a timeout, too
//!   (`do_handle_suspension`). QUIC's timer is that of the probe (RFC 9002 section 6.2): a silence of two round trips is
//!   one here, as for TCP's tail loss probe (RFC 8985 section 7.2).
//! - A rate of a third of the pacing rate at twice the round-trip time is taken for the path's (`BBRCheckPathSaturated`).
//! - Losses count from the fourth in a flight on, and hold the window for a round trip (`IsInflightTooHigh`,
//!   `BBROnEnterFastRecovery`); each takes its segment off the window.
//!
//! Left out: HyStart on paths above 250 ms, careful resume, lost feedback and the end of a limit by the application.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::model::{Bounds, Flight, MIN_RTT_AGE, MinRtt};
use super::{Bbr3, State, per_second};
use crate::algorithms::bbr::{Episode, FullPipe, Sample, larger};
use crate::facts::AckSample;
use crate::recent_rtts::{RecentRtts, SAMPLES};
use crate::window::{Change, Window};

/// Part of the smallest round-trip time, and time besides, by which longer ones have grown (`PICOQUIC_MINRTT_MARGIN`).
const GROWTH: u64 = 4;
const MARGIN: Span = Span::from_micros(128);

/// Round-trip times below this say nothing (`PICOQUIC_MINRTT_THRESHOLD`).
const SHORTEST: Span = Span::from_micros(128);

/// Part of the smallest round-trip time, and packets besides, within which others are like it (`BBRAdaptMinRttMargin`).
const LIKE: f64 = 5e-4;
const LIKE_PACKETS: f64 = 2.0;

/// Above this other intervals count, in round-trip times (`BBRLongRttThreshold`).
const LONG: Span = Span::from_millis(250);

/// Multiple of the rate when cycles began above which Startup begins again.
const CEILING: f64 = 1.5;

/// Growth of the rate by a probe after which the next one comes early, and probes without it until they do no longer.
const PROBE_GROWTH: f64 = 16.0 / 15.0;
const PROBES: u32 = 3;

/// Round trips without an acknowledgement after which what is in flight is probed for.
const SILENCE_RTTS: u64 = 2;

/// Losses of a flight that do not count.
const FEW_LOSSES: f64 = 3.0;

/// Bandwidth-delay products in flight at which probing up ends.
const UP_IN_FLIGHT: f64 = 1.25;

/// A path is saturated at so many times the smallest round-trip time, and the pacing rate that many times the rate.
const SATURATED_RTTS: u64 = 2;
const SATURATED_RATES: f64 = 3.0;

/// What picoquic's BBR knows besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Picoquic {
    rtts: RecentRtts,
    /// Acknowledgements after which all recent round-trip times had grown, since the last after which one had not.
    excess: usize,
    /// Whether the next probe comes early.
    hurries: bool,
    /// Rate above which Startup begins again: segments per second.
    ceiling: f64,
    /// Segments sent when the window was last held for losses, until which are answered, and delivered when it was last held
    /// or let go.
    held_until: u64,
    delivered: u64,
    /// When the last acknowledgement came.
    heard: Time,
}

impl Picoquic {
    /// Whether so many losses in a flight count: those of segments sent since the window was last held or let go.
    pub(super) fn counts(&self, losses: f64, flight: Flight, delivered: u64) -> bool {
        losses > FEW_LOSSES && delivered as f64 - flight.segments() > self.delivered as f64
    }

    /// Startup, or Startup begun again, has filled the pipe: what is in flight is the first long-term bound.
    pub(super) fn on_full_pipe(
        &mut self,
        full: &mut FullPipe,
        bounds: &mut Bounds,
        flight: Flight,
    ) {
        self.hurries = true;
        full.rounds = 0;
        if bounds.long_in_flight == f64::INFINITY {
            bounds.long_in_flight = 0.0;
        }
        bounds.long_in_flight = flight.or_more(bounds.long_in_flight);
    }

    /// The cycles begin, at this bandwidth.
    pub(super) fn on_cycle(&mut self, bandwidth: f64) {
        self.ceiling = CEILING * bandwidth;
    }

    /// Probing up begins.
    pub(super) fn on_probe(&mut self) {
        self.excess = 0;
    }

    /// How long to wait for the next probe (`BBRPickProbeWait`, `BBRPickProbeWaitEarly`), with a number drawn from 0 to 1.
    pub(super) fn wait(&mut self, min_rtt: &MinRtt, drawn: f64) -> Span {
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

    /// A probe is over: whether it brought more decides when the next one comes.
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

    /// Counts acknowledgements after which all recent round-trip times are long.
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
    /// `BBRUpdateMinRTT`: by the longest of the recent samples; times close to the smallest put off the probe for it.
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

impl Bbr3 {
    /// The smallest round-trip time, and whether recent ones are long.
    pub(super) fn update_min_rtt(&mut self, ack: &AckSample) {
        let max_rate = self.max_rate();
        let Some(picoquic) = &mut self.picoquic else {
            return self.min_rtt.update(ack, self.probe_rtt_interval);
        };
        let Some(rtt) = ack.rtt else { return };
        picoquic.rtts.take(rtt, ack.now);
        let packets_s = if max_rate > 0.0 {
            LIKE_PACKETS / max_rate
        } else {
            0.0
        };
        let like = Span::from_secs_f64(LIKE * self.min_rtt.rtt_s + packets_s);
        let interval = match self.min_rtt.rtt {
            Some((min, _)) if min > LONG => min * 100,
            _ => self.probe_rtt_interval,
        };
        self.min_rtt
            .update_as_picoquic(&picoquic.rtts, like, interval, ack.now);
        if let Some((min, _)) = self.min_rtt.rtt {
            picoquic.count_excess(min);
        }
    }

    /// `BBRCheckStartupDone`.
    pub(super) fn check_full_as_picoquic(&mut self, sample: &Sample) {
        if self.state != State::Startup {
            return;
        }
        let long = self.picoquic.as_ref().is_some_and(|p| p.excess > SAMPLES);
        let checks = !self.filled && sample.round_start && !sample.limited;
        self.filled |= long || checks && self.full.is_full(self.max_rate());
    }

    /// Notes when an acknowledgement comes: after a silence, while something was in flight, Startup begins again.
    pub(super) fn note_silence(&mut self, ack: &AckSample) {
        let was_idle = self.was_idle;
        let Some(picoquic) = &mut self.picoquic else {
            return;
        };
        let before = std::mem::replace(&mut picoquic.heard, ack.now);
        let silent = before > Time::ZERO && ack.now > before + ack.srtt * SILENCE_RTTS;
        if silent && !was_idle && self.filled {
            self.restart_startup();
        }
    }

    /// Startup begins again, with the window that there is.
    fn restart_startup(&mut self) {
        self.reset_full(0.0);
        self.filled = false;
        if let Some(picoquic) = &mut self.picoquic {
            picoquic.hurries = true;
        }
        self.state = State::Startup;
    }

    /// `BBRCheckRecovery` and `BBRCheckDrain`.
    pub(super) fn recover_and_drain_as_picoquic(
        &mut self,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    ) {
        if self.is_conserving() {
            self.let_go_as_picoquic(ack, window);
        } else if self.recovery.episode.is_none() && self.is_too_high(flight) {
            self.hold_as_picoquic(sample, window);
        }
        let is_draining = matches!(self.state, State::Drain { .. });
        if is_draining && sample.in_flight <= self.budget(self.carried(self.bandwidth(), 1.0)) {
            self.start_cycle(ack.now);
        }
    }

    /// Too many losses: what is in flight is the window for a round trip.
    fn hold_as_picoquic(&mut self, sample: &Sample, window: &mut Window) {
        self.recovery.enter(window, self.is_probing_rtt());
        let held = sample.in_flight + larger(sample.newly_delivered, 1.0);
        window.set_cwnd(held, Change::Reduction);
        if let Some(picoquic) = &mut self.picoquic {
            picoquic.held_until = self.meter.sent();
            picoquic.delivered = self.meter.delivered;
        }
    }

    /// The round trip is over: the window is what it was.
    fn let_go_as_picoquic(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(picoquic) = &mut self.picoquic else {
            return;
        };
        if self.meter.answered() <= picoquic.held_until {
            return;
        }
        picoquic.delivered = self.meter.delivered;
        self.recovery.exit(window);
        self.min_rtt.put_off(ack.now);
        if self.is_probing_up() {
            self.start_down(ack.now);
        }
    }

    /// Whether losses hold the window.
    pub(super) fn is_conserving(&self) -> bool {
        self.picoquic.is_some() && self.recovery.is_fast()
    }

    /// The transport's recovery is over, which is nothing to picoquic's unless it came by a timeout; whether it did.
    pub(super) fn ends_timeout_as_picoquic(&mut self) -> bool {
        let ends = self.recovery.episode == Some(Episode::Timeout);
        if ends {
            self.restart_startup();
            if let Some(picoquic) = &mut self.picoquic {
                picoquic.delivered = self.meter.delivered;
            }
        }
        ends
    }

    /// The window; without what was lost (`BBRModulateCwndForRecovery`).
    pub(super) fn window_after_losses(&self, sample: &Sample, window: &Window) -> f64 {
        if self.picoquic.is_none() {
            return window.cwnd();
        }
        larger(window.cwnd() - sample.newly_lost, 1.0)
    }

    /// `BBRUpdateProbeBWCyclePhase`.
    pub(super) fn advance_cycle_as_picoquic(
        &mut self,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        if !self.filled {
            return;
        }
        self.adapt_long_bound(ack, sample, flight, window);
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_saturated(ack) => {
                return self.take_rate_for_the_path_s(ack, flight);
            }
            State::Down | State::Cruise if ack.now > self.probe.start + self.probe.wait => {
                self.full.bandwidth = self.max_rate();
                return self.start_refill(0);
            }
            State::Down if self.is_time_to_cruise(ack) => {
                let max_rate = self.max_rate();
                if let Some(picoquic) = &mut self.picoquic {
                    picoquic.note_growth(&mut self.full, max_rate);
                }
                self.state = State::Cruise;
            }
            State::Refill if sample.round_start => self.start_up(ack, window),
            State::Up if self.is_time_to_go_down_as_picoquic(ack) => self.start_down(ack.now),
            _ => {}
        }
        let ceiling = self.picoquic.as_ref().map_or(f64::INFINITY, |p| p.ceiling);
        if self.is_in_cycle() && self.bandwidth() > ceiling {
            self.restart_startup();
        }
    }

    fn is_time_to_go_down_as_picoquic(&self, ack: &AckSample) -> bool {
        let (Some(picoquic), Some((min, _))) = (&self.picoquic, self.min_rtt.rtt) else {
            return false;
        };
        let most = || self.budget(self.carried(self.max_rate(), UP_IN_FLIGHT));
        ack.now > self.probe.start + min
            && min > SHORTEST
            && (picoquic.excess > 0 || ack.in_flight as f64 > most())
    }

    /// In about half of the cycles, by the number of rounds that was drawn and is not counted further.
    fn is_saturated(&self, ack: &AckSample) -> bool {
        let (Some(rtt), Some((min, _)), Some(rate)) =
            (ack.rtt, self.min_rtt.rtt, ack.delivery_rate)
        else {
            return false;
        };
        let paced = self.pacer.segments_per_s.unwrap_or(0.0);
        rtt > min * SATURATED_RTTS
            && self.probe.rounds >= 1
            && paced > SATURATED_RATES * rate.per_second()
    }

    fn take_rate_for_the_path_s(&mut self, ack: &AckSample, flight: Flight) {
        let rate = per_second(ack);
        self.rates = [rate; 2];
        self.full.bandwidth = rate;
        self.recovery.good_cwnd = flight.segments();
        self.probe.stopping = true;
        self.state = State::Drain {
            since: self.meter.rounds,
        };
        self.meter.restart_round();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bbr::flow::{Flow, RTT};
    use crate::algorithms::bbr3::ENTRY;
    use crate::congestion_control::CongestionControl;
    use crate::parameter::Variant;

    const MS: Span = Span::from_millis(1);
    const TWO_MS: Span = Span::from_millis(2);

    fn flow() -> Flow<Bbr3> {
        let settings = ENTRY.settings(Variant::Picoquic, &[]).unwrap();
        Flow::new(Bbr3::new(&settings))
    }

    /// So many acknowledgements of one segment, 2 ms apart, after round trips of `rtt_ms`.
    fn acks(flow: &mut Flow<Bbr3>, count: u32, rtt_ms: u64) {
        flow.ack.rtt = Some(Span::from_millis(rtt_ms));
        let in_flight = flow.ack.in_flight;
        (0..count).for_each(|_| flow.acked(1, 0, 1000.0, in_flight, TWO_MS));
        flow.ack.rtt = Some(RTT);
    }

    /// On a path of 1000 segments a second, 100 in flight.
    fn cruising() -> Flow<Bbr3> {
        let mut flow = flow();
        flow.round(500.0, 200);
        flow.rounds(8, 1000.0, 200);
        assert!(matches!(flow.bbr.state, State::Drain { .. }));
        // 15 % below what was in flight at that.
        flow.round(1000.0, 85);
        flow.acked(1, 0, 1000.0, 85, MS);
        assert_eq!(flow.bbr.state, State::Cruise);
        flow
    }

    fn going_up() -> Flow<Bbr3> {
        let mut flow = cruising();
        let wait = flow.bbr.probe.wait;
        flow.bbr.picoquic.as_mut().unwrap().heard = flow.ack.now + wait;
        flow.acked(1, 0, 1000.0, 100, wait + MS);
        assert_eq!(flow.bbr.state, State::Refill);
        flow.round(1000.0, 100);
        assert_eq!(flow.bbr.state, State::Up);
        flow
    }

    /// With the seventh of them all recent ones are long, and with the eighth acknowledgement after which that is so Startup
    /// is over. 125 ms and the margin are not long on a path of 100 ms.
    #[test]
    fn grown_round_trips_end_startup() {
        for (rtt_ms, count, ends) in [(126, 14, true), (126, 13, false), (125, 60, false)] {
            let mut flow = flow();
            flow.ack.in_flight = 1_000;
            acks(&mut flow, 10, 100);
            acks(&mut flow, count, rtt_ms);
            // That acknowledgement is followed by the check of the next.
            acks(&mut flow, 1, rtt_ms);
            assert_eq!(flow.bbr.filled, ends, "{rtt_ms} {count}");
        }
    }

    /// A single short one among long ones is jitter: the smallest is that of the longest of seven.
    #[test]
    fn jitter_does_not_lower_the_smallest_round_trip_time() {
        let mut flow = flow();
        flow.ack.in_flight = 1_000;
        acks(&mut flow, 7, 100);
        acks(&mut flow, 6, 60);
        assert_eq!(flow.bbr.min_rtt.rtt.unwrap().0, RTT);
        acks(&mut flow, 1, 61);
        assert_eq!(flow.bbr.min_rtt.rtt.unwrap().0, Span::from_millis(61));
    }

    /// Not before a round trip has passed; a plateau of the rate says nothing.
    #[test]
    fn a_probe_ends_when_round_trips_grow_or_with_much_in_flight() {
        let mut flow = going_up();
        flow.rounds(6, 1000.0, 110);
        assert_eq!(flow.bbr.state, State::Up);
        acks(&mut flow, 8, 130);
        assert_eq!(flow.bbr.state, State::Down);

        let mut flow = going_up();
        flow.acked(1, 0, 1000.0, 160, MS);
        assert_eq!(flow.bbr.state, State::Up);
        flow.acked(1, 0, 1000.0, 160, RTT);
        assert_eq!(flow.bbr.state, State::Down);
    }

    /// Within a round trip and 250 ms, until four probes in a row brought less than a sixteenth more.
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
        assert_eq!(flow.bbr.state, State::Cruise);
        flow.acked(1, 0, 1_510.0, 90, MS);
        flow.acked(1, 0, 1_510.0, 90, MS);
        assert_eq!((flow.bbr.state, flow.bbr.filled), (State::Startup, false));

        for (silence_ms, state) in [(200, State::Cruise), (201, State::Startup)] {
            let mut flow = cruising();
            flow.bbr.probe.wait = Span::from_secs(9);
            flow.acked(1, 0, 900.0, 90, Span::from_millis(silence_ms));
            assert_eq!(flow.bbr.state, state);
        }
        let mut flow = cruising();
        flow.bbr.probe.wait = Span::from_secs(9);
        flow.bbr.on_idle(RTT, &mut flow.window);
        flow.acked(1, 0, 900.0, 90, Span::from_secs(1));
        assert_eq!(flow.bbr.state, State::Cruise, "there was nothing to send");
    }

    /// From the fourth on, and more than 2 %: what is in flight, and what arrives, is the window for a round trip. Then it
    /// is what it was.
    #[test]
    fn many_losses_hold_the_window_for_a_round_trip() {
        let mut flow = cruising();
        flow.bbr.bounds.long_in_flight = 1_000.0;
        flow.round(1000.0, 90);
        let before = flow.window.cwnd();
        flow.lose();
        flow.acked(1, 3, 1000.0, 90, MS);
        assert!(!flow.bbr.is_conserving());
        assert_eq!(flow.window.cwnd(), before - 3.0 + 1.0);
        flow.acked(1, 1, 1000.0, 86, MS);
        assert!(flow.bbr.is_conserving());
        assert_eq!(flow.window.cwnd(), 87.0);
        flow.acked(86, 0, 1000.0, 86, RTT);
        assert!(flow.bbr.is_conserving());
        flow.acked(1, 0, 1000.0, 86, MS);
        assert!(!flow.bbr.is_conserving());
        assert!(flow.window.cwnd() >= before - 2.0);
    }

    /// A third of the pacing rate at twice the round-trip time, in a cycle that has drawn so.
    #[test]
    fn a_saturated_path_has_the_rate_that_it_delivers() {
        for (rounds, rtt_ms, max_rate) in [(1, 201, 300.0), (0, 201, 1000.0), (1, 200, 1000.0)] {
            let mut flow = cruising();
            flow.bbr.probe.rounds = rounds;
            flow.bbr.probe.wait = Span::from_secs(9);
            flow.ack.rtt = Some(Span::from_millis(rtt_ms));
            flow.acked(1, 0, 300.0, 90, MS);
            assert_eq!(flow.bbr.max_rate(), max_rate, "{rounds} {rtt_ms}");
        }
    }
}

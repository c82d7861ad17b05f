//! A model-based test of all algorithms: for any reports of a transport, the window stays within its bounds.

use longhaul_congestion::registry::{algorithms, slow_starts};
use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, CongestionState, ControllerSpec, Idle, Load,
    Phase, Phases, RateSample, Rounding, RouterFeedback, SlowStart, SlowStartSpec, Timeout, Window,
};
use longhaul_units::{Span, Time};
use proptest::prelude::*;

const CEILING: f64 = 50_000.0;

/// One-way delay of acknowledgements.
const ONE_WAY: Span = Span::from_micros(500);

/// Events that a transport may report.
#[derive(Clone, Debug)]
enum Fact {
    /// A number of acknowledgements, each of the same number of segments and with the same round-trip time.
    Acks {
        count: u16,
        segments: u8,
        rtt_ms: u16,
    },
    Congestion {
        cause: Cause,
        used: f64,
    },
    Timeout {
        keep_ssthresh: bool,
    },
    RecoveryExit,
    Idle {
        ms: u32,
    },
}

fn fact() -> impl Strategy<Value = Fact> {
    let cause = prop_oneof![Just(Cause::Loss), Just(Cause::Nak), Just(Cause::Ecn)];
    prop_oneof![
        8 => (1..3000_u16, 1..4_u8, 1..1000_u16)
            .prop_map(|(count, segments, rtt_ms)| Fact::Acks { count, segments, rtt_ms }),
        3 => (cause, 0.5..=1.0).prop_map(|(cause, used)| Fact::Congestion { cause, used }),
        1 => any::<bool>().prop_map(|keep_ssthresh| Fact::Timeout { keep_ssthresh }),
        1 => Just(Fact::RecoveryExit),
        1 => (1..100_000_u32).prop_map(|ms| Fact::Idle { ms }),
    ]
}

/// Returns a strategy that draws any registered algorithm in any variant, with any slow start and any rounding.
fn flow() -> impl Strategy<Value = CongestionState> {
    let variants = |entry| entry_variants(entry);
    let controllers: Vec<ControllerSpec> = algorithms().iter().flat_map(variants).collect();
    let slow_starts: Vec<SlowStart> = slow_starts()
        .iter()
        .map(|entry| SlowStartSpec {
            kind: entry.kind.to_string(),
            parameters: Vec::new(),
        })
        .map(|spec| spec.build().unwrap())
        .collect();
    let roundings = vec![
        Rounding::Real,
        Rounding::IntegerSsthresh,
        Rounding::IntegerBoth,
    ];
    let choices = (
        prop::sample::select(controllers),
        prop::sample::select(slow_starts),
        prop::sample::select(roundings),
        1.0..20.0,
        2.0..CEILING,
    );
    choices.prop_map(|(controller, slow_start, rounding, cwnd, ssthresh)| {
        let ssthresh = slow_start.initial_ssthresh(ssthresh);
        let window = Window::new(cwnd, ssthresh, CEILING, rounding);
        CongestionState::new(window, slow_start, controller.build().unwrap())
    })
}

fn entry_variants(
    entry: &longhaul_congestion::Entry<longhaul_congestion::Controller>,
) -> Vec<ControllerSpec> {
    let spec = |&variant| ControllerSpec {
        kind: entry.kind.to_string(),
        variant,
        ..ControllerSpec::default()
    };
    entry.variants.iter().map(spec).collect()
}

/// Returns routers' feedback for acknowledgement `number`: XCP's and VCP's in turn, so each algorithm gets its own.
fn feedback(number: u16) -> RouterFeedback {
    match number % 5 {
        0 => RouterFeedback::Xcp { change: 2e3 },
        1 => RouterFeedback::Xcp { change: -3e3 },
        2 => RouterFeedback::Vcp(Load::Low),
        3 => RouterFeedback::Vcp(Load::High),
        _ => RouterFeedback::Vcp(Load::Over),
    }
}

/// The clock and the counters of a transport.
struct Transport {
    state: CongestionState,
    now: Time,
    round: u64,
    min_rtt: Span,
    reduced: bool,
    delivered: u64,
    lost: u64,
    in_recovery: bool,
}

impl Transport {
    fn report(&mut self, fact: &Fact) -> Result<(), TestCaseError> {
        let before = self.state.window.cwnd();
        match *fact {
            Fact::Acks {
                count,
                segments,
                rtt_ms,
            } => self.acks(count, segments, rtt_ms)?,
            Fact::Congestion { cause, used } => {
                self.congestion(cause, (before * used).max(1.0));
                prop_assert!(self.state.window.cwnd() <= before, "a reduction reduces");
            }
            Fact::Timeout { keep_ssthresh } => {
                let event = Timeout {
                    now: self.now,
                    base: before,
                    keep_ssthresh,
                    sent: 0,
                };
                self.reduced = true;
                self.in_recovery = false;
                self.state.on_timeout(&event);
                prop_assert_eq!(self.state.window.cwnd(), 1.0);
            }
            Fact::RecoveryExit => self.state.on_recovery_exit(self.now),
            Fact::Idle { ms } => {
                self.now += Span::from_millis(u64::from(ms));
                let idle = Span::from_millis(u64::from(ms));
                self.state.on_idle(&Idle {
                    now: self.now,
                    time: idle,
                    since_sent: idle,
                });
            }
        }
        let window = &self.state.window;
        prop_assert!(
            (1.0..=CEILING).contains(&window.cwnd()),
            "cwnd {}",
            window.cwnd()
        );
        prop_assert!(window.ssthresh() >= 2.0, "ssthresh {}", window.ssthresh());
        let paces = self.state.pacing_rate().is_some();
        prop_assert!(
            !paces || self.state.may_pace(),
            "paces, and does not say so"
        );
        Ok(())
    }

    fn acks(&mut self, count: u16, segments: u8, rtt_ms: u16) -> Result<(), TestCaseError> {
        let rtt = Span::from_millis(u64::from(rtt_ms));
        self.min_rtt = if self.min_rtt == Span::ZERO {
            rtt
        } else {
            self.min_rtt.min(rtt)
        };
        self.round += 1;
        for number in 0..count {
            self.now += Span::from_micros(10);
            self.delivered += u64::from(segments);
            let ack = AckSample {
                now: self.now,
                acked: u64::from(segments),
                delivered: self.delivered,
                lost: self.lost,
                credit: f64::from(segments),
                rtt: Some(rtt),
                srtt: rtt,
                min_rtt: self.min_rtt,
                one_way_delay: Some(rtt.saturating_sub(ONE_WAY)),
                pair_spacing: Some(Span::from_micros(10)),
                router: Some(feedback(number)),
                ecn_echo: number % 7 == 0,
                in_flight: self.state.window.cwnd() as u64,
                delivery_rate: Some(RateSample::new(self.state.window.cwnd(), rtt)),
                round: self.round,
                round_start: number == 0,
                ..AckSample::ONE_SEGMENT
            };
            let phase = if self.in_recovery {
                Phase::Recovery
            } else if number % 5 == 4 {
                Phase::NoGrowth
            } else {
                self.leaves_slow_start_alone(&ack)?;
                self.state.on_ack(&ack);
                continue;
            };
            let before = self.state.window.cwnd();
            self.state.on_ack_in(&ack, phase);
            let grows = self.state.window.cwnd() > before;
            let controls = self.state.controller().phases() == Phases::All;
            // Actions that are taken once per round trip may be taken in any phase.
            prop_assert!(!grows || controls || ack.round_start, "grows in {phase:?}");
            self.state.halve_rate(&ack);
        }
        if self.in_recovery {
            self.in_recovery = false;
            self.state.on_recovery_exit(self.now);
        }
        Ok(())
    }

    /// Checks that an algorithm without its own slow start adds nothing to the growth of the flow's slow start.
    fn leaves_slow_start_alone(&self, ack: &AckSample) -> Result<(), TestCaseError> {
        let mut window = self.state.window;
        let mut algorithm = self.state.controller().clone();
        if window.in_slow_start() && !ack.round_start {
            algorithm.on_ack(ack, Phase::SlowStart, &mut window);
            let grows = window.cwnd() > self.state.window.cwnd();
            let own = algorithm.phases() != Phases::Avoidance;
            prop_assert!(!grows || own, "grows in the flow's slow start");
        }
        Ok(())
    }

    fn congestion(&mut self, cause: Cause, base: f64) {
        let event = Congestion {
            now: self.now,
            cause,
            base,
            in_flight: base as u64,
            in_slow_start: self.state.window.in_slow_start(),
            first: !self.reduced,
        };
        self.reduced = true;
        self.in_recovery = cause == Cause::Loss;
        self.lost += u64::from(self.in_recovery);
        self.state.on_congestion(&event);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_window_stays_within_its_bounds(
        state in flow(),
        facts in prop::collection::vec(fact(), 1..40),
    ) {
        let mut transport = Transport {
            state,
            now: Time::ZERO,
            round: 0,
            min_rtt: Span::ZERO,
            reduced: false,
            delivered: 0,
            lost: 0,
            in_recovery: false,
        };
        for fact in &facts {
            transport.report(fact)?;
        }
    }
}

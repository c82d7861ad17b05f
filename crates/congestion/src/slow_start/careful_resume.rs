//! Careful Resume: slow start that jumps towards the window of an earlier connection, if the path seems to be the same.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Limit};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<CarefulResume> = Entry {
    kind: "careful-resume",
    title: "Careful Resume",
    description: "Slow start with a window and a round-trip time saved from an earlier connection over the same \
        path. Once the initial window has been acknowledged without losses, and with a round-trip time similar to \
        the saved one, the window jumps to half of the saved window, and the ACKs of the segments sent after the \
        jump then validate it. A loss among these segments reduces the window to half of the data known to fit into \
        the path, and slow start goes on to a part, beta, of that data. It is meant for pacing (tcp.pacing), which \
        spreads the jump over a round trip.",
    law: &[
        "initial window acknowledged, saved_rtt / 2 < min_rtt < 10 saved_rtt: cwnd = min(max_jump, saved_cwnd / 2), no growth for one round trip",
        "pipe = segments in flight at the jump, and all acknowledged since",
        "first segment of the jump acknowledged, or a round trip later: cwnd = in flight, and slow start goes on",
        "loss until the jump's last segment is acknowledged: cwnd = min(cwnd, pipe / 2); after recovery ssthresh = beta * pipe",
    ],
    source: "RFC 9959",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: CarefulResume::new,
};

static PARAMETERS: [Parameter; 4] = [
    Parameter {
        name: "saved_cwnd",
        unit: "segments",
        default: DefaultValue::Fixed(0.0),
        allowed: Range::closed(0.0, 1e9),
        help: "Saved window; 0: none, and slow start is standard.",
        source: "RFC 9959, saved_cwnd",
    },
    Parameter {
        name: "saved_rtt",
        unit: "seconds",
        default: DefaultValue::Fixed(0.0),
        allowed: Range::closed(0.0, 1e3),
        help: "Saved round-trip time; 0: any path counts as the same.",
        source: "RFC 9959, saved_rtt",
    },
    Parameter {
        name: "max_jump",
        unit: "segments",
        default: DefaultValue::Fixed(1e9),
        allowed: Range::closed(1.0, 1e9),
        help: "Largest window to jump to.",
        source: "RFC 9959, max_jump",
    },
    Parameter {
        name: "beta",
        unit: "fraction of what fitted",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::closed(0.5, 1.0),
        help: "Window to which slow start goes on after a loss, as a part of the data known to fit into the path.",
        source: "RFC 9959, Safe Retreat",
    },
];

/// State of Careful Resume (RFC 9959) for one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarefulResume {
    saved_cwnd: f64,
    saved_rtt: Span,
    max_jump: f64,
    beta: f64,
    stage: Stage,
    /// Initial window in segments; `None` before the first acknowledgement.
    initial: Option<f64>,
    /// Number of segments that the path is known to hold (PipeSize): those in flight at the jump, plus those
    /// acknowledged since then.
    pipe: f64,
    /// Number of the connection's segments known to be delivered.
    delivered: u64,
}

/// Phases of RFC 9959.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// Before all segments of the initial window are acknowledged.
    Reconnaissance,
    /// The window has jumped at the time `since`, when `before` segments had been sent. No segment that was sent later
    /// has arrived yet.
    Unvalidated { before: u64, since: Time },
    /// A segment of the jump has arrived, or a round trip has passed since the jump. The phase lasts until `last` of
    /// the connection's segments are delivered or lost.
    Validating { last: u64 },
    /// After a loss or a mark during the jump: the window is reduced. The phase lasts until a recovery ends, or until
    /// another reduction or a timeout.
    SafeRetreat,
    /// Ordinary slow start.
    Normal,
}

impl CarefulResume {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        let saved_cwnd = settings.get("saved_cwnd");
        Ok(Self {
            saved_cwnd,
            saved_rtt: Span::from_secs_f64(settings.get("saved_rtt")),
            max_jump: settings.get("max_jump"),
            beta: settings.get("beta"),
            stage: if saved_cwnd > 0.0 {
                Stage::Reconnaissance
            } else {
                Stage::Normal
            },
            initial: None,
            pipe: 0.0,
            delivered: 0,
        })
    }

    /// Returns true while the window must keep the value that the jump has set.
    #[inline]
    pub(super) fn is_frozen(&self) -> bool {
        matches!(self.stage, Stage::Unvalidated { .. })
    }

    /// Returns true from the jump until the segments sent in it are known to have fitted into the path, or until a
    /// reduction, a timeout or an idle time ends the jump.
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        self.is_frozen() || matches!(self.stage, Stage::Validating { .. })
    }

    /// Processes an acknowledgement of new data in slow start, before the window grows for it.
    pub(super) fn watch(&mut self, ack: &AckSample, window: &mut Window) {
        let arrived = ack.delivered - self.delivered;
        self.count(ack);
        let settled = ack.delivered + ack.lost;
        match self.stage {
            Stage::Reconnaissance => {
                let initial = *self.initial.get_or_insert(window.cwnd());
                if ack.delivered as f64 >= initial {
                    self.look_back(ack, window);
                }
            }
            Stage::Unvalidated { before, since } => {
                if settled <= before && ack.now <= since + ack.srtt {
                    return;
                }
                let flight = (ack.in_flight + arrived) as f64;
                if flight <= self.pipe {
                    // Few segments of the jump were sent, so that the window becomes the number of segments that the
                    // path has carried.
                    window.set_cwnd(self.pipe);
                    self.stage = Stage::Normal;
                } else {
                    window.set_cwnd(flight);
                    let last = settled + ack.in_flight;
                    self.stage = Stage::Validating { last };
                }
            }
            Stage::Validating { last } if settled >= last => self.stage = Stage::Normal,
            Stage::Validating { .. } | Stage::SafeRetreat | Stage::Normal => {}
        }
    }

    /// Decides if the window jumps, once the segments of the initial window have arrived. The window does not jump
    /// after losses, on a different path, or if the jump would not enlarge it. Without data to send, the decision is
    /// deferred.
    fn look_back(&mut self, ack: &AckSample, window: &mut Window) {
        let jump = self.max_jump.min(self.saved_cwnd / 2.0);
        let known = self.saved_rtt == Span::ZERO
            || ack.min_rtt * 2 > self.saved_rtt && ack.min_rtt < self.saved_rtt * 10;
        if ack.lost > 0 || !known || jump <= window.cwnd() {
            self.stage = Stage::Normal;
        } else if ack.limit != Limit::Application {
            self.pipe = ack.in_flight as f64;
            let before = ack.delivered + ack.lost + ack.in_flight;
            let since = ack.now;
            self.stage = Stage::Unvalidated { before, since };
            window.set_cwnd(jump);
        }
    }

    /// Counts the segments that an acknowledgement delivers.
    pub(super) fn count(&mut self, ack: &AckSample) {
        self.pipe += (ack.delivered - self.delivered) as f64;
        self.delivered = ack.delivered;
    }

    /// Processes an acknowledgement in a recovery.
    pub(super) fn on_ack_in_recovery(&mut self, ack: &AckSample) {
        if self.stage == Stage::SafeRetreat {
            self.count(ack);
        }
    }

    /// Reduces the window further after the algorithm has reduced it in a jump, since the path may not have had room
    /// for the segments sent in the jump. Any other reduction ends Careful Resume.
    pub(super) fn on_reduction(&mut self, window: &mut Window) {
        if matches!(
            self.stage,
            Stage::Unvalidated { .. } | Stage::Validating { .. }
        ) {
            let initial = self.initial.unwrap_or(1.0);
            let retreat = (self.pipe / 2.0).max(initial);
            window.reduce_to(retreat.min(window.cwnd()));
            self.stage = Stage::SafeRetreat;
        } else {
            self.stage = Stage::Normal;
        }
    }

    /// Ends the phase of safe retreat, and sets the threshold to `beta` times `pipe`: all segments sent before the loss
    /// was detected have arrived or have been retransmitted.
    pub(super) fn on_recovery_exit(&mut self, window: &mut Window) {
        if self.stage == Stage::SafeRetreat {
            window.set_ssthresh(self.beta * self.pipe);
            self.stage = Stage::Normal;
        }
    }

    /// Ends a jump that has not been validated yet, since a window that was not used says nothing about the path.
    pub(super) fn on_idle_restart(&mut self) {
        if self.is_under_way() {
            self.stage = Stage::Normal;
        }
    }

    /// Ends Careful Resume: after a timeout, the connection starts like any other.
    pub(super) fn on_timeout(&mut self) {
        self.stage = Stage::Normal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_start::SlowStart;
    use crate::window::Rounding;

    fn resume(given: &[(&str, f64)]) -> (CarefulResume, Window) {
        let given: Vec<_> = given.iter().map(|&(key, v)| (key.to_string(), v)).collect();
        let settings = ENTRY.settings(Variant::Paper, &given).unwrap();
        let window = Window::new(10.0, 1e9, 1e9, Rounding::Real);
        (CarefulResume::new(&settings).unwrap(), window)
    }

    fn ack(delivered: u64, in_flight: u64) -> AckSample {
        AckSample {
            now: Time::ZERO + Span::from_millis(100 + delivered),
            delivered,
            in_flight,
            min_rtt: Span::from_millis(100),
            srtt: Span::from_secs(1),
            ..AckSample::ONE_SEGMENT
        }
    }

    /// Checks the example of RFC 9959. With a saved window of 300 segments, the window jumps to 150. A loss then
    /// reduces it to half of the segments known to fit into the path: the 29 in flight at the jump, and 34 acknowledged
    /// since. After the recovery, 91 have been acknowledged since the jump; the threshold is half of 29 + 91.
    #[test]
    fn the_rfc_s_example_retreats_to_half_of_what_fitted() {
        let (mut resume, mut window) = resume(&[("saved_cwnd", 300.0)]);
        resume.watch(&ack(1, 19), &mut window);
        assert_eq!(window.cwnd(), 10.0);
        resume.watch(&ack(10, 29), &mut window);
        assert_eq!((window.cwnd(), resume.pipe), (150.0, 29.0));
        assert!(resume.is_frozen());
        for delivered in 11..=39 {
            resume.watch(&ack(delivered, 150), &mut window);
        }
        assert_eq!(
            (window.cwnd(), resume.pipe),
            (150.0, 58.0),
            "not yet one of the jump"
        );
        for delivered in 40..=44 {
            resume.watch(&ack(delivered, 150 - (delivered - 39)), &mut window);
        }
        assert!(matches!(resume.stage, Stage::Validating { .. }));
        assert_eq!((window.cwnd(), resume.pipe), (150.0, 63.0));
        window.reduce_to(75.0);
        resume.on_reduction(&mut window);
        assert_eq!(window.cwnd(), 31.5);
        resume.on_ack_in_recovery(&ack(44 + 57, 0));
        resume.on_recovery_exit(&mut window);
        assert_eq!((resume.pipe, window.ssthresh()), (120.0, 60.0));
    }

    /// Checks that the window does not jump on a different path, after losses, or if it is already as large as half of
    /// the saved one. A round-trip time of half or of ten times the saved one indicates a different path.
    #[test]
    fn it_does_not_jump_on_another_path() {
        let cwnd_after = |given: &[(&str, f64)], lost| {
            let (mut resume, mut window) = resume(given);
            resume.watch(
                &AckSample {
                    lost,
                    ..ack(10, 29)
                },
                &mut window,
            );
            window.cwnd()
        };
        let saved = |rtt| [("saved_cwnd", 300.0), ("saved_rtt", rtt)];
        assert_eq!(cwnd_after(&saved(0.199), 0), 150.0);
        assert_eq!(cwnd_after(&saved(0.2), 0), 10.0);
        assert_eq!(cwnd_after(&saved(0.0101), 0), 150.0);
        assert_eq!(cwnd_after(&saved(0.01), 0), 10.0);
        assert_eq!(cwnd_after(&saved(0.1), 1), 10.0);
        assert_eq!(cwnd_after(&[("saved_cwnd", 20.0)], 0), 10.0);
        assert_eq!(
            cwnd_after(&[("saved_cwnd", 300.0), ("max_jump", 50.0)], 0),
            50.0
        );
    }

    /// If all segments arrive, the window becomes the number of segments in flight, and slow start continues.
    #[test]
    fn what_arrives_is_validated() {
        let (mut resume, mut window) = resume(&[("saved_cwnd", 300.0)]);
        assert!(!resume.is_under_way());
        resume.watch(&ack(10, 29), &mut window);
        resume.watch(&ack(40, 149), &mut window);
        assert_eq!(resume.stage, Stage::Validating { last: 189 });
        assert!(!resume.is_frozen() && resume.is_under_way());
        resume.watch(&ack(188, 150), &mut window);
        assert_eq!(resume.stage, Stage::Validating { last: 189 });
        resume.watch(&ack(189, 150), &mut window);
        assert_eq!(resume.stage, Stage::Normal);
        assert!(!resume.is_under_way());
    }

    /// Checks that a timeout ends Careful Resume in any phase (RFC 9959). Afterwards, Careful Resume changes neither
    /// the window nor the threshold.
    #[test]
    fn a_timeout_ends_the_resumption() {
        for phase in ["reconnaissance", "unvalidated", "validating", "retreat"] {
            let (mut resume, mut window) = resume(&[("saved_cwnd", 300.0)]);
            if phase != "reconnaissance" {
                resume.watch(&ack(10, 29), &mut window);
            }
            if phase == "validating" {
                resume.watch(&ack(40, 149), &mut window);
            }
            if phase == "retreat" {
                window.reduce_to(75.0);
                resume.on_reduction(&mut window);
            }
            resume.on_timeout();
            assert!(!resume.is_under_way(), "{phase}");
            window.set_cwnd(10.0);
            window.set_ssthresh(8.0);
            resume.watch(&ack(200, 29), &mut window);
            assert_eq!(window.cwnd(), 10.0, "{phase}: no jump");
            resume.on_recovery_exit(&mut window);
            resume.on_reduction(&mut window);
            assert_eq!((window.cwnd(), window.ssthresh()), (10.0, 8.0), "{phase}");
        }
    }

    /// Checks that an idle time ends a jump, since a window that was not used says nothing about the path. An idle time
    /// has no effect before a jump or in safe retreat.
    #[test]
    fn idleness_ends_a_jump() {
        let (mut resume, mut window) = resume(&[("saved_cwnd", 300.0)]);
        resume.on_idle_restart();
        resume.watch(&ack(10, 29), &mut window);
        assert_eq!(window.cwnd(), 150.0);
        let mut slow_start = SlowStart::CarefulResume(Box::new(resume));
        assert!(slow_start.watches(&window));
        slow_start.on_idle_restart();
        window.set_ssthresh(100.0);
        assert!(!slow_start.watches(&window) && !slow_start.lasts(&window));
    }
}

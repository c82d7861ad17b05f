//! Response of a sender to acknowledgements and timeouts. A loss epoch lasts about a round trip,
//! and has at most one reduction of the window.

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, Limit, Phase, Phases, Timeout,
};

use super::{SEGMENT_BYTES, Sender};
use crate::flows::Env;
use crate::network::{Kind, Packet};

impl Sender {
    /// Processes an ACK or NAK; returns true if it completes the file. The last ACK or NAK is not counted and gives no
    /// sample.
    ///
    /// Each ACK or NAK acknowledges one data packet. An ACK or NAK of an epoch before the last loss
    /// or timeout does not change the window (NIST SP 500-282, chapter 3), except with an algorithm
    /// with [`Phases::All`], which may change the window at any time.
    #[inline]
    pub(crate) fn on_ack(&mut self, packet: &Packet, env: &mut Env) -> bool {
        self.remaining -= 1;
        if self.remaining == 0 {
            return true;
        }
        let now = env.network.now;
        let rtt = now.since(packet.created) + env.rtt_excess;
        self.rtt.on_sample(rtt, env.srtt_gain, now);
        self.set_timer(env);
        let number = packet.number();
        // After a timeout, acknowledgements of the packets given up have numbers of at most `highest`.
        self.highest = self.highest.max(number);
        let round_start = number >= self.round_end;
        if round_start {
            self.round += 1;
            self.round_end = self.next;
        }
        let mut sample = AckSample {
            now,
            delivered: self.size - self.remaining,
            rtt: Some(rtt),
            srtt: self.rtt.srtt,
            min_rtt: self.rtt.min,
            in_flight: self.next - self.highest,
            round: self.round,
            round_start,
            segment_bytes: SEGMENT_BYTES,
            ..AckSample::ONE_SEGMENT
        };
        let negative = packet.kind() == Kind::Nak;
        if negative {
            self.interval.naks += 1;
            self.naks += 1;
        }
        if self.feedback.is_some() {
            self.complete(&mut sample, packet, env);
            if self.congestion.controller().phases() == Phases::All {
                self.on_controlled_ack(&sample, number, negative, env);
                self.send(env);
                return false;
            }
        }
        if number >= self.epoch_start && !negative {
            self.on_new_ack(&sample);
        } else {
            self.congestion.on_ack_in(&sample, Phase::NoGrowth);
        }
        if number >= self.epoch_start && negative {
            self.on_loss(env);
        }
        self.send(env);
        false
    }

    /// Adds the delivery rate and the losses to `sample`. If the rest of the file is less than a window, marks the
    /// sender in `sample` as limited by the application. Does nothing for algorithms without feedback.
    fn complete(&mut self, sample: &mut AckSample, packet: &Packet, env: &Env) {
        let Some(feedback) = &mut self.feedback else {
            return;
        };
        // The minimum is of the packets' transit times; samples of the round-trip time may include
        // an excess.
        let min_rtt = self.rtt.min.saturating_sub(env.rtt_excess);
        let (acked, delivered) = (packet.number() - 1, sample.delivered);
        sample.delivery_rate =
            feedback.on_ack(acked, packet.created, delivered, min_rtt, sample.now);
        sample.lost = feedback.lost;
        if self.remaining < self.congestion.window.cwnd() as u64 {
            sample.limit = Limit::Application;
        }
    }

    /// Processes an ACK or NAK for an algorithm with [`Phases::All`]. If a NAK shows a new loss, the
    /// transport responds to the loss before the algorithm is called for the NAK.
    fn on_controlled_ack(&mut self, sample: &AckSample, number: u64, negative: bool, env: &Env) {
        let of_epoch = number >= self.epoch_start;
        if of_epoch && self.take_recovery() {
            self.congestion.on_recovery_exit(sample.now);
        }
        if of_epoch && negative {
            self.on_loss(env);
        }
        let before = self.congestion.window.cwnd();
        let recovers = self
            .feedback
            .as_ref()
            .is_some_and(|feedback| feedback.recovers);
        let phase = if recovers {
            Phase::Recovery
        } else {
            Phase::Avoidance
        };
        self.congestion.on_ack_in(sample, phase);
        self.note_growth(before);
    }

    /// Ends a recovery from losses if there is one, and returns true if there was.
    fn take_recovery(&mut self) -> bool {
        let feedback = self.feedback.as_mut();
        feedback.is_some_and(|feedback| std::mem::take(&mut feedback.recovers))
    }

    /// Updates the window for an ACK of the current epoch. Algorithms that measure delays may reduce it.
    #[inline]
    fn on_new_ack(&mut self, sample: &AckSample) {
        let before = self.congestion.window.cwnd();
        self.congestion.on_ack(sample);
        self.note_growth(before);
    }

    /// Counts the growth of the window by an acknowledgement: from `before` packets to the present size. Notes the
    /// end of the initial slow start.
    #[inline]
    fn note_growth(&mut self, before: f64) {
        let window = &self.congestion.window;
        let growth = window.cwnd() - before;
        self.interval.increases += u32::from(growth > 0.0);
        self.interval.growth += growth.max(0.0);
        self.initial_slow_start &= window.in_slow_start();
    }

    /// Reduces the window for the first NAK of a loss epoch.
    fn on_loss(&mut self, env: &Env) {
        self.congestion.on_congestion(&Congestion {
            now: env.network.now,
            cause: Cause::Nak,
            base: self.congestion.window.cwnd(),
            in_flight: self.next - self.highest,
            in_slow_start: self.congestion.window.in_slow_start(),
            first: self.epoch_start == 0,
        });
        self.epoch_start = self.next;
        self.initial_slow_start = false;
        if let Some(feedback) = &mut self.feedback {
            feedback.recovers = true;
        }
    }

    /// Processes a retransmission timeout: all packets in flight count as lost (NIST SP 500-282, chapters 3 and 5).
    ///
    /// If the last packet in flight was lost, the receiver notices the loss only when the first packet sent after the
    /// timeout arrives. The NAK for this packet reduces the window again, as in the published procedure.
    pub(super) fn on_timeout(&mut self, env: &mut Env) {
        let now = env.network.now;
        self.congestion.on_timeout(&Timeout {
            now,
            base: self.congestion.window.cwnd(),
            keep_ssthresh: false,
            sent: self.size - self.remaining + (self.next - self.highest),
        });
        let window = &mut self.congestion.window;
        // The flow restarts from the initial window, as in initial slow start, instead of one
        // packet.
        window.set_ssthresh(window.ssthresh().max(env.initial_cwnd));
        window.set_cwnd(env.initial_cwnd);
        self.epoch_start = self.next;
        self.highest = self.next;
        if let Some(feedback) = &mut self.feedback {
            feedback.on_timeout();
        }
        self.rtt.back_off(now);
        self.set_timer(env);
        self.initial_slow_start = false;
        self.interval.timeouts += 1;
        self.timeouts += 1;
        self.send(env);
    }
}

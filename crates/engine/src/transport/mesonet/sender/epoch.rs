//! What answers and their absence tell the sending end: at most one reduction per round trip.

use longhaul_congestion::{AckSample, Cause, Change, Congestion, Phase, Timeout};

use super::SendingEnd;
use crate::network::mesonet::{Kind, Packet};
use crate::transport::mesonet::Env;

impl SendingEnd {
    /// An acknowledgement, positive or negative; whether it was the last one needed.
    ///
    /// Each tells of one data packet delivered. Those numbered below the one that was next when a loss
    /// or a timeout was noticed last move no window (spec 004a B.7.1).
    #[inline]
    pub(crate) fn on_answer(&mut self, packet: &Packet, env: &mut Env) -> bool {
        self.left -= 1;
        if self.left == 0 {
            return true;
        }
        let now = env.network.now;
        let rtt = now.since(packet.created);
        self.trips.measure(rtt, env.srtt_gain, now);
        self.set_timer(env);
        let number = packet.number();
        // After a timeout late answers have lower numbers than what has been given up.
        self.highest = self.highest.max(number);
        let round_start = number >= self.round_end;
        let sample = AckSample {
            now,
            delivered: self.size - self.left,
            rtt: Some(rtt),
            srtt: self.trips.srtt,
            min_rtt: self.trips.min,
            in_flight: self.next - self.highest,
            round: self.round,
            round_start,
            segment_bytes: SEGMENT_BYTES,
            ..AckSample::ONE_SEGMENT
        };
        if round_start {
            self.round += 1;
            self.round_end = self.next;
        }
        let negative = packet.kind() == Kind::Nak;
        if negative {
            self.interval.naks += 1;
            self.naks += 1;
        }
        if number >= self.recover && !negative {
            self.open(&sample);
        } else {
            self.congestion.on_ack_in(&sample, Phase::NoGrowth);
        }
        if number >= self.recover && negative {
            self.on_loss(env);
        }
        self.send(env);
        false
    }

    /// A positive acknowledgement opens the window.
    #[inline]
    fn open(&mut self, sample: &AckSample) {
        let before = self.congestion.window.cwnd();
        self.congestion.on_ack(sample);
        let window = &self.congestion.window;
        self.interval.increases += u32::from(window.cwnd() > before);
        self.initial_slow_start &= window.in_slow_start();
    }

    /// The first negative acknowledgement of a round trip.
    fn on_loss(&mut self, env: &Env) {
        self.congestion.on_congestion(&Congestion {
            now: env.network.now,
            cause: Cause::Nak,
            base: self.congestion.window.cwnd(),
            in_flight: self.next - self.highest,
            in_slow_start: self.congestion.window.in_slow_start(),
            first: self.recover == 0,
        });
        self.recover = self.next;
        self.initial_slow_start = false;
    }

    /// No answer came for a whole timeout (spec 004a B.7.6): what is under way is given up.
    ///
    /// If a packet was lost at the end of it, the answer to the first one sent now is negative, and its
    /// number is high enough to reduce the window once more: the published procedure, taken literally.
    pub(super) fn on_timeout(&mut self, env: &mut Env) {
        let now = env.network.now;
        self.congestion.on_timeout(&Timeout {
            now,
            base: self.congestion.window.cwnd(),
            keep_ssthresh: false,
        });
        let window = &mut self.congestion.window;
        // Slow start begins like the first one, not with one packet.
        window.set_ssthresh(window.ssthresh().max(env.initial_cwnd));
        window.set_cwnd(env.initial_cwnd, Change::Timeout);
        self.recover = self.next;
        self.highest = self.next;
        self.trips.back_off(now);
        self.set_timer(env);
        self.initial_slow_start = false;
        self.interval.timeouts += 1;
        self.timeouts += 1;
        self.send(env);
    }
}

/// What a packet stands for where a number of bytes is needed (spec 004a B.2).
const SEGMENT_BYTES: u64 = 1500;

//! An application that sends message by message over one connection, perhaps in answer to what comes
//! back on it.

use longhaul_units::Time;

use super::super::ranges::Ranges;
use super::super::recovery::{LossRecovery, RecoveryAlgorithm, with_recovery};
use super::{Sender, send};
use crate::config::IdleRestart;
use crate::transport::Environment;

impl Sender {
    /// Before the start: the application has nothing to send yet. The configured transfer does not
    /// count.
    pub(crate) fn begin_empty(&mut self) {
        self.tcb.leave_plain();
        self.tcb.begin_empty();
    }

    /// Begins to send over a connection that the other side has opened. The handshake is when the SYN
    /// was answered and when that was acknowledged: a first sample of the round trip.
    pub(crate) fn join(&mut self, handshake: (Time, Time), env: &mut impl Environment) {
        self.tcb.leave_plain();
        let now = env.now();
        self.tcb.begin_empty();
        self.tcb.limit_since = now;
        self.tcb.cwnd_since = now;
        self.tcb.join(handshake);
    }

    /// The application has `bytes` more to send. Returns one past the last segment that holds them.
    pub(crate) fn append(&mut self, bytes: u64, env: &mut impl Environment) -> u64 {
        self.tcb.leave_plain();
        self.tcb.append(bytes);
        self.send_appended(env);
        self.tcb.end
    }

    /// The same for the last time: the connection is closed after it.
    pub(crate) fn append_last(&mut self, bytes: u64, env: &mut impl Environment) -> u64 {
        self.tcb.leave_plain();
        self.tcb.append(bytes);
        self.tcb.end_with(self.tcb.end);
        self.send_appended(env);
        self.tcb.end
    }

    /// Closes behind data of which all is acknowledged, with a FIN in a segment of its own, which is sent
    /// again like any other until it is acknowledged.
    pub(crate) fn send_fin(&mut self, env: &mut impl Environment) {
        self.tcb.leave_plain();
        let now = env.now();
        self.tcb.append_fin();
        self.send_appended(env);
        self.tcb.account_limited_time(now);
        self.tcb.finish = self.tcb.finish.min(now);
    }

    /// Puts the FIN on the last segment, which has not left.
    pub(crate) fn put_fin_on_last(&mut self) {
        self.tcb.leave_plain();
        self.tcb.end_with(self.tcb.end);
    }

    /// Whether what the application gives at once is a single segment.
    pub(crate) fn fits_one_segment(&self, bytes: u64) -> bool {
        bytes <= u64::from(self.tcb.config.mss_bytes)
    }

    /// Whether the application has closed.
    pub(crate) fn has_closed(&self) -> bool {
        self.tcb.fin != u64::MAX
    }

    /// Whether what lies below `next` has the FIN in it.
    pub(crate) fn has_fin_below(&self, next: u64) -> bool {
        next > self.tcb.fin
    }

    /// Whether only the last segment has not left, and nothing before it is in flight once `next` is
    /// acknowledged.
    pub(crate) fn only_last_is_left(&self, next: u64) -> bool {
        next + 1 == self.tcb.end && self.tcb.max_sent == next
    }

    /// Data segments among those below `next`, and among others that have arrived out of order.
    pub(in super::super) fn data_segments(&self, next: u64, out_of_order: &Ranges) -> (u64, u64) {
        let mut segments = (next.saturating_sub(1), out_of_order.total());
        if self.tcb.fin_is_bare() {
            let fin = self.tcb.fin;
            segments.0 -= u64::from(next > fin);
            segments.1 -= u64::from(out_of_order.containing(fin).is_some());
        }
        segments
    }

    /// The application has nothing more to send than it has given.
    pub(crate) fn close(&mut self, env: &mut impl Environment) {
        self.tcb.leave_plain();
        self.tcb.end_with(self.tcb.end);
        self.tcb.check_finish(env);
    }

    /// Whether the SYN has left.
    pub(crate) fn has_started(&self) -> bool {
        self.tcb.nxt > 0
    }

    fn send_appended(&mut self, env: &mut impl Environment) {
        if self.tcb.established {
            self.restart_after_idle(env.now());
            if self.tcb.config.growth_beyond_use {
                let in_flight = with_recovery!(self, recovery => recovery.in_flight(&self.tcb));
                self.tcb.note_write(in_flight);
            }
            self.tcb.integrate_cwnd::<false>(env.now());
            with_recovery!(self, recovery => send(&mut self.tcb, recovery, u32::MAX, false, env));
        }
    }

    /// A window of which nothing was sent for a timeout says nothing about the path any more (RFC 5681 section 4.1), if
    /// the algorithm does not control it. When something was received does not matter: on a connection that is used
    /// again, the request for what is sent next has just arrived.
    fn restart_after_idle(&mut self, now: Time) {
        let tcb = &mut self.tcb;
        if tcb.una < tcb.max_sent || tcb.una == 1 {
            return;
        }
        let idle = tcb.idle(now);
        tcb.congestion.on_idle(&idle);
        if tcb.controls_cwnd {
            return;
        }
        match tcb.config.idle_restart {
            IdleRestart::None => {}
            IdleRestart::InitialWindow if idle.since_sent <= tcb.rtt.timeout() => {}
            IdleRestart::InitialWindow => {
                let cwnd = tcb.congestion.window.cwnd();
                let restart = cwnd.min(tcb.config.initial_window);
                tcb.congestion.restart_after_idle(restart);
            }
            IdleRestart::Halved => tcb.halve_unused(idle.since_sent),
        }
    }

    /// The next segment to be acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.tcb.una
    }

    /// One past the last segment that the application has given.
    pub(crate) fn end(&self) -> u64 {
        self.tcb.end
    }

    /// Whether nothing comes after a segment.
    pub(crate) fn is_last(&self, segment: u64) -> bool {
        segment == self.tcb.fin
    }

    /// Segments in flight or lost.
    pub(crate) fn outstanding(&self) -> u64 {
        self.tcb.max_sent - self.tcb.una
    }

    /// Bytes of the application's in the segments below `next`, which is not acknowledged yet.
    pub(crate) fn bytes_below(&self, next: u64) -> u64 {
        self.tcb.bytes_below(next)
    }

    /// Position in the stream of a segment's first byte: the SYN is byte 0, the data begins with 1.
    pub(crate) fn position(&self, segment: u64) -> u64 {
        u64::from(segment > 0) + self.tcb.bytes_below(segment)
    }

    /// Payload bytes of a segment.
    pub(crate) fn payload_bytes(&self, segment: u64) -> u64 {
        self.tcb.payload_bytes(segment)
    }

    /// Payload bytes of all segments that have left, once each.
    pub(crate) fn sent_once_bytes(&self) -> u64 {
        self.tcb.bytes_below(self.tcb.max_sent)
    }

    /// The same, retransmissions included.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.tcb.sent_payload_bytes()
    }

    /// The acknowledgement number that means "segment `next` is expected": after the last segment
    /// its FIN is acknowledged too.
    pub(crate) fn acknowledgement(&self, next: u64) -> u64 {
        self.position(next) + u64::from(next > self.tcb.fin)
    }

    /// Packets retransmitted, and timeouts, so far.
    pub(crate) fn repairs(&self) -> (u64, u64) {
        let counters = &self.tcb.counters;
        (counters.retransmitted_pkts, counters.timeouts)
    }
}

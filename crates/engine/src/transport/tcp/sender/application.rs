//! The sender's interface to an application that sends messages over one connection, possibly in answer to data of the
//! other direction.

use longhaul_units::Time;

use super::super::ranges::Ranges;
use super::super::recovery::{LossRecovery, RecoveryAlgorithm, with_recovery};
use super::{Sender, send};
use crate::config::IdleRestart;
use crate::transport::Environment;

impl Sender {
    /// Begins without data to send: the application gives data later. To be called before the start; the configured
    /// transfer size is ignored.
    pub(crate) fn begin_empty(&mut self) {
        self.tcb.leave_plain();
        self.tcb.begin_empty();
    }

    /// Begins, without data to send, on a connection opened by the other side. `handshake` contains the time of the
    /// answer to the SYN, and the time of the acknowledgement of this answer. Their difference is the estimator's first
    /// round-trip sample; the statistics of samples do not include it.
    pub(crate) fn join(&mut self, handshake: (Time, Time), env: &mut impl Environment) {
        self.tcb.leave_plain();
        let now = env.now();
        self.tcb.begin_empty();
        self.tcb.limit_since = now;
        self.tcb.cwnd_since = now;
        self.tcb.join(handshake);
    }

    /// Adds `bytes` to the data to send; on an established connection, sends the segments that may leave now. Returns
    /// one past the last segment of these bytes.
    pub(crate) fn append(&mut self, bytes: u64, env: &mut impl Environment) -> u64 {
        self.tcb.leave_plain();
        self.tcb.append(bytes);
        self.send_appended(env);
        self.tcb.end
    }

    /// Adds `bytes` to the data to send as [`Self::append`] does, and closes the stream after them: the last segment
    /// has the FIN. Returns one past the last segment.
    pub(crate) fn append_last(&mut self, bytes: u64, env: &mut impl Environment) -> u64 {
        self.tcb.leave_plain();
        self.tcb.append(bytes);
        self.tcb.end_with(self.tcb.end);
        self.send_appended(env);
        self.tcb.end
    }

    /// Closes the stream with a FIN in a separate segment. The FIN is retransmitted like data until it is acknowledged.
    /// Only for streams whose data has all been acknowledged: they count as finished from now on.
    pub(crate) fn send_fin(&mut self, env: &mut impl Environment) {
        self.tcb.leave_plain();
        let now = env.now();
        self.tcb.append_fin();
        self.send_appended(env);
        self.tcb.account_limited_time(now);
        self.tcb.finish = self.tcb.finish.min(now);
    }

    /// Sets the FIN on the last segment, which must not have been sent yet.
    pub(crate) fn put_fin_on_last(&mut self) {
        self.tcb.leave_plain();
        self.tcb.end_with(self.tcb.end);
    }

    /// Returns true if `bytes` of data, given at once, fit into one segment.
    pub(crate) fn fits_one_segment(&self, bytes: u64) -> bool {
        bytes <= u64::from(self.tcb.config.mss_bytes)
    }

    /// Returns true if the application has closed the stream.
    pub(crate) fn has_closed(&self) -> bool {
        self.tcb.fin != u64::MAX
    }

    /// Returns true if the FIN is in a segment below `next`.
    pub(crate) fn has_fin_below(&self, next: u64) -> bool {
        next > self.tcb.fin
    }

    /// Returns true if all segments except the last one have been sent, and an acknowledgement of `next` acknowledges
    /// all of them.
    pub(crate) fn only_last_is_left(&self, next: u64) -> bool {
        next + 1 == self.tcb.end && self.tcb.max_sent == next
    }

    /// Returns two counts of data segments: those below `next`, and those in `out_of_order`.
    pub(in super::super) fn data_segments(&self, next: u64, out_of_order: &Ranges) -> (u64, u64) {
        let mut segments = (next.saturating_sub(1), out_of_order.total());
        if self.tcb.fin_is_bare() {
            let fin = self.tcb.fin;
            segments.0 -= u64::from(next > fin);
            segments.1 -= u64::from(out_of_order.containing(fin).is_some());
        }
        segments
    }

    /// Closes the stream after the data given so far. Sends nothing: if the last segment has left, only a
    /// retransmission of it has the FIN.
    pub(crate) fn close(&mut self, env: &mut impl Environment) {
        self.tcb.leave_plain();
        self.tcb.end_with(self.tcb.end);
        self.tcb.check_finish(env);
    }

    /// Returns true if the SYN has left.
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

    /// Informs the algorithm of an idle time. Then reduces the window by the rule `idle_restart` if no data was sent
    /// for longer than a timeout (RFC 5681 section 4.1), unless the algorithm controls the window at all times.
    /// Received segments do not end the idle time: on a persistent connection, a request always arrives before the next
    /// data is sent.
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

    /// Returns the next segment to be acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.tcb.una
    }

    /// Returns one past the last segment that the application has given.
    pub(crate) fn end(&self) -> u64 {
        self.tcb.end
    }

    /// Returns true if `segment` is the last one of the transfer, with the FIN.
    pub(crate) fn is_last(&self, segment: u64) -> bool {
        segment == self.tcb.fin
    }

    /// Returns the number of segments that are sent and not cumulatively acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.tcb.max_sent - self.tcb.una
    }

    /// Returns the application's bytes in the segments below `next`, which is at least the acknowledgement number.
    pub(crate) fn bytes_below(&self, next: u64) -> u64 {
        self.tcb.bytes_below(next)
    }

    /// Returns the position in the stream of a segment's first byte: the SYN is byte 0, the data begins with 1.
    pub(crate) fn position(&self, segment: u64) -> u64 {
        u64::from(segment > 0) + self.tcb.bytes_below(segment)
    }

    /// Returns the payload bytes of a segment.
    pub(crate) fn payload_bytes(&self, segment: u64) -> u64 {
        self.tcb.payload_bytes(segment)
    }

    /// Returns the payload bytes of all segments that have left, each counted once.
    pub(crate) fn sent_once_bytes(&self) -> u64 {
        self.tcb.bytes_below(self.tcb.max_sent)
    }

    /// Returns the payload bytes of all packets that have left, retransmissions included.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.tcb.sent_payload_bytes()
    }

    /// Returns the acknowledgement number on the wire when segment `next` is expected. After the last segment it also
    /// covers the FIN.
    pub(crate) fn acknowledgement(&self, next: u64) -> u64 {
        self.position(next) + u64::from(next > self.tcb.fin)
    }

    /// Returns two counts so far: retransmitted packets with data, and timeouts.
    pub(crate) fn repairs(&self) -> (u64, u64) {
        let counters = &self.tcb.counters;
        (counters.retransmitted_pkts, counters.timeouts)
    }
}

//! Counters and time integrals of a connection, the limit that keeps the sender from sending more, and the event log.

use longhaul_congestion::Limit;
use longhaul_units::{PS_PER_S, Time};

use super::ControlBlock;
use crate::measure::{self, EventKind, FlowCounters};
use crate::transport::Environment;
use crate::transport::tcp::regular::usual;

impl ControlBlock {
    /// Records the limit that now keeps the sender from sending more, after the segments from `first` on have left.
    #[inline]
    pub(crate) fn note_limit(&mut self, first: u64, now: Time) {
        let limit = if self.nxt >= self.end {
            Limit::Application
        } else if self.nxt >= self.una + self.peer_window {
            Limit::ReceiveWindow
        } else {
            Limit::Network
        };
        let before = self.limit;
        if limit != before {
            self.account_limited_time(now);
            self.limit = limit;
            if !self.growth_is_watched() {
                self.leave_plain();
            }
        }
        if limit != Limit::Network {
            // Most connections have no part that uses the limit.
            if self.extras.is_some() {
                self.note_unused(before, first);
            }
        }
    }

    /// Records that, after the segments from `first` on have left, the congestion window is not what limits the sender.
    /// `before` is the limit on the sender before these segments left.
    #[inline(never)]
    fn note_unused(&mut self, before: Limit, first: u64) {
        let in_flight = (self.nxt - self.una).saturating_sub(self.sacked_or_dupacked);
        let (until, cwnd) = (self.delivered + in_flight, self.congestion.window.cwnd());
        let sent = (self.una, self.max_sent);
        let limit = self.limit;
        // In this mode, as in Linux, delivery-rate samples become application-limited in `note_write`.
        let at_write = self.config.growth_beyond_use;
        let Some(extras) = &mut self.extras else {
            return;
        };
        if let Some(rate) = extras.rate.as_mut().filter(|_| !at_write) {
            rate.note_limit(limit, until);
        }
        if let Some(usage) = extras
            .usage
            .as_mut()
            .filter(|_| sent.1 > first || before == Limit::Network)
        {
            if before == Limit::Network {
                usage.was_full(first);
            }
            usage.on_sent(sent, in_flight, cwnd);
        }
    }

    /// Records that the application writes data. If the application had nothing left to send, and the window allowed
    /// more than `in_flight` segments, delivery-rate samples become application-limited. Samples stay
    /// application-limited until the segments in flight are delivered (Linux, `tcp_rate_check_app_limited`).
    pub(crate) fn note_write(&mut self, in_flight: u64) {
        let room = (in_flight as f64) < self.congestion.window.cwnd();
        let unused = room && self.limit == Limit::Application;
        let until = (self.delivered + in_flight).max(1);
        if let Some(rate) = self.rate().filter(|_| unused) {
            rate.note_limit(Limit::Application, until);
        }
    }

    pub(crate) fn account_limited_time(&mut self, now: Time) {
        let span = now.since(self.limit_since);
        self.limit_since = now;
        if !self.running() {
            return;
        }
        let limited = &mut self.counters.limited;
        match self.limit {
            Limit::Network => limited.network += span,
            Limit::ReceiveWindow => limited.receive_window += span,
            Limit::Application => limited.application += span,
        }
    }

    /// Returns true if the flow has started and has not finished.
    fn running(&self) -> bool {
        self.max_sent > 0 && self.finish == Time::NEVER
    }

    /// Updates the time integral of the congestion window up to `now`.
    #[inline]
    pub(crate) fn integrate_cwnd<const REGULAR: bool>(&mut self, now: Time) {
        if usual::<REGULAR>(self.running()) {
            // The conversion is from a signed integer, since processors have an instruction for signed integers only.
            let span_ps = now.since(self.cwnd_since).as_ps() as i64 as f64;
            self.cwnd_integral_ps += self.congestion.window.cwnd() * span_ps;
        }
        self.cwnd_since = now;
    }

    #[inline]
    pub(crate) fn check_finish(&mut self, env: &mut impl Environment) {
        if self.una > self.fin && self.finish == Time::NEVER {
            self.account_limited_time(env.now());
            self.finish = env.now();
            self.log(EventKind::Finish, self.congestion.window.cwnd(), env);
        }
    }

    /// Returns the number of data packets sent, retransmissions included. Neither the SYN nor a FIN in a separate
    /// segment counts, since they hold no data.
    pub(crate) fn sent_pkts(&self) -> u64 {
        let bare_fin = self.max_sent > self.fin && self.fin_is_bare();
        self.max_sent.saturating_sub(1) - u64::from(bare_fin) + self.counters.retransmitted_pkts
    }

    /// Returns the payload bytes of the data packets sent.
    pub(crate) fn sent_payload_bytes(&self) -> u64 {
        self.bytes_below(self.max_sent) + self.retransmitted_bytes
    }

    /// Returns the sender's counters up to `now`, without the receiver's.
    pub(crate) fn counters(&mut self, now: Time) -> FlowCounters {
        self.integrate_cwnd::<false>(now);
        self.account_limited_time(now);
        let sent_pkts = self.sent_pkts();
        FlowCounters {
            sent_pkts,
            sent_bytes: self.sent_payload_bytes() + sent_pkts * self.overhead_bytes(),
            rtt_samples: self.trips.samples,
            rtt_sum: self.trips.sum,
            rtt_min: self.trips.min,
            rtt_max: self.trips.max,
            cwnd_integral: self.cwnd_integral_ps / PS_PER_S as f64,
            ..self.counters
        }
    }

    /// Begins to record the state after each acknowledgement. `connection` is the connection's number within its flow
    /// in these records.
    pub(crate) fn trace_as(&mut self, connection: u64) {
        self.extras.get_or_insert_default().traced_as = Some(connection);
    }

    /// Records the state after an acknowledgement, if the connection is traced.
    #[inline]
    pub(crate) fn trace_ack(&self, in_flight: impl FnOnce() -> u64, env: &mut impl Environment) {
        if let Some(extras) = &self.extras
            && let Some(connection) = extras.traced_as
        {
            self.record_state(connection, in_flight(), env);
        }
    }

    #[cold]
    fn record_state(&self, connection: u64, in_flight: u64, env: &mut impl Environment) {
        let (time, flow) = (env.now(), self.flow);
        let mut record = |quantity, value| {
            env.log().traced.push(measure::AckTrace {
                time,
                flow,
                connection,
                quantity,
                value,
            });
        };
        record("cwnd", self.congestion.window.cwnd());
        record("ssthresh", self.congestion.window.ssthresh());
        record("in_flight", in_flight as f64);
        self.congestion.probe(&mut record);
    }

    /// Logs a congestion event; `before` is the congestion window before the event. All segments without a cumulative
    /// acknowledgement count as in flight, even lost or selectively acknowledged ones.
    pub(crate) fn log(&self, kind: EventKind, before: f64, env: &mut impl Environment) {
        let window = &self.congestion.window;
        let time = env.now();
        env.log().push(measure::Event {
            time,
            flow: self.flow,
            kind,
            cwnd_before: before,
            cwnd_after: window.cwnd(),
            ssthresh_after: window.ssthresh(),
            in_flight: self.max_sent - self.una,
        });
    }
}

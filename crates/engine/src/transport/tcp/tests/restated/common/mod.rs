//! The parts of a connection that all restated loss recoveries share: windows (RFC 5681), the timer (RFC 6298), the
//! response to marks (RFC 3168), the growth of unused windows (RFC 7661), and counters. A restated loss recovery is a
//! second implementation, written directly from its source.

mod growth;
mod reductions;

use longhaul_congestion::Limit;
use longhaul_units::{PS_PER_S, Span, Time};

use super::measures::Measures;
use crate::config::{RttClock, Tcp};
use crate::measure::{FlowCounters, FlowSample};
use crate::packet::Flags;

/// An acknowledgement that arrives at the sender.
pub(super) struct Report {
    pub(super) next: u64,
    pub(super) blocks: Vec<(u64, u64)>,
    pub(super) stamp: Time,
    pub(super) echoes: bool,
}

/// A loss recovery, restated from its source.
pub(super) trait Rule {
    /// Returns true during fast recovery.
    fn recovers(&self, connection: &Connection) -> bool;

    fn in_flight(&self, connection: &Connection) -> u64;

    /// Returns the segment that may leave now, if any.
    fn next(&mut self, connection: &mut Connection) -> Option<u64>;

    fn on_sent(&mut self, connection: &mut Connection, segment: u64);

    /// Updates the state once all segments that may leave have been sent. `_new` is true if some of them were new.
    fn after_sending(&mut self, _connection: &mut Connection, _new: bool) {}

    fn on_timeout(&mut self, connection: &mut Connection);

    /// Processes an acknowledgement; returns the maximum number of segments that may leave now.
    fn on_ack(&mut self, connection: &mut Connection, report: &Report) -> u64;

    /// Returns the time at which the timer of this recovery rule expires.
    fn due(&self) -> Time {
        Time::NEVER
    }

    fn on_timer(&mut self, _connection: &mut Connection) {}
}

/// Algorithm of a connection: standard TCP with a different response to losses, or without slow
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Standard TCP. It never paces: segments leave as soon as the window allows.
    Standard,
    Noting,
    /// An algorithm that responds to losses only if there are many.
    Tolerant,
    /// An algorithm that controls the window at all times, without slow start.
    Controlling,
    /// An algorithm that needs the delivery rate, and a round-trip time from every acknowledgement.
    Measuring,
}

impl Algorithm {
    pub(super) const ALL: [Self; 5] = [
        Self::Standard,
        Self::Noting,
        Self::Tolerant,
        Self::Controlling,
        Self::Measuring,
    ];
}

/// Returns true if [`Algorithm::Tolerant`] responds to `lost` losses among `delivered` delivered segments.
pub(super) fn exceeds_tolerance(delivered: u64, lost: u64) -> bool {
    lost > 3 + delivered / 30
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    None,
    Loss,
    Mark,
    Timeout,
    /// A loss whose recovery is complete.
    Over,
}

/// State of a connection.
pub(super) struct Connection {
    pub(super) config: Tcp,
    pub(super) algorithm: Algorithm,
    /// True if the algorithm tolerates the losses of this recovery.
    pub(super) tolerates: bool,
    pub(super) ns2: bool,
    pub(super) now: Time,
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) max_sent: u64,
    pub(super) end: u64,
    pub(super) peer_window: u64,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) dupacks: u32,
    /// Number of segments known to have arrived above `una`: the reported ones or, without SACK, one for each duplicate
    /// acknowledgement.
    pub(super) arrived: u64,
    pub(super) delivered: u64,
    pub(super) delivered_before: u64,
    pub(super) lost: u64,
    /// Cause of the last reduction of the window.
    pub(super) cut: Cut,
    /// One past the highest segment sent before the last reduction of the window.
    pub(super) recover: u64,
    /// True if the current acknowledgement arrived in fast recovery.
    pub(super) came_in_recovery: bool,
    pub(super) samples: u64,
    pub(super) srtt: u64,
    rttvar: u64,
    pub(super) min_rtt: Span,
    min_rtt_is_the_syns: bool,
    base: Span,
    backoff: u64,
    timed: Option<(u64, Time)>,
    pub(super) deadline: Time,
    answers_mark: bool,
    round: u64,
    round_end: u64,
    round_start: bool,
    /// Number of the current round trip, largest flight in this round trip, and largest flight in the previous round
    /// trip. Flights are measured before each acknowledgement.
    peaks: (u64, u64, u64),
    limit: Limit,
    counters: FlowCounters,
    cwnd_ps: f64,
    /// Number of retransmissions of the transfer's final segment.
    last_resent: u64,
    finished: bool,
    measures: Option<Measures>,
    pub(super) sent: Vec<(Time, u64, Flags)>,
    pub(super) told: Vec<String>,
}

impl Connection {
    /// Opens the connection with a round trip of 100 ms.
    pub(super) fn open(config: &Tcp, algorithm: Algorithm, rule: &mut impl Rule) -> Self {
        let trip = Span::from_millis(100);
        let end = config
            .transfer
            .map_or(u64::MAX, |bytes| 1 + bytes.div_ceil(1460));
        let threshold = config
            .initial_ssthresh
            .unwrap_or(config.receive_window as f64);
        let mut connection = Self {
            config: config.clone(),
            algorithm,
            tolerates: false,
            ns2: config.recovery.is_ns2(),
            now: Time::ZERO,
            una: 0,
            nxt: 1,
            max_sent: 1,
            end,
            peer_window: config.receive_window,
            cwnd: config.initial_window,
            ssthresh: threshold,
            dupacks: 0,
            arrived: 0,
            delivered: 0,
            delivered_before: 0,
            lost: 0,
            cut: Cut::None,
            recover: 1,
            came_in_recovery: false,
            samples: 0,
            srtt: 0,
            rttvar: 0,
            min_rtt: Span::ZERO,
            min_rtt_is_the_syns: true,
            base: config.rto.initial,
            backoff: 1,
            timed: Some((0, Time::ZERO)),
            deadline: Time::NEVER,
            answers_mark: false,
            round: 0,
            round_end: 1,
            round_start: false,
            peaks: (0, 0, 0),
            limit: Limit::Network,
            counters: FlowCounters::default(),
            cwnd_ps: 0.0,
            last_resent: 0,
            finished: false,
            measures: (algorithm == Algorithm::Measuring).then(Measures::default),
            sent: Vec::new(),
            told: Vec::new(),
        };
        connection.pass(Time::ZERO + trip);
        connection.cumulative(&Report {
            next: 1,
            blocks: Vec::new(),
            stamp: Time::ZERO,
            echoes: false,
        });
        connection.round_start = false;
        connection.min_rtt_is_the_syns = true;
        connection.send(rule, u64::MAX);
        connection
    }

    /// Lets time pass until `now`, without an event.
    fn pass(&mut self, now: Time) {
        let span = now.since(self.now);
        if !self.finished {
            self.cwnd_ps += self.cwnd * span.as_ps() as f64;
            *match self.limit {
                Limit::Network => &mut self.counters.limited.network,
                Limit::ReceiveWindow => &mut self.counters.limited.receive_window,
                Limit::Application => &mut self.counters.limited.application,
            } += span;
        }
        self.now = now;
    }

    /// Lets time pass until `until`, and processes the timers that expire.
    pub(super) fn run(&mut self, rule: &mut impl Rule, until: Time) {
        loop {
            let next = self.deadline.min(rule.due());
            if next > until {
                return self.pass(until);
            }
            self.pass(next);
            if next == rule.due() {
                rule.on_timer(self);
                self.send(rule, u64::MAX);
            } else {
                self.expire(rule);
            }
        }
    }

    pub(super) fn due(&self, rule: &impl Rule) -> Time {
        self.deadline.min(rule.due())
    }

    pub(super) fn acknowledge(&mut self, rule: &mut impl Rule, report: &Report) {
        self.came_in_recovery = rule.recovers(self);
        self.delivered_before = self.delivered;
        if report.echoes && report.next >= self.una {
            self.answer_mark(report.next);
        }
        let most = rule.on_ack(self, report);
        if most > 0 {
            self.send(rule, most);
        }
        self.finished |= self.una >= self.end;
    }

    fn send(&mut self, rule: &mut impl Rule, most: u64) {
        let mut new = false;
        for _ in 0..most {
            let Some(segment) = rule.next(self) else {
                break;
            };
            new |= segment >= self.nxt;
            self.transmit(segment);
            rule.on_sent(self, segment);
        }
        rule.after_sending(self, new);
        self.note_limit();
    }

    fn note_limit(&mut self) {
        self.limit = if self.nxt >= self.end {
            Limit::Application
        } else if self.nxt >= self.una + self.peer_window {
            Limit::ReceiveWindow
        } else {
            Limit::Network
        };
        if let Some(measures) = self
            .measures
            .as_mut()
            .filter(|_| self.limit != Limit::Network)
        {
            let in_flight = (self.nxt - self.una).saturating_sub(self.arrived);
            measures.note_limit(self.limit, self.delivered + in_flight);
        }
    }

    /// Sends a segment. RFC 3168 section 6.1.5: only new data is ECN-capable; ns-2 sends all
    /// segments as ECN-capable.
    pub(super) fn transmit(&mut self, segment: u64) {
        let new = segment >= self.max_sent;
        let mut flags = Flags::NONE;
        if self.config.ecn.is_on() && (new || self.ns2) {
            flags = Flags::ECT.with_if(Flags::CWR, self.answers_mark);
            self.answers_mark = false;
        }
        if segment + 1 == self.end {
            flags = flags.with(Flags::FIN);
        }
        let first_out = self.una == self.max_sent;
        if let Some(measures) = &mut self.measures {
            measures.on_sent((segment, new), self.delivered, first_out, self.now);
        }
        if new {
            self.max_sent = segment + 1;
            self.timed = self.timed.or(Some((segment, self.now)));
        } else {
            self.counters.retransmitted_pkts += 1;
            self.last_resent += u64::from(segment + 1 == self.end);
        }
        self.sent.push((self.now, segment, flags));
        if first_out || self.deadline == Time::NEVER {
            self.restart_timer();
        }
    }

    pub(super) fn has_new(&self) -> bool {
        self.nxt < self.end && self.nxt < self.una + self.peer_window
    }

    /// Advances `una` for an acknowledgement that arrives outside a recovery or ends a recovery.
    pub(super) fn cumulative(&mut self, report: &Report) {
        self.move_una(report.next);
        self.dupacks = 0;
        self.sample_round_trip(report);
        if self.una < self.max_sent {
            self.restart_timer();
        } else {
            self.deadline = Time::NEVER;
        }
        if self.una >= self.round_end {
            self.round += 1;
            self.round_end = self.max_sent;
            self.round_start = true;
        }
    }

    /// Advances `una` for a partial acknowledgement, which gives no round-trip sample and does not restart the timer.
    pub(super) fn partial(&mut self, next: u64) {
        self.move_una(next);
        if self.timed.is_some_and(|(segment, _)| segment < next) {
            self.timed = None;
            self.backoff = 1;
        }
    }

    fn move_una(&mut self, next: u64) {
        if let Some(measures) = &mut self.measures {
            measures.on_arrived(self.una..next, true);
        }
        self.arrived = self
            .arrived
            .saturating_sub((next - self.una).saturating_sub(1));
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.count_delivered();
    }

    /// Records that a segment is selectively acknowledged for the first time.
    pub(super) fn reported(&mut self, segment: u64) {
        if let Some(measures) = &mut self.measures {
            measures.on_arrived(segment..segment + 1, false);
        }
    }

    /// Sets the number of segments that have arrived above `una`.
    pub(super) fn set_arrived(&mut self, arrived: u64) {
        self.arrived = arrived;
        self.count_delivered();
    }

    /// Counts a duplicate acknowledgement, which shows that one of the segments sent has arrived.
    pub(super) fn duplicate(&mut self) {
        self.dupacks += 1;
        self.set_arrived((self.arrived + 1).min((self.max_sent - self.una).saturating_sub(1)));
    }

    fn count_delivered(&mut self) {
        self.delivered = self.delivered.max(self.una - 1 + self.arrived);
    }

    /// Takes a round-trip sample by RFC 6298 sections 2 and 3, with Karn's rule or timestamps (RFC 7323).
    fn sample_round_trip(&mut self, report: &Report) {
        let rtt = if self.config.timestamps.bytes().is_some() {
            self.now.since(report.stamp)
        } else {
            match self.timed {
                Some((segment, sent)) if segment < report.next => self.now.since(sent),
                _ => return,
            }
        };
        if self.config.timestamps.bytes().is_none() {
            self.timed = None;
        }
        self.lower_min_rtt(rtt);
        let ps = rtt.as_ps();
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (ps, ps / 2);
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(ps)) / 4;
            self.srtt = (7 * self.srtt + ps) / 8;
        }
        let RttClock::Exact { granularity } = self.config.rto.clock else {
            unreachable!("the profile has this clock")
        };
        self.base = Span::from_ps(self.srtt) + Span::from_ps(4 * self.rttvar).max(granularity);
        self.backoff = 1;
        self.samples += 1;
        let counters = &mut self.counters;
        counters.rtt_sum += rtt;
        counters.rtt_max = counters.rtt_max.max(rtt);
        counters.rtt_min = if self.samples == 1 {
            rtt
        } else {
            counters.rtt_min.min(rtt)
        };
    }

    fn lower_min_rtt(&mut self, rtt: Span) {
        if self.min_rtt_is_the_syns || rtt < self.min_rtt {
            self.min_rtt = rtt;
            self.min_rtt_is_the_syns = false;
        }
    }

    pub(super) fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    pub(super) fn restart_timer(&mut self) {
        let rto = &self.config.rto;
        self.deadline = self.now + (self.base.max(rto.min) * self.backoff).min(rto.max);
    }

    /// Restarts the timer for a retransmission, and stops timing a segment: the measured round-trip time would be
    /// ambiguous (Karn's rule).
    pub(super) fn restart_timer_for_retransmission(&mut self) {
        self.restart_timer();
        self.timed = None;
    }

    pub(super) fn sample(&self, rule: &impl Rule) -> FlowSample {
        FlowSample {
            time: self.now,
            flow: 0,
            cwnd: Some(self.cwnd),
            ssthresh: Some(self.ssthresh),
            srtt: Span::from_ps(self.srtt),
            in_flight: rule.in_flight(self),
            sent_pkts: self.max_sent - 1 + self.counters.retransmitted_pkts,
            retransmitted_pkts: self.counters.retransmitted_pkts,
            delivered_bytes: 0,
            in_order_bytes: 0,
        }
    }

    pub(super) fn counters(&self) -> FlowCounters {
        let headers = 40 + u64::from(self.config.timestamps.bytes().unwrap_or(0));
        let sent_pkts = self.max_sent - 1 + self.counters.retransmitted_pkts;
        // The last segment of a transfer is short by a byte.
        let short = u64::from(self.max_sent == self.end) + self.last_resent;
        let payload = sent_pkts * 1460 - short;
        FlowCounters {
            sent_pkts,
            sent_bytes: payload + headers * sent_pkts,
            rtt_samples: self.samples,
            cwnd_integral: self.cwnd_ps / PS_PER_S as f64,
            ..self.counters
        }
    }
}

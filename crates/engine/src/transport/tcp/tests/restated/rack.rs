//! RACK-TLP by the pseudo-code of RFC 8985, which walks through all segments in flight; with or without proportional
//! rate reduction.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_units::{Span, Time};

use super::assert_follows;
use super::common::{Connection, Report, Rule};
use super::sack::{Reduction, State};
use crate::config::{Recovery, Tcp};

#[derive(Clone, Copy)]
struct Segment {
    sent: Time,
    repeated: bool,
    lost: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Wait {
    Reordering,
    Probe,
}

struct Rack {
    state: State,
    recovery_point: u64,
    reduction: Option<Reduction>,
    proportional: bool,
    /// Segments sent that have not arrived.
    missing: BTreeMap<u64, Segment>,
    /// Segments that are selectively acknowledged.
    sacked: BTreeSet<u64>,
    /// `RACK.xmit_ts` and `RACK.end_seq`.
    newest: (Time, u64),
    /// `RACK.rtt`.
    rtt: Span,
    fack: u64,
    reordering_seen: bool,
    /// True after a timeout until the first segment has left.
    forced: bool,
    wait: Wait,
    due: Time,
    /// `TLP.end_seq` and `TLP.is_retrans` of the probe in flight.
    probe: Option<(u64, bool)>,
    /// Number of round-trip samples before the probe.
    samples: u64,
    syn_trip: Span,
}

impl Rack {
    fn new(config: &Tcp) -> Self {
        Self {
            state: State::Open,
            recovery_point: 0,
            reduction: None,
            proportional: config.recovery == Recovery::RackTlpPrr,
            missing: BTreeMap::new(),
            sacked: BTreeSet::new(),
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            fack: 0,
            reordering_seen: false,
            forced: false,
            wait: Wait::Reordering,
            due: Time::NEVER,
            probe: None,
            samples: 0,
            syn_trip: Span::from_millis(100),
        }
    }

    /// Processes acknowledged segments; returns true if any of them was not acknowledged before. Advances `newest` to
    /// the last transmission that has certainly arrived (section 6.2, steps 1 to 3).
    fn arrive(
        &mut self,
        segments: impl Iterator<Item = u64>,
        is_of_first: impl Fn(Time) -> bool,
        newest: &mut Option<(Time, u64)>,
    ) -> bool {
        let mut any = false;
        for segment in segments {
            let Some(found) = self.missing.remove(&segment) else {
                continue;
            };
            any = true;
            if !(found.repeated && is_of_first(found.sent)) {
                *newest = (*newest).max(Some((found.sent, segment)));
            }
            self.reordering_seen |= !found.repeated && segment + 1 < self.fack;
            self.fack = self.fack.max(segment + 1);
        }
        any
    }

    /// Returns the reordering window (step 4).
    fn reordering_window(&self, connection: &Connection) -> Span {
        let few = self.sacked.len() < connection.config.dupack_threshold as usize;
        if self.reordering_seen || self.state == State::Open && few {
            (connection.min_rtt / 4).min(Span::from_ps(connection.srtt))
        } else {
            Span::ZERO
        }
    }

    /// Marks lost segments (step 5): segments that were sent longer ago than the round-trip time and the reordering
    /// window. Unless `all` is true, only segments sent before a delivered segment are marked.
    fn find_lost(&mut self, connection: &mut Connection, all: bool) {
        let patience = self.rtt + self.reordering_window(connection);
        let (now, newest) = (connection.now, self.newest);
        for (&number, segment) in &mut self.missing {
            let overtaken = all || (segment.sent, number) <= newest;
            if !segment.lost && overtaken && segment.sent + patience <= now {
                segment.lost = true;
                connection.lost += 1;
            }
        }
    }

    fn lost(&self) -> Vec<u64> {
        let lost = self.missing.iter().filter(|(_, segment)| segment.lost);
        lost.map(|(&number, _)| number).collect()
    }

    /// Processes the answer to a tail loss probe (section 7.4). If the probe was a retransmission, the answer reveals a
    /// loss, unless both copies have arrived.
    fn judge_probe(&mut self, connection: &mut Connection, report: &Report, duplicate: bool) {
        let Some((end, repeats)) = self.probe.filter(|&(end, _)| report.next >= end) else {
            return;
        };
        let repaired = repeats && !duplicate && report.next > end;
        if !repeats || duplicate || repaired {
            self.probe = None;
        }
        if repaired && self.state == State::Open {
            connection.reduce_for_loss();
        }
    }

    fn go_on(&mut self, connection: &mut Connection, told: Option<(&Report, u64)>) {
        let before = self.state;
        if self.state != State::Open && connection.una >= self.recovery_point {
            self.state = State::Open;
        }
        let enters = self.state == State::Open && !self.lost().is_empty();
        let sample = told
            .map(|(report, acked)| connection.sample_of(acked, self.in_flight(connection), report));
        let advanced = told.is_some_and(|(_, acked)| acked > 0);
        let tolerates = connection.tolerates;
        let may_grow = tolerates || advanced && before != State::Recovery;
        let grows = may_grow && !enters;
        if let Some(sample) = sample.filter(|_| !grows) {
            connection.report(&sample);
        }
        if self.state != before && before == State::Recovery {
            connection.end_recovery();
        } else if self.state != before {
            connection.tell_exit();
        }
        if enters {
            self.enter(connection);
        } else if let Some(sample) = sample.filter(|_| grows) {
            connection.grow(&sample);
        }
        let recovers = connection.came_in_recovery || self.state == State::Recovery;
        if let Some(sample) = sample.filter(|_| recovers) {
            connection.report_in_recovery(&sample);
            if connection.weigh_losses() {
                self.begin_reduction(connection);
            }
        }
    }

    fn begin_reduction(&mut self, connection: &Connection) {
        let flight = connection.max_sent - connection.una;
        self.reduction = self.proportional.then(|| Reduction::begin(flight));
    }

    fn enter(&mut self, connection: &mut Connection) {
        self.state = State::Recovery;
        self.recovery_point = connection.max_sent;
        self.probe = None;
        connection.reduce_for_loss();
        connection.restart_timer_for_retransmission();
        self.begin_reduction(connection);
        let first = self.lost()[0];
        connection.transmit(first);
        self.on_sent(connection, first);
    }

    fn reduce(&mut self, connection: &Connection, delivered: u64) {
        let pipe = self.in_flight(connection);
        if self.state == State::Recovery
            && let Some(reduction) = &mut self.reduction
        {
            let window = connection.cwnd.floor() as u64;
            reduction.on_ack(delivered, pipe, window.min(connection.peer_window));
        }
    }

    /// Returns true if a probe may be sent (section 7.2): no segment is known to be missing.
    fn may_probe(&self, connection: &Connection) -> bool {
        self.state == State::Open && self.sacked.is_empty() && connection.una < connection.max_sent
    }

    /// Arms the probe timer (`TLP_calc_PTO`, without the allowance for a delayed acknowledgement).
    fn arm_probe(&mut self, connection: &Connection) {
        let timeout = match connection.srtt {
            0 => Span::from_secs(1),
            srtt => Span::from_ps(2 * srtt),
        };
        self.wait = Wait::Probe;
        self.due = (connection.now + timeout).min(connection.deadline);
    }

    fn set_timer(&mut self, connection: &Connection, advanced: bool) {
        let newest = self.newest;
        let overtaken = |(&number, segment): (&u64, &Segment)| {
            let at = (segment.sent, number);
            (!segment.lost && at <= newest).then_some(at)
        };
        let last = self.missing.iter().filter_map(overtaken).max();
        if let Some((sent, _)) = last {
            self.wait = Wait::Reordering;
            self.due = sent + self.rtt + self.reordering_window(connection);
            self.due = self.due.max(connection.now);
        } else if !self.may_probe(connection) {
            self.due = Time::NEVER;
        } else if advanced || self.wait == Wait::Reordering {
            self.arm_probe(connection);
        }
    }

    /// Sends a probe (section 7.3): a new segment, or else the last one.
    fn send_probe(&mut self, connection: &mut Connection) {
        connection.restart_timer();
        if self.probe.is_some() || connection.samples <= self.samples {
            return;
        }
        let repeats = !connection.has_new();
        let segment = if repeats {
            connection.max_sent - 1
        } else {
            connection.nxt
        };
        if repeats {
            connection.restart_timer_for_retransmission();
        }
        connection.transmit(segment);
        self.on_sent(connection, segment);
        self.samples = connection.samples;
        self.probe = Some((connection.max_sent, repeats));
    }
}

impl Rule for Rack {
    fn recovers(&self, _: &Connection) -> bool {
        self.state == State::Recovery
    }

    fn in_flight(&self, _: &Connection) -> u64 {
        self.missing
            .values()
            .filter(|segment| !segment.lost)
            .count() as u64
    }

    fn next(&mut self, connection: &mut Connection) -> Option<u64> {
        if self.forced {
            return Some(connection.una);
        }
        let reduces = self.state == State::Recovery && !connection.window_governs();
        let room = match &self.reduction {
            Some(reduction) if reduces => reduction.allows(),
            _ => (self.in_flight(connection) + 1) as f64 <= connection.cwnd,
        };
        let new = connection.has_new().then_some(connection.nxt);
        self.lost().first().copied().or(new).filter(|_| room)
    }

    fn on_sent(&mut self, connection: &mut Connection, segment: u64) {
        self.forced = false;
        connection.nxt = connection.nxt.max(segment + 1);
        let sent = Segment {
            sent: connection.now,
            repeated: self.missing.contains_key(&segment),
            lost: false,
        };
        if !self.sacked.contains(&segment) {
            self.missing.insert(segment, sent);
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent();
        }
    }

    fn after_sending(&mut self, connection: &mut Connection, new: bool) {
        if new && self.may_probe(connection) {
            self.arm_probe(connection);
        }
    }

    /// Processes a timeout (section 6.3): the first segment and all segments sent long ago are lost.
    fn on_timeout(&mut self, connection: &mut Connection) {
        self.state = State::Loss;
        self.recovery_point = connection.max_sent;
        self.forced = true;
        self.probe = None;
        self.due = Time::NEVER;
        let first = self.missing.get_mut(&connection.una).expect("in flight");
        connection.lost += u64::from(!first.lost);
        first.lost = true;
        self.find_lost(connection, true);
    }

    fn on_ack(&mut self, connection: &mut Connection, report: &Report) -> u64 {
        let delivered = connection.delivered;
        let advanced = report.next.saturating_sub(connection.una);
        let now = connection.now;
        let stamps = connection.config.timestamps.bytes().is_some();
        let mut newest = None;
        let mut any = false;
        if advanced > 0 {
            self.forced = false;
            let shortest = connection.min_rtt.min(self.syn_trip);
            let first = |sent| stamps && report.stamp < sent || now.since(sent) < shortest;
            any |= self.arrive(connection.una..report.next, first, &mut newest);
            self.sacked.retain(|&segment| segment >= report.next);
            connection.cumulative(report);
        }
        let shortest = connection.min_rtt.min(self.syn_trip);
        let blocks: BTreeSet<u64> = report.blocks.iter().flat_map(|&(l, r)| l..r).collect();
        let fresh = blocks.range(connection.una..).copied();
        let first = |sent| now.since(sent) < shortest;
        let new: Vec<u64> = fresh.clone().filter(|s| !self.sacked.contains(s)).collect();
        new.into_iter()
            .for_each(|segment| connection.reported(segment));
        any |= self.arrive(fresh.clone(), first, &mut newest);
        self.sacked.extend(fresh);
        connection.set_arrived(self.sacked.len() as u64);
        if let Some(newest) = newest {
            self.rtt = now.since(newest.0);
            self.newest = self.newest.max(newest);
        }
        self.find_lost(connection, false);
        let repeats = report.next == connection.una && report.blocks.is_empty();
        self.judge_probe(connection, report, !any && repeats);
        self.go_on(connection, any.then_some((report, advanced)));
        self.reduce(connection, connection.delivered - delivered);
        self.set_timer(connection, advanced > 0);
        u64::MAX
    }

    fn due(&self) -> Time {
        self.due
    }

    fn on_timer(&mut self, connection: &mut Connection) {
        self.due = Time::NEVER;
        if self.wait == Wait::Probe {
            self.send_probe(connection);
        } else {
            self.find_lost(connection, false);
            self.go_on(connection, None);
            self.reduce(connection, 0);
            self.set_timer(connection, false);
        }
    }
}

#[test]
fn rack_tlp_follows_rfc_8985() {
    for recovery in [Recovery::RackTlp, Recovery::RackTlpPrr] {
        assert_follows(recovery, Rack::new);
    }
}

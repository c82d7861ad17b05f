//! Loss recovery with selective acknowledgements, implemented a second time. The number of segments in flight and the
//! next segment to send are found by loops over all unacknowledged segments, as in RFC 6675 section 4.

use std::collections::BTreeSet;

use super::assert_follows;
use super::common::{Connection, Cut, Report, Rule};
use super::windows::send_one_beyond;
use crate::config::{Recovery, Tcp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    Recovery,
    /// Recovery after a timeout.
    Loss,
}

/// Proportional rate reduction (RFC 6937 section 3.1), with the slow start reduction bound.
#[derive(Debug, Default)]
pub(super) struct Reduction {
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
    sndcnt: u64,
}

impl Reduction {
    pub(super) fn begin(flight: u64) -> Self {
        Self {
            recover_fs: flight,
            ..Self::default()
        }
    }

    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64) {
        self.prr_delivered += delivered;
        self.sndcnt = if pipe > ssthresh {
            let due = (self.prr_delivered * ssthresh).div_ceil(self.recover_fs);
            due.saturating_sub(self.prr_out)
        } else {
            let limit = self
                .prr_delivered
                .saturating_sub(self.prr_out)
                .max(delivered)
                + 1;
            limit.min(ssthresh - pipe)
        };
    }

    pub(super) fn on_sent(&mut self) {
        self.prr_out += 1;
        self.sndcnt = self.sndcnt.saturating_sub(1);
    }

    pub(super) fn allows(&self) -> bool {
        self.sndcnt > 0
    }
}

/// The scoreboard of RFC 6675. With forward acknowledgement, every gap counts as lost (Mathis and Mahdavi, SIGCOMM
/// 1996).
struct Scoreboard {
    forward: bool,
    state: State,
    sacked: BTreeSet<u64>,
    lost: BTreeSet<u64>,
    /// `HighRxt` + 1.
    high_rxt: u64,
    recovery_point: u64,
    rescued: bool,
    reduction: Option<Reduction>,
    proportional: bool,
}

impl Scoreboard {
    fn new(config: &Tcp) -> Self {
        Self {
            forward: config.recovery == Recovery::Fack,
            state: State::Open,
            sacked: BTreeSet::new(),
            lost: BTreeSet::new(),
            high_rxt: 0,
            recovery_point: 0,
            rescued: false,
            reduction: None,
            proportional: config.recovery == Recovery::SackPrr,
        }
    }

    /// Marks lost segments, by `IsLost` for each segment or by the rule of forward acknowledgement.
    fn find_lost(&mut self, connection: &mut Connection) {
        let threshold = connection.config.dupack_threshold as usize;
        let fack = self.sacked.last().map_or(0, |last| last + 1);
        let all_below = self.state != State::Open || fack > connection.una + threshold as u64;
        for segment in connection.una..fack {
            let is_lost = if self.forward {
                all_below
            } else {
                self.sacked.range(segment..).count() >= threshold
            };
            if is_lost {
                self.lose(connection, segment);
            }
        }
    }

    fn lose(&mut self, connection: &mut Connection, segment: u64) {
        if !self.sacked.contains(&segment) && self.lost.insert(segment) {
            connection.lost += 1;
        }
    }

    /// Updates the congestion avoidance state and the window after a cumulative acknowledgement of `advanced` segments.
    /// `news` is true if the acknowledgement reports newly delivered segments.
    fn go_on(&mut self, connection: &mut Connection, report: &Report, advanced: u64, news: bool) {
        let before = self.state;
        if self.state != State::Open && connection.una >= self.recovery_point {
            self.state = State::Open;
        }
        let missing =
            !self.lost.is_empty() || connection.dupacks >= connection.config.dupack_threshold;
        let enters = self.state == State::Open
            && before != State::Recovery
            && missing
            && connection.una < connection.max_sent;
        let tolerates = connection.tolerates;
        let may_grow = tolerates || advanced > 0 && before != State::Recovery;
        let grows = may_grow && !enters;
        let sample = (advanced > 0 || news)
            .then(|| connection.sample_of(advanced, self.in_flight(connection), report));
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

    /// Enters recovery (RFC 6675 section 5, step 4): the first segment is retransmitted at once.
    fn enter(&mut self, connection: &mut Connection) {
        self.state = State::Recovery;
        self.recovery_point = connection.max_sent;
        self.rescued = false;
        connection.reduce_for_loss();
        connection.restart_timer_for_retransmission();
        self.lose(connection, connection.una);
        self.begin_reduction(connection);
        if self.high_rxt <= connection.una {
            let first = connection.una;
            connection.transmit(first);
            self.on_sent(connection, first);
        }
    }
}

impl Rule for Scoreboard {
    fn recovers(&self, _: &Connection) -> bool {
        self.state == State::Recovery
    }

    /// Returns the pipe (`SetPipe`): each segment counts once unless it is lost, and once more if it was retransmitted.
    fn in_flight(&self, connection: &Connection) -> u64 {
        let missing = |segment: &u64| !self.sacked.contains(segment);
        let count = |segment: u64| {
            u64::from(!self.lost.contains(&segment)) + u64::from(segment < self.high_rxt)
        };
        let flight = connection.una..connection.max_sent;
        flight.filter(missing).map(count).sum()
    }

    /// Returns the next segment (`NextSeg`).
    fn next(&mut self, connection: &mut Connection) -> Option<u64> {
        let recovering = self.state == State::Recovery;
        let room = match &self.reduction {
            Some(reduction) if recovering && !connection.window_governs() => reduction.allows(),
            _ => (self.in_flight(connection) + 1) as f64 <= connection.cwnd,
        };
        if !room {
            return None;
        }
        let from = self.high_rxt.max(connection.una);
        let mut holes = (from..connection.max_sent).filter(|s| !self.sacked.contains(s));
        let first = holes.next();
        let lost = first.filter(|s| self.state != State::Open && self.lost.contains(s));
        let new = connection.has_new().then_some(connection.nxt);
        let highest = self.sacked.last().map_or(0, |last| last + 1);
        let overtaken = first.filter(|&s| recovering && s < highest);
        let last = connection.max_sent - 1;
        let rescues = recovering && !self.rescued && last >= self.high_rxt.max(highest);
        lost.or(new).or(overtaken).or(rescues.then_some(last))
    }

    fn on_sent(&mut self, connection: &mut Connection, segment: u64) {
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent();
        }
        let highest = self.sacked.last().map_or(0, |last| last + 1);
        if segment >= connection.nxt {
            connection.nxt = segment + 1;
        } else if self.lost.contains(&segment) || segment < highest {
            self.high_rxt = segment + 1;
        } else {
            self.rescued = true;
        }
    }

    /// Processes a timeout (RFC 6675 section 5.1): all segments that are not selectively acknowledged are
    /// retransmitted.
    fn on_timeout(&mut self, connection: &mut Connection) {
        connection.lost += self.in_flight(connection);
        self.state = State::Loss;
        self.recovery_point = connection.max_sent;
        self.high_rxt = connection.una;
        let flight = connection.una..connection.max_sent;
        self.lost = flight.filter(|s| !self.sacked.contains(s)).collect();
    }

    fn on_ack(&mut self, connection: &mut Connection, report: &Report) -> u64 {
        let delivered = connection.delivered;
        let advanced = report.next.saturating_sub(connection.una);
        if advanced > 0 {
            connection.cumulative(report);
        }
        let una = connection.una;
        self.lost.retain(|&segment| segment >= una);
        self.sacked.retain(|&segment| segment >= una);
        self.high_rxt = self.high_rxt.max(if advanced > 0 { una } else { 0 });
        let before = self.sacked.len();
        for &(left, right) in &report.blocks {
            for segment in left.max(una)..right.max(una) {
                if self.sacked.insert(segment) {
                    connection.reported(segment);
                }
            }
        }
        self.lost.retain(|segment| !self.sacked.contains(segment));
        let news = self.sacked.len() > before;
        connection.set_arrived(self.sacked.len() as u64);
        connection.dupacks += u32::from(advanced == 0 && news);
        self.find_lost(connection);
        self.go_on(connection, report, advanced, news);
        let pipe = self.in_flight(connection);
        if self.state == State::Recovery
            && let Some(reduction) = &mut self.reduction
        {
            let window = connection.cwnd.floor() as u64;
            let window = window.min(connection.peer_window);
            reduction.on_ack(connection.delivered - delivered, pipe, window);
        }
        u64::MAX
    }
}

#[test]
fn selective_acknowledgement_follows_rfc_6675_and_6937() {
    for recovery in [Recovery::Sack, Recovery::SackPrr, Recovery::Fack] {
        assert_follows(recovery, Scoreboard::new);
    }
}

/// ns-2's `Sack1` (ns-2.35, `tcp-sack1.cc`). In recovery, the pipe falls by one for each acknowledgement, by two for a
/// partial one, and rises by one for each segment sent. Each hole below the highest SACKed segment is resent once.
struct Sack1 {
    recovering: bool,
    timed_out: bool,
    pipe: i64,
    sacked: BTreeSet<u64>,
    /// One past the last segment retransmitted.
    repaired: u64,
}

impl Sack1 {
    fn new(_: &Tcp) -> Self {
        Self {
            recovering: false,
            timed_out: false,
            pipe: 0,
            sacked: BTreeSet::new(),
            repaired: 0,
        }
    }

    /// Adds the blocks of an acknowledgement to the scoreboard; returns true if they report new segments.
    fn take(&mut self, connection: &mut Connection, report: &Report) -> bool {
        let before = self.sacked.len();
        for &(left, right) in &report.blocks {
            for segment in left.max(report.next)..right.max(report.next) {
                if self.sacked.insert(segment) {
                    connection.reported(segment);
                }
            }
        }
        connection.set_arrived(self.sacked.len() as u64);
        self.sacked.len() > before
    }

    fn forget(&mut self) {
        self.sacked.clear();
        self.repaired = 0;
    }

    fn on_duplicate(&mut self, connection: &mut Connection, report: &Report) {
        if !self.take(connection, report) {
            return;
        }
        connection.dupacks += 1;
        let sample = connection.sample_of(0, self.in_flight(connection), report);
        connection.report(&sample);
        let threshold = connection.config.dupack_threshold;
        if connection.dupacks == threshold {
            let answered = connection.una <= connection.recover && connection.una != 1;
            let marked = connection.config.ecn.is_on() && connection.cut == Cut::Mark;
            if answered && !marked {
                return;
            }
            self.pipe = (connection.max_sent - connection.una) as i64 - i64::from(threshold);
            self.recovering = true;
            self.repaired = self.repaired.max(connection.una + 1);
            connection.lost += 1;
            connection.restart_timer_for_retransmission();
            if answered {
                connection.reduce_for_loss();
            } else {
                connection.reduce_from(0.0);
            }
            connection.transmit(connection.una);
            connection.report_in_recovery(&sample);
        } else if connection.dupacks < threshold && connection.config.limited_transmit {
            send_one_beyond(connection);
        }
    }

    fn on_ack_in_recovery(&mut self, connection: &mut Connection, report: &Report) {
        self.pipe -= 1;
        let acked = report.next.saturating_sub(connection.una);
        let full = report.next >= connection.recover;
        let mut news = acked > 0;
        if full {
            connection.recover = 1;
            self.recovering = false;
            connection.cumulative(report);
            self.forget();
        } else if acked > 0 {
            self.pipe -= 1;
            connection.partial(report.next);
            self.sacked.retain(|&segment| segment >= report.next);
            self.take(connection, report);
            connection.restart_timer();
            connection.end_backoff();
        } else if report.next == connection.una {
            news = self.take(connection, report);
        }
        if news {
            let sample = connection.sample_of(acked, self.in_flight(connection), report);
            connection.report(&sample);
            connection.report_in_recovery(&sample);
        }
        if full {
            connection.end_recovery();
        }
    }
}

impl Rule for Sack1 {
    fn recovers(&self, _: &Connection) -> bool {
        self.recovering
    }

    fn in_flight(&self, connection: &Connection) -> u64 {
        if self.recovering {
            self.pipe.max(0) as u64
        } else {
            connection.nxt - connection.una
        }
    }

    fn next(&mut self, connection: &mut Connection) -> Option<u64> {
        let flight = connection.nxt - connection.una;
        if !self.recovering {
            let room = (flight + 1) as f64 <= connection.cwnd;
            let open = room && flight < connection.peer_window;
            return (open && connection.nxt < connection.end).then_some(connection.nxt);
        }
        if self.pipe >= connection.cwnd.floor() as i64 {
            return None;
        }
        let from = self.repaired.max(connection.una);
        let highest = self.sacked.last().copied().unwrap_or(0);
        let hole = (from..highest).find(|segment| !self.sacked.contains(segment));
        let limit = connection.una + connection.peer_window;
        match hole {
            Some(hole) => (hole < limit).then_some(hole),
            None => connection.has_new().then_some(connection.nxt),
        }
    }

    fn on_sent(&mut self, connection: &mut Connection, segment: u64) {
        if self.recovering {
            self.pipe += 1;
            if segment < connection.nxt {
                self.repaired = segment + 1;
            }
        }
        connection.nxt = connection.nxt.max(segment + 1);
    }

    fn on_timeout(&mut self, connection: &mut Connection) {
        let flight = connection.nxt - connection.una;
        connection.lost += flight.saturating_sub(connection.arrived);
        (self.recovering, self.timed_out) = (false, true);
        self.forget();
        connection.nxt = connection.una;
    }

    /// Processes an acknowledgement. In a recovery, every acknowledgement releases the segments that the pipe allows.
    /// Outside a recovery, only acknowledgements of new data do.
    fn on_ack(&mut self, connection: &mut Connection, report: &Report) -> u64 {
        if self.recovering {
            self.on_ack_in_recovery(connection, report);
            return if report.next >= connection.una {
                u64::MAX
            } else {
                0
            };
        }
        if report.next > connection.una {
            let acked = report.next - connection.una;
            connection.cumulative(report);
            let flight = connection.nxt - connection.una;
            let sample = connection.sample_of(acked, flight, report);
            connection.grow(&sample);
            self.timed_out = false;
            self.forget();
        } else if report.next == connection.una && !self.timed_out {
            self.on_duplicate(connection, report);
        } else if report.next < connection.una {
            return 0;
        }
        if self.recovering || connection.dupacks > 0 {
            0
        } else {
            u64::MAX
        }
    }
}

#[test]
fn ns2_s_sack1_follows_its_agent() {
    assert_follows(Recovery::Ns2Sack, Sack1::new);
}

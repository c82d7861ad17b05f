//! Recoveries without selective acknowledgements.

use longhaul_congestion::AckSample;

use super::assert_follows;
use super::common::{Connection, Cut, Report, Rule};
use crate::config::{Recovery, Tcp};

/// Fast retransmit and fast recovery: RFC 5681 section 3.2 and, with partial acknowledgements, RFC 6582 section 3.2.
/// Tahoe goes back to the lost segment in slow start instead (Jacobson 1988).
struct FastRecovery {
    kind: Recovery,
    recovering: bool,
    recover: u64,
    inflation: i64,
    partial_seen: bool,
}

impl FastRecovery {
    fn new(config: &Tcp) -> Self {
        Self {
            kind: config.recovery,
            recovering: false,
            recover: 0,
            inflation: 0,
            partial_seen: false,
        }
    }

    fn on_duplicate(&mut self, connection: &mut Connection) {
        if self.recovering {
            self.inflation += 1;
        } else if connection.dupacks == connection.config.dupack_threshold
            && connection.una > self.recover
        {
            self.recover = connection.max_sent;
            connection.lost += 1;
            connection.reduce_for_loss();
            connection.restart_timer_for_retransmission();
            if self.kind == Recovery::Tahoe {
                if !connection.window_governs() {
                    connection.cwnd = 1.0;
                }
                connection.nxt = connection.una;
            } else {
                (self.recovering, self.partial_seen) = (true, false);
                self.inflation = connection.dupacks.into();
                connection.transmit(connection.una);
            }
        }
    }

    /// Processes an acknowledgement of new data in a recovery (RFC 6582 section 3.2, steps 2 and 3).
    fn on_ack_in_recovery(&mut self, connection: &mut Connection, report: &Report) {
        let acked = report.next - connection.una;
        let full = self.kind == Recovery::Reno || report.next >= self.recover;
        if full {
            connection.cumulative(report);
        } else {
            connection.partial(report.next);
            connection.lost += 1;
        }
        let sample = connection.sample_of(acked, self.in_flight(connection), report);
        connection.report(&sample);
        if full {
            (self.recovering, self.inflation) = (false, 0);
            if !connection.window_governs() {
                let flight = (connection.nxt - connection.una).max(1) as f64;
                connection.cwnd = connection.ssthresh.min(flight + 1.0);
            }
            connection.end_recovery();
        } else {
            if !self.partial_seen {
                connection.restart_timer();
            }
            self.partial_seen = true;
            self.inflation += 1 - acked as i64;
            connection.transmit(connection.una);
        }
        connection.report_in_recovery(&sample);
    }
}

impl Rule for FastRecovery {
    fn recovers(&self, _: &Connection) -> bool {
        self.recovering
    }

    fn in_flight(&self, connection: &Connection) -> u64 {
        connection.nxt - connection.una
    }

    /// Returns the next segment to send; `None` if no segment may be sent now. With limited transmit (RFC 3042), the
    /// first two duplicate acknowledgements widen the window by one segment each.
    fn next(&mut self, connection: &mut Connection) -> Option<u64> {
        let mut window = connection.cwnd.min(connection.peer_window as f64).floor() as i64;
        window += self.inflation;
        let repairs = connection.nxt < connection.max_sent;
        if connection.config.limited_transmit && !self.recovering && !repairs {
            let most = connection.config.dupack_threshold - 1;
            window += i64::from(connection.dupacks.min(most));
        }
        let window = window.clamp(1, connection.peer_window as i64) as u64;
        let open = connection.nxt < connection.una + window && connection.nxt < connection.end;
        open.then_some(connection.nxt)
    }

    fn on_sent(&mut self, connection: &mut Connection, segment: u64) {
        connection.nxt = segment + 1;
    }

    /// Processes a timeout: all segments from the first unacknowledged one on are retransmitted.
    fn on_timeout(&mut self, connection: &mut Connection) {
        (self.recovering, self.inflation) = (false, 0);
        self.recover = connection.max_sent;
        go_back(connection);
    }

    fn on_ack(&mut self, connection: &mut Connection, report: &Report) -> u64 {
        if report.next > connection.una && self.recovering {
            self.on_ack_in_recovery(connection, report);
        } else if report.next > connection.una {
            acknowledge(connection, report);
        } else if report.next == connection.una && connection.una < connection.max_sent {
            let sample = note_duplicate(connection, report);
            self.on_duplicate(connection);
            if self.recovering {
                connection.report_in_recovery(&sample);
            }
        }
        u64::MAX
    }
}

fn go_back(connection: &mut Connection) {
    let flight = connection.nxt - connection.una;
    connection.lost += flight.saturating_sub(connection.arrived);
    connection.nxt = connection.una;
}

fn acknowledge(connection: &mut Connection, report: &Report) {
    let acked = report.next - connection.una;
    connection.cumulative(report);
    let sample = connection.sample_of(acked, connection.nxt - connection.una, report);
    connection.grow(&sample);
}

fn note_duplicate(connection: &mut Connection, report: &Report) -> AckSample {
    connection.duplicate();
    let sample = connection.sample_of(0, connection.nxt - connection.una, report);
    connection.report(&sample);
    sample
}

#[test]
fn tahoe_reno_and_newreno_follow_their_rfcs() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno] {
        assert_follows(recovery, FastRecovery::new);
    }
}

/// ns-2's agents `Reno` and `Newreno` (ns-2.35, `tcp-reno.cc` and `tcp-newreno.cc`). `dupwnd_` inflates the usable
/// window. `Newreno` sends at most two segments for a duplicate acknowledgement (`maxburst_` in `recv`). A reduction
/// for an ECN echo comes before the other processing of an acknowledgement, and ends fast recovery.
struct Ns2Agent {
    newreno: bool,
    inflation: u64,
    partial_seen: bool,
}

impl Ns2Agent {
    fn new(config: &Tcp) -> Self {
        Self {
            newreno: config.recovery == Recovery::Ns2NewReno,
            inflation: 0,
            partial_seen: false,
        }
    }

    /// Processes the third duplicate acknowledgement (`dupack_action`): reduces the window, unless a mark has already
    /// reduced it for this window of data, and retransmits the oldest segment. NewReno acts once per window of data.
    fn on_third_duplicate(&mut self, connection: &mut Connection) {
        let again = !self.newreno && connection.cut == Cut::Loss;
        if connection.una > connection.recover || connection.una == 1 || again {
            connection.reduce_from(self.inflation as f64);
        } else if connection.cut == Cut::Mark && connection.config.ecn.is_on() {
            connection.reduce_for_loss();
        } else {
            return;
        }
        connection.lost += 1;
        connection.restart_timer_for_retransmission();
        connection.transmit(connection.una);
        self.inflation = connection.config.dupack_threshold.into();
    }

    /// Processes a partial acknowledgement (`partialnewack_helper`): deflates the window by the acknowledged segments,
    /// and retransmits the next one.
    fn on_partial(&mut self, connection: &mut Connection, report: &Report) {
        let acked = report.next - connection.una;
        connection.partial(report.next);
        connection.lost += 1;
        let sample = connection.sample_of(acked, self.in_flight(connection), report);
        connection.report(&sample);
        if acked < self.inflation {
            self.inflation = self.inflation - acked + 1;
        } else {
            if !connection.window_governs() {
                connection.cwnd = (connection.cwnd - (acked - self.inflation) as f64).max(1.0);
            }
            self.inflation = 1;
        }
        if !self.partial_seen {
            connection.restart_timer();
        }
        self.partial_seen = true;
        connection.transmit(connection.una);
        connection.report_in_recovery(&sample);
    }
}

/// Sends a new segment for a duplicate ACK below the threshold, as if each duplicate enlarged the window by one
/// segment (ns-2's `send_one`).
pub(super) fn send_one_beyond(connection: &mut Connection) {
    let flight = connection.nxt - connection.una;
    let room = connection.cwnd + f64::from(connection.dupacks) >= (flight + 1) as f64;
    if room && connection.has_new() {
        connection.nxt += 1;
        connection.transmit(connection.nxt - 1);
    }
}

impl Rule for Ns2Agent {
    fn recovers(&self, connection: &Connection) -> bool {
        connection.cut == Cut::Loss
    }

    fn in_flight(&self, connection: &Connection) -> u64 {
        connection.nxt - connection.una
    }

    fn next(&mut self, connection: &mut Connection) -> Option<u64> {
        let window = (connection.cwnd.floor() as u64 + self.inflation).min(connection.peer_window);
        let open = connection.nxt < connection.una + window && connection.nxt < connection.end;
        open.then_some(connection.nxt)
    }

    fn on_sent(&mut self, connection: &mut Connection, segment: u64) {
        connection.nxt = segment + 1;
    }

    fn on_timeout(&mut self, connection: &mut Connection) {
        self.inflation = 0;
        go_back(connection);
    }

    fn on_ack(&mut self, connection: &mut Connection, report: &Report) -> u64 {
        let threshold = connection.config.dupack_threshold;
        if report.next > connection.una {
            let repairs = connection.cut == Cut::Loss;
            if self.newreno && repairs && report.next < connection.recover {
                self.on_partial(connection, report);
            } else {
                if connection.came_in_recovery && (self.inflation > 0 || !self.newreno) {
                    connection.end_recovery();
                }
                if repairs && (self.inflation > 0 || !self.newreno) {
                    connection.cut = Cut::Over;
                }
                (self.inflation, self.partial_seen) = (0, false);
                connection.came_in_recovery = false;
                acknowledge(connection, report);
            }
        } else if report.next == connection.una && connection.una < connection.max_sent {
            let sample = note_duplicate(connection, report);
            if connection.dupacks == threshold {
                self.on_third_duplicate(connection);
            } else if connection.dupacks > threshold {
                self.inflation += u64::from(connection.cut == Cut::Loss);
            } else if connection.config.limited_transmit {
                send_one_beyond(connection);
            }
            if connection.cut == Cut::Loss {
                connection.report_in_recovery(&sample);
            }
        } else {
            return 0;
        }
        match connection.dupacks {
            0 => u64::MAX,
            few if few < threshold => 0,
            _ if self.newreno => 2,
            _ => u64::MAX,
        }
    }
}

#[test]
fn ns2_s_reno_and_newreno_follow_its_agents() {
    for recovery in [Recovery::Ns2Reno, Recovery::Ns2NewReno] {
        assert_follows(recovery, Ns2Agent::new);
    }
}

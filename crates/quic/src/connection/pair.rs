//! The two ends of a connection, driven by the engine.

use std::time::{Duration, Instant};

use longhaul_engine::stack::{Datagram, EcnCodepoint, Host, Stack, StackNote, StackReport};
use longhaul_units::{Span, Time};

use super::end::End;
use super::log::SharedLog;
use super::observation::{SharedObservation, finite};

/// Lead of a connection's clock over the machine's monotonic clock. A stack can then subtract durations of up to this
/// length from the current time without underflow. Results depend only on differences of times.
const AHEAD: Duration = Duration::from_secs(90_000);

/// Returns the start of a connection's clock.
pub(crate) fn zero() -> Instant {
    Instant::now() + AHEAD
}

/// The two ends of a connection, of type `E`, and their clock.
#[derive(Debug)]
pub(crate) struct Pair<E> {
    /// Start of the simulation on the stack's clock.
    zero: Instant,
    /// Ends of the connection, indexed by host.
    ends: [E; 2],
    client: Host,
    /// Observation of the controller at the sending end.
    sender: SharedObservation,
    /// Log that the stack writes at the sending end; empty if it writes none.
    log: SharedLog,
    is_finished: bool,
    is_lost: bool,
}

impl<E: End> Pair<E> {
    /// Creates the pair of two ends. Their clocks begin at `zero`. `sender` and `log` are the
    /// observation and the log of the sending end.
    pub(crate) fn new(
        zero: Instant,
        client: Host,
        (sender, log): (SharedObservation, SharedLog),
        ends: [E; 2],
    ) -> Self {
        Self {
            zero,
            ends,
            client,
            sender,
            log,
            is_finished: false,
            is_lost: false,
        }
    }

    /// Converts simulated time to the stack's time, rounded down to nanoseconds.
    fn at(&self, now: Time) -> Instant {
        self.zero + Duration::from_nanos(now.as_ps() / 1000)
    }

    fn time(&self, at: Instant) -> Time {
        Time::ZERO + span(at.saturating_duration_since(self.zero))
    }

    fn end(&mut self, host: Host) -> &mut E {
        &mut self.ends[host as usize]
    }
}

/// Returns the end that is not `host`.
pub(crate) fn other(host: Host) -> Host {
    match host {
        Host::Sender => Host::Receiver,
        Host::Receiver => Host::Sender,
    }
}

fn span(duration: Duration) -> Span {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span::from_ps(nanoseconds.saturating_mul(1000))
}

impl<E: End> Stack for Pair<E> {
    fn start(&mut self, now: Time) {
        let at = self.at(now);
        let client = self.client;
        self.end(client).connect(at);
    }

    fn stop(&mut self, _: Time) {
        self.end(Host::Sender).stop();
    }

    fn receive(&mut self, host: Host, now: Time, ecn: EcnCodepoint, datagram: Datagram<'_>) {
        let at = self.at(now);
        self.end(host).receive(at, ecn, datagram);
    }

    fn expire(&mut self, host: Host, now: Time) {
        let at = self.at(now);
        self.end(host).expire(at);
    }

    fn poll(&mut self, host: Host, now: Time, datagram: &mut Vec<u8>) -> Option<EcnCodepoint> {
        let at = self.at(now);
        self.end(host).poll(at, datagram)
    }

    fn deadline(&mut self, host: Host) -> Option<Time> {
        let at = self.end(host).deadline()?;
        Some(self.time(at))
    }

    fn report(&self, now: Time) -> StackReport {
        let [sender, receiver] = &self.ends;
        let Some(path) = sender.path() else {
            return StackReport::default();
        };
        let observed = self.sender.lock();
        let sampled = observed.rtt_samples > 0;
        let read = receiver.bytes_read();
        StackReport {
            cwnd: Some(observed.packets(path.window)),
            ssthresh: finite(path.ssthresh).map(|bytes| observed.packets(bytes)),
            srtt: if sampled { span(path.srtt) } else { Span::ZERO },
            in_flight: observed.packets(observed.in_flight).round() as u64,
            lost_pkts: path.lost_packets.unwrap_or(observed.lost_packets),
            delivered_bytes: read,
            in_order_bytes: read,
            rtt_samples: observed.rtt_samples,
            rtt_sum: span(observed.rtt_sum),
            rtt_min: observed.rtt_min.map_or(Span::ZERO, span),
            rtt_max: span(observed.rtt_max),
            cuts_loss: observed.cuts_loss,
            cuts_ecn: observed.cuts_ecn,
            timeouts: observed.persistent_congestions,
            cwnd_integral: observed.integral_at(self.at(now)),
            finish: sender.finished().map(|at| self.time(at)),
        }
    }

    fn restart_extremes(&mut self) {
        let mut observed = self.sender.lock();
        observed.rtt_min = None;
        observed.rtt_max = Duration::ZERO;
    }

    fn take_log(&mut self) -> Vec<u8> {
        self.log.take()
    }

    fn take_notes(&mut self, notes: &mut Vec<StackNote>) {
        notes.append(&mut self.sender.lock().notes);
        if !self.is_finished && self.ends[0].finished().is_some() {
            self.is_finished = true;
            notes.push(StackNote::Finished);
        }
        for (end, host) in self.ends.iter_mut().zip(["sending", "receiving"]) {
            // A connection that closes after the transfer does not count as lost.
            if let Some(reason) = end.take_loss()
                && !self.is_finished
                && !self.is_lost
            {
                self.is_lost = true;
                let reason = format!("{reason} (seen by the {host} end)");
                notes.push(StackNote::ConnectionLost(reason));
            }
        }
    }
}

//! A connection of a foreign stack (a transport outside the engine): its datagrams, timers and records. Both endpoints
//! run the same stack.

use longhaul_units::{Span, Time};

use super::guard::Guard;
use crate::measure::{
    AckTrace, Event as RecordedEvent, EventKind, FlowCounters, FlowSample, Recorder,
};
use crate::network::{Endpoint, Path};
use crate::packet::{Flags, Packet};
use crate::schedule::Event;
use crate::stack::{EcnCodepoint, HEADER_BYTES, Host, Stack, StackNote, StackReport};
use crate::transport::Env;
use crate::transport::udp::Arrivals;

/// A connection between two endpoints that run a foreign stack.
#[derive(Debug)]
pub(crate) struct StackConnection {
    /// Number that identifies the connection's packets.
    number: u32,
    /// The flow's id in records.
    flow: u32,
    name: String,
    /// Paths of data and of answers.
    paths: [Path; 2],
    stack: Guard,
    /// Time of the earliest pending event of each endpoint.
    entries: [Time; 2],
    /// Number of datagrams that each endpoint has sent.
    sent: [u64; 2],
    /// Bytes on the wire of the datagrams that the sending endpoint has sent.
    sent_bytes: u64,
    /// Number of data datagrams that have arrived, each counted once.
    received: u64,
    /// Filter of duplicate datagrams, if links on the path make copies.
    arrivals: Option<Box<Arrivals>>,
    /// Report of the stack at the last sample, which is used after the stack has failed.
    report: StackReport,
    started: bool,
    /// Time and reason of the connection's loss.
    lost: Option<(Time, String)>,
    datagram: Vec<u8>,
    notes: Vec<StackNote>,
}

impl StackConnection {
    /// Creates the connection; `copied` is true if links on its paths duplicate packets.
    pub(crate) fn new(
        (number, flow, name): (u32, u32, &str),
        paths: [Path; 2],
        stack: Box<dyn Stack>,
        copied: bool,
    ) -> Self {
        Self {
            number,
            flow,
            name: name.to_string(),
            paths,
            stack: Guard::new(stack),
            entries: [Time::NEVER; 2],
            sent: [0; 2],
            sent_bytes: 0,
            received: 0,
            arrivals: copied.then(Box::default),
            report: StackReport::default(),
            started: false,
            lost: None,
            datagram: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the number that identifies the connection's packets.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the flow's id in records.
    pub(crate) fn flow(&self) -> u32 {
        self.flow
    }

    /// Returns the number of datagrams sent by the sending endpoint.
    pub(crate) fn sent_pkts(&self) -> u64 {
        self.sent[Host::Sender as usize]
    }

    /// Returns descriptions of both endpoints, for the computation of lookahead. An endpoint sends datagrams in answer
    /// to received ones, and at times that the stack chooses.
    pub(crate) fn edges(&self) -> [Endpoint; 2] {
        let [data, back] = self.paths.map(|path| path.route);
        [(back, data), (data, back)].map(|(gets, sends)| Endpoint::Traffic {
            gets,
            sends,
            holds: false,
        })
    }

    pub(crate) fn start(&mut self, env: &mut Env) {
        self.started = true;
        self.note_event(EventKind::Start, env);
        let now = env.network.now;
        self.stack.call(now, |stack| stack.start(now));
        self.proceed_both(env);
    }

    /// Notifies the stack that the application has nothing more to send.
    pub(crate) fn stop(&mut self, env: &mut Env) {
        let now = env.network.now;
        self.stack.call(now, |stack| stack.stop(now));
        self.proceed_both(env);
    }

    /// Passes an arriving datagram to the endpoint `host` of the connection.
    pub(crate) fn on_packet(&mut self, host: Host, packet: &Packet, env: &mut Env) {
        let now = env.network.now;
        if host == Host::Receiver {
            let first = (self.arrivals.as_mut())
                .is_none_or(|arrivals| arrivals.is_first(packet.seq & !Packet::ANSWER));
            self.received += u64::from(first);
        }
        let options = &mut env.network.options;
        let bytes = usize::from(packet.bytes) - HEADER_BYTES;
        let (ecn, datagram) = (ecn_of(packet.flags), options.datagram(packet.sack, bytes));
        self.stack
            .call(now, |stack| stack.receive(host, now, ecn, datagram));
        options.forget(packet.sack);
        self.proceed(host, env);
    }

    /// Processes a timer event of an endpoint.
    pub(crate) fn on_timer(&mut self, host: Host, env: &mut Env) {
        let now = env.network.now;
        let entry = &mut self.entries[host as usize];
        if *entry != now {
            // An earlier entry has replaced this one.
            return;
        }
        *entry = Time::NEVER;
        let deadline = self.stack.call(now, |stack| stack.deadline(host)).flatten();
        if deadline.is_some_and(|at| at <= now) {
            self.stack.call(now, |stack| stack.expire(host, now));
            self.proceed(host, env);
        } else {
            self.arm(host, env);
        }
    }

    fn proceed_both(&mut self, env: &mut Env) {
        for host in Host::BOTH {
            self.proceed(host, env);
        }
    }

    /// Sends all datagrams that an endpoint has ready, schedules its next deadline, and records the events that the
    /// stack has reported.
    fn proceed(&mut self, host: Host, env: &mut Env) {
        let now = env.network.now;
        loop {
            let datagram = &mut self.datagram;
            datagram.clear();
            let sent = self
                .stack
                .call(now, |stack| stack.poll(host, now, datagram));
            let Some(ecn) = sent.flatten() else {
                break;
            };
            self.send(host, ecn, env);
        }
        self.arm(host, env);
        let notes = &mut self.notes;
        self.stack.call(now, |stack| stack.take_notes(notes));
        if !self.notes.is_empty() || self.stack.failure().is_some() {
            self.record_notes(env);
        }
    }

    /// Puts the datagram that an endpoint has written onto its path.
    fn send(&mut self, host: Host, ecn: EcnCodepoint, env: &mut Env) {
        let bytes = u16::try_from(self.datagram.len() + HEADER_BYTES);
        let Ok(bytes) = bytes else {
            let reason = format!("sent {} B in one datagram", self.datagram.len());
            return self.lose(reason, env);
        };
        let number = &mut self.sent[host as usize];
        let seq = *number
            | if host == Host::Receiver {
                Packet::ANSWER
            } else {
                0
            };
        *number += 1;
        if host == Host::Sender {
            self.sent_bytes += u64::from(bytes);
        }
        let sack = env.network.options.put_datagram(&self.datagram);
        env.network.send(Packet {
            time: Time::ZERO,
            ns2_s: 0.0,
            seq,
            stamp: env.network.now,
            flow: self.number,
            route: self.paths[host as usize].route,
            sack,
            bytes,
            flags: flags_of(ecn),
        });
    }

    /// Schedules an event for the next deadline of an endpoint. If an earlier event is pending, nothing is scheduled:
    /// that event checks the deadline again.
    fn arm(&mut self, host: Host, env: &mut Env) {
        let now = env.network.now;
        let deadline = self.stack.call(now, |stack| stack.deadline(host)).flatten();
        let Some(at) = deadline.map(|at| at.max(now)) else {
            return;
        };
        let entry = &mut self.entries[host as usize];
        if at < *entry {
            *entry = at;
            let event = Event::Stack(2 * self.number + host as u32);
            env.network.schedule.push_timer(at, event);
        }
    }

    /// Records the events that the stack has reported, and its failure if there was one.
    fn record_notes(&mut self, env: &mut Env) {
        for note in std::mem::take(&mut self.notes) {
            self.record(note, env);
        }
        if let Some(failure) = self.stack.failure()
            && self.lost.is_none()
        {
            let reason = format!("the stack {failure}");
            self.lose(reason, env);
        }
    }

    fn record(&mut self, note: StackNote, env: &mut Env) {
        let now = env.network.now;
        match note {
            StackNote::Reduction {
                cause,
                cwnd_before,
                cwnd_after,
                ssthresh_after,
                in_flight,
            } => env.log.push(RecordedEvent {
                time: now,
                flow: self.flow,
                kind: cause.map_or(EventKind::Timeout, EventKind::Cut),
                cwnd_before,
                cwnd_after,
                ssthresh_after,
                in_flight,
            }),
            StackNote::Trace(quantity, value) => env.log.traced.push(AckTrace {
                time: now,
                flow: self.flow,
                connection: 0,
                quantity,
                value,
            }),
            StackNote::ConnectionLost(reason) => self.lose(reason, env),
            StackNote::Finished => self.note_event(EventKind::Finish, env),
        }
    }

    /// Marks the connection as lost. Only the first reason is kept.
    fn lose(&mut self, reason: String, env: &mut Env) {
        if self.lost.is_none() {
            self.lost = Some((env.network.now, reason));
            self.note_event(EventKind::ConnectionLost, env);
        }
    }

    fn note_event(&mut self, kind: EventKind, env: &mut Env) {
        let now = env.network.now;
        let report = self.report(now);
        let cwnd = report.cwnd.unwrap_or_default();
        env.log.push(RecordedEvent {
            time: now,
            flow: self.flow,
            kind,
            cwnd_before: cwnd,
            cwnd_after: cwnd,
            ssthresh_after: report.ssthresh.unwrap_or(cwnd),
            in_flight: report.in_flight,
        });
    }

    /// Passes the new bytes of the stack's log to the recorder.
    pub(crate) fn record_log(&mut self, now: Time, recorder: &mut dyn Recorder) {
        let log = self.stack.call(now, |stack| stack.take_log());
        if let Some(log) = log.filter(|log| !log.is_empty()) {
            recorder.stack_log(self.flow, &log);
        }
    }

    /// Returns the stack's current report; after a failure of the stack, the report at the last sample before it, which
    /// is empty without samples.
    fn report(&self, now: Time) -> StackReport {
        let report = self.stack.read(|stack| stack.report(now));
        report.unwrap_or(self.report)
    }

    /// Returns the warning about a lost connection.
    pub(crate) fn run_warning(&self) -> Option<String> {
        let (at, reason) = self.lost.as_ref()?;
        let (name, at) = (&self.name, at.since(Time::ZERO));
        Some(format!(
            "flow `{name}`: its connection was lost at {at}: {reason}"
        ))
    }

    /// Returns the time at which the last byte of a finite transfer was acknowledged; `None` before that.
    pub(crate) fn finish(&self, now: Time) -> Option<Time> {
        self.report(now).finish
    }

    /// Returns the smallest and largest round-trip times so far, and restarts their record at `now`. Keeps the report:
    /// if the stack fails later, its counters must not be below those of the measurement's start.
    pub(crate) fn restart_extremes(&mut self, now: Time) -> (Span, Span) {
        let report = self.report(now);
        self.report = report;
        self.stack.call(now, |stack| stack.restart_extremes());
        (report.rtt_min, report.rtt_max)
    }

    pub(crate) fn sample(&mut self, now: Time) -> FlowSample {
        self.report = self.report(now);
        let report = &self.report;
        FlowSample {
            time: now,
            flow: self.flow,
            cwnd: report.cwnd,
            ssthresh: report.ssthresh,
            srtt: report.srtt,
            in_flight: report.in_flight,
            sent_pkts: self.sent_pkts(),
            retransmitted_pkts: report.lost_pkts,
            delivered_bytes: report.delivered_bytes,
            in_order_bytes: report.in_order_bytes,
        }
    }

    pub(crate) fn counters(&self, now: Time) -> FlowCounters {
        let report = self.report(now);
        FlowCounters {
            sent_pkts: self.sent_pkts(),
            sent_bytes: self.sent_bytes,
            rtt_samples: report.rtt_samples,
            rtt_sum: report.rtt_sum,
            rtt_min: report.rtt_min,
            rtt_max: report.rtt_max,
            retransmitted_pkts: report.lost_pkts,
            delivered_pkts: self.received,
            delivered_bytes: report.delivered_bytes,
            in_order_pkts: self.received,
            in_order_bytes: report.in_order_bytes,
            cuts_loss: report.cuts_loss,
            cuts_ecn: report.cuts_ecn,
            timeouts: report.timeouts,
            cwnd_integral: report.cwnd_integral,
            ..FlowCounters::default()
        }
    }
}

fn ecn_of(flags: Flags) -> EcnCodepoint {
    if flags.has(Flags::CE) {
        EcnCodepoint::Ce
    } else if flags.has(Flags::ECT1) {
        EcnCodepoint::Ect1
    } else if flags.has(Flags::ECT) {
        EcnCodepoint::Ect0
    } else {
        EcnCodepoint::NotEct
    }
}

fn flags_of(ecn: EcnCodepoint) -> Flags {
    let capable = Flags::DATAGRAM.with(Flags::ECT);
    match ecn {
        EcnCodepoint::NotEct => Flags::DATAGRAM,
        EcnCodepoint::Ect0 => capable,
        EcnCodepoint::Ect1 => capable.with(Flags::ECT1),
        EcnCodepoint::Ce => capable.with(Flags::CE),
    }
}

//! A model of flows that share one bottleneck with a queue, segment by segment. It is for algorithms that pace, or that
//! respond to delays, marks or delivery rates.
//!
//! Segments wait in one queue. The sender receives a segment's acknowledgement one round-trip time after the segment's
//! service. The sender learns of a dropped segment when the acknowledgement would have arrived. A retransmission is
//! modelled as a new segment.

use std::collections::VecDeque;

use longhaul_congestion::{AckSample, Cause, Congestion, CongestionState, Phase, RateSample};
use longhaul_units::{Span, Time};

/// Size of a segment in bytes, for converting rates as a transport does.
const SEGMENT_BYTES: u64 = 1500;

/// The bottleneck of a path with its rate, base round-trip time and buffer.
#[derive(Clone, Copy, Debug)]
pub struct Bottleneck {
    /// Rate in segments per second.
    pub rate: f64,
    /// Round-trip time without the queue.
    pub rtt: Span,
    /// Capacity of the queue, in segments.
    pub buffer: f64,
    /// Minimum length of the queue for marking, in segments.
    pub mark_from: f64,
}

impl Bottleneck {
    /// Returns a bottleneck with an unlimited queue and without marks.
    pub fn endless(rate: f64, rtt: Span) -> Self {
        Self {
            rate,
            rtt,
            buffer: f64::INFINITY,
            mark_from: f64::INFINITY,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    number: u64,
    sent: Time,
    /// Arrival time of the segment's acknowledgement, or of the detection of its loss.
    answered: Time,
    queued: f64,
    lost: bool,
    marked: bool,
    /// Number of segments that the sender knew to be delivered when it sent this segment
    /// (draft-cheng-iccrg-delivery-rate-estimation section 3).
    delivered: u64,
    /// Time of the last delivery that the sender knew of when it sent this segment.
    delivered_at: Time,
    /// Departure time of the segment that was the last to be acknowledged before this segment was sent.
    first_sent: Time,
}

/// Measurements of one flow during a part of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Rate of delivery, in segments per second.
    pub rate: f64,
    /// Mean length of the queue in segments, at arrivals of the flow's segments.
    pub mean_queue: f64,
    /// Longest queue in segments, at arrivals of the flow's segments.
    pub max_queue: f64,
    /// Shortest queue in segments, at arrivals of the flow's segments.
    pub min_queue: f64,
    /// Number of lost segments.
    pub lost: u64,
    /// Number of congestion signals.
    pub signals: u64,
}

/// A sender of the model.
#[derive(Clone, Debug)]
pub struct Sender {
    /// State of the flow: its window, slow start and algorithm.
    pub state: CongestionState,
    flight: VecDeque<Segment>,
    start: Time,
    next: u64,
    pace_next: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    recover: u64,
    in_recovery: bool,
    reduced: bool,
    round: u64,
    round_end: u64,
    min_rtt: Span,
    srtt: Span,
    last_ack: Option<AckSample>,
    signals: u64,
    queue_sum: f64,
    max_queue: f64,
    min_queue: f64,
}

impl Sender {
    fn new(state: CongestionState, start: Time) -> Self {
        Self {
            state,
            flight: VecDeque::new(),
            start,
            next: 0,
            pace_next: start,
            delivered: 0,
            delivered_at: start,
            first_sent: start,
            lost: 0,
            recover: 0,
            in_recovery: false,
            reduced: false,
            round: 0,
            round_end: 0,
            min_rtt: Span::ZERO,
            srtt: Span::ZERO,
            last_ack: None,
            signals: 0,
            queue_sum: 0.0,
            max_queue: 0.0,
            min_queue: f64::INFINITY,
        }
    }

    /// Returns the send time of the next segment; `None` if the sender has to wait for an acknowledgement.
    fn sends_at(&self, now: Time) -> Option<Time> {
        let room = self.flight.len() < self.state.window.cwnd() as usize;
        room.then(|| now.max(self.pace_next).max(self.start))
    }

    fn answered_at(&self) -> Option<Time> {
        self.flight.front().map(|segment| segment.answered)
    }

    fn send(&mut self, now: Time, path: &Bottleneck, free_at: &mut Time) {
        let queued = free_at.since(now.min(*free_at)).as_secs_f64() * path.rate;
        let lost = queued >= path.buffer;
        if !lost {
            *free_at = now.max(*free_at) + Span::from_secs_f64(1.0 / path.rate);
        }
        if self.flight.is_empty() {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let answered = now.max(*free_at) + path.rtt;
        self.flight.push_back(Segment {
            number: self.next,
            sent: now,
            answered,
            queued,
            lost,
            marked: queued >= path.mark_from,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
        });
        self.next += 1;
        if let Some(rate) = self.state.pacing_rate() {
            self.pace_next = now + rate.transmission(SEGMENT_BYTES).0;
        }
    }

    fn answer(&mut self, path: &Bottleneck) {
        let segment = self.flight.pop_front().expect("an answer has a segment");
        let now = segment.answered;
        if segment.lost {
            self.lost += 1;
            if segment.number >= self.recover {
                self.in_recovery = true;
                self.signal(now, Cause::Loss);
            }
            return;
        }
        let mut ack = self.ack(&segment, path);
        if segment.number >= self.round_end {
            self.round += 1;
            self.round_end = self.next;
            ack.round_start = true;
        }
        if self.in_recovery && segment.number >= self.recover {
            self.in_recovery = false;
            self.state.on_recovery_exit(now);
        }
        if self.in_recovery {
            self.state.on_ack_in(&ack, Phase::Recovery);
        } else if segment.marked && segment.number >= self.recover {
            self.state.on_ack_in(&ack, Phase::NoGrowth);
            self.signal(now, Cause::Ecn);
        } else {
            self.state.on_ack(&ack);
        }
        self.last_ack = Some(ack);
    }

    /// Returns the last acknowledgement.
    pub fn last_ack(&self) -> AckSample {
        self.last_ack.expect("the flow has run")
    }

    fn signal(&mut self, now: Time, cause: Cause) {
        self.recover = self.next;
        self.signals += 1;
        self.state.on_congestion(&Congestion {
            now,
            cause,
            base: self.state.window.cwnd(),
            in_flight: self.flight.len() as u64,
            in_slow_start: self.state.window.in_slow_start(),
            first: !self.reduced,
        });
        self.reduced = true;
    }

    fn ack(&mut self, segment: &Segment, path: &Bottleneck) -> AckSample {
        let now = segment.answered;
        let rtt = now.since(segment.sent);
        self.delivered += 1;
        self.queue_sum += segment.queued;
        self.max_queue = self.max_queue.max(segment.queued);
        self.min_queue = self.min_queue.min(segment.queued);
        if self.min_rtt == Span::ZERO {
            (self.min_rtt, self.srtt) = (rtt, rtt);
        }
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = Span::from_ps(self.srtt.as_ps() / 8 * 7 + rtt.as_ps() / 8);
        let sending = segment.sent.since(segment.first_sent);
        let answering = now.since(segment.delivered_at);
        let interval = sending.max(answering);
        let segments = self.delivered - segment.delivered;
        (self.first_sent, self.delivered_at) = (segment.sent, now);
        AckSample {
            now,
            delivered: self.delivered,
            lost: self.lost,
            rtt: Some(rtt),
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            // The return path takes half of the base round-trip time.
            one_way_delay: Some(rtt.saturating_sub(Span::from_ps(path.rtt.as_ps() / 2))),
            ecn_echo: segment.marked,
            in_flight: self.flight.len() as u64,
            delivery_rate: Some(RateSample::new(segments as f64, interval)),
            round: self.round,
            segment_bytes: SEGMENT_BYTES,
            ..AckSample::ONE_SEGMENT
        }
    }
}

/// A bottleneck and the senders that share it.
#[derive(Clone, Debug)]
pub struct Pipe {
    /// The bottleneck; it may be changed between parts of a run.
    pub path: Bottleneck,
    /// Senders in the order in which they were added.
    pub senders: Vec<Sender>,
    now: Time,
    free_at: Time,
}

impl Pipe {
    /// Returns a bottleneck without senders.
    pub fn new(path: Bottleneck) -> Self {
        Self {
            path,
            senders: Vec::new(),
            now: Time::ZERO,
            free_at: Time::ZERO,
        }
    }

    /// Returns a pipe through the bottleneck `path`, with one sender.
    pub fn single(path: Bottleneck, state: CongestionState) -> Self {
        let mut pipe = Self::new(path);
        pipe.add(state);
        pipe
    }

    /// Adds a sender that starts at the current time.
    pub fn add(&mut self, state: CongestionState) {
        self.senders.push(Sender::new(state, self.now));
    }

    /// Continues the run for `seconds`; returns the measurements of each sender during this time.
    pub fn run(&mut self, seconds: f64) -> Vec<Seen> {
        let before: Vec<(u64, u64, u64)> = self
            .senders
            .iter_mut()
            .map(|sender| {
                (sender.queue_sum, sender.max_queue, sender.min_queue) = (0.0, 0.0, f64::INFINITY);
                (sender.delivered, sender.lost, sender.signals)
            })
            .collect();
        let end = self.now + Span::from_secs_f64(seconds);
        while let Some((at, index, answers)) = self.next_event()
            && at <= end
        {
            self.now = at;
            let sender = &mut self.senders[index];
            if answers {
                sender.answer(&self.path);
            } else {
                sender.send(at, &self.path, &mut self.free_at);
            }
        }
        self.now = end;
        let seen = |(sender, (delivered, lost, signals)): (&Sender, (u64, u64, u64))| {
            let count = (sender.delivered - delivered) as f64;
            Seen {
                rate: count / seconds,
                mean_queue: sender.queue_sum / count,
                max_queue: sender.max_queue,
                min_queue: sender.min_queue,
                lost: sender.lost - lost,
                signals: sender.signals - signals,
            }
        };
        self.senders.iter().zip(before).map(seen).collect()
    }

    /// Returns the next event: its time, its sender, and true for an acknowledgement or false for sending. At equal
    /// times, acknowledgements come first.
    fn next_event(&self) -> Option<(Time, usize, bool)> {
        let answers =
            |(index, sender): (usize, &Sender)| Some((sender.answered_at()?, index, true));
        let sends =
            |(index, sender): (usize, &Sender)| Some((sender.sends_at(self.now)?, index, false));
        let senders = || self.senders.iter().enumerate();
        let events = senders()
            .filter_map(answers)
            .chain(senders().filter_map(sends));
        events.min_by_key(|&(at, _, _)| at)
    }
}

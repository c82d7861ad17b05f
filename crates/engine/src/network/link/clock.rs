//! How a link with service on arrival keeps time.

use longhaul_units::{Rate, Span, Time};

use super::transmitter::Transmitter;
use crate::config::Work;
use crate::packet::Packet;

/// A time, also as ns-2 has it; see [`crate::config::Clock`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DualClockTime {
    pub(crate) time: Time,
    /// In seconds.
    pub(crate) ns2_s: f64,
}

impl DualClockTime {
    /// When a packet reaches the far end of the link that it is on.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Self {
        Self {
            time: packet.time,
            ns2_s: packet.ns2_s,
        }
    }

    pub(super) fn at(time: Time) -> Self {
        Self {
            time,
            ns2_s: time.as_secs_f64(),
        }
    }
}

/// When packets are served, first in, first out.
pub(super) trait Clock {
    /// Whether a packet that arrives then goes straight into service.
    fn is_idle(&self, arrival: DualClockTime) -> bool;

    /// End of the last scheduled transmission.
    fn busy_until(&self) -> Time;

    /// What is still to be sent of packets whose service has begun, where so many bytes wait behind them: what a
    /// whole picosecond does not hold is sent after it.
    fn unsent(&self, now: Time, waiting_bytes: u64) -> Work;

    /// Serves a packet after all earlier ones, which finds the link `idle` or not. Returns when its service begins,
    /// and its arrival at the far end.
    fn serve(
        &mut self,
        bytes: u16,
        arrival: DualClockTime,
        idle: bool,
        none_waits: bool,
    ) -> (Time, DualClockTime);

    /// Whether the first waiting packet's service has begun.
    fn has_begun(&self, now: DualClockTime) -> bool;

    /// The first waiting packet has begun service, and the next one becomes the first. Returns when
    /// it began.
    fn begin_next(&mut self, begun: &Packet) -> Time;
}

/// Exact times in picoseconds; at the same time departures come first.
#[derive(Debug)]
pub(crate) struct ExactClock {
    transmitter: Transmitter,
    delay: Span,
    busy_until: Time,
    next_start: Time,
}

impl ExactClock {
    pub(super) fn new(rate: Rate, delay: Span) -> Self {
        Self {
            transmitter: Transmitter::new(rate),
            delay,
            busy_until: Time::ZERO,
            next_start: Time::ZERO,
        }
    }
}

impl Clock for ExactClock {
    #[inline]
    fn is_idle(&self, arrival: DualClockTime) -> bool {
        self.busy_until <= arrival.time
    }

    #[inline]
    fn busy_until(&self) -> Time {
        self.busy_until
    }

    fn unsent(&self, now: Time, waiting_bytes: u64) -> Work {
        if self.busy_until < now {
            return Work::default();
        }
        let all = self.transmitter.unsent(self.busy_until.since(now));
        all.since(Work::of_bytes(waiting_bytes))
    }

    #[inline]
    fn serve(
        &mut self,
        bytes: u16,
        arrival: DualClockTime,
        idle: bool,
        none_waits: bool,
    ) -> (Time, DualClockTime) {
        let start = if idle { arrival.time } else { self.busy_until };
        if start > self.busy_until {
            self.transmitter.note_pause();
        }
        if none_waits {
            self.next_start = start;
        }
        self.busy_until = start + self.transmitter.time(bytes);
        let time = self.busy_until + self.delay;
        (start, DualClockTime { time, ..arrival })
    }

    #[inline]
    fn has_begun(&self, now: DualClockTime) -> bool {
        self.next_start <= now.time
    }

    #[inline]
    fn begin_next(&mut self, begun: &Packet) -> Time {
        std::mem::replace(&mut self.next_start, begun.time - self.delay)
    }
}

//! Clocks of links that compute the times of a packet when the packet enters the link: the beginning of its
//! transmission, and its arrival at the far end.

use longhaul_units::{Rate, Span, Time};

use super::transmitter::{Carry, TxTimes};
use crate::config::Work;
use crate::packet::Packet;

/// A time in picoseconds and, with ns-2's clock, in ns-2's arithmetic; see [`crate::config::Clock`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DualClockTime {
    pub(crate) time: Time,
    /// The time in seconds, as ns-2 computes it.
    pub(crate) ns2_s: f64,
}

impl DualClockTime {
    /// Returns the packet's arrival time at the far end of its link, as stored in the packet.
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

/// Computation of service times, for packets that are served first in, first out.
pub(super) trait Clock {
    /// Returns true if a packet that arrives at this time goes straight into service.
    fn is_idle(&self, arrival: DualClockTime) -> bool;

    /// Returns the end of the last scheduled transmission.
    fn busy_until(&self) -> Time;

    /// Returns the unsent part of the packet in service. `waiting_bytes` is the size of the accepted packets that are
    /// not in service yet.
    fn unsent(&self, now: Time, waiting_bytes: u64) -> Work;

    /// Schedules the service of a packet after all earlier packets. `idle` is true if the link is idle on the packet's
    /// arrival; `none_waits` is true if no earlier packet waits. Returns two times: the beginning of the service, and
    /// the packet's arrival at the far end.
    fn serve(
        &mut self,
        bytes: u16,
        arrival: DualClockTime,
        idle: bool,
        none_waits: bool,
    ) -> (Time, DualClockTime);

    /// Returns true if the service of the first waiting packet has begun by `now`.
    fn has_begun(&self, now: DualClockTime) -> bool;

    /// Records that `begun`, the first waiting packet, has begun service. Returns the time at which this service began.
    fn begin_next(&mut self, begun: &Packet) -> Time;
}

/// Rate and delay of a link; several links may share one `Line`.
#[derive(Debug)]
pub(crate) struct Line {
    times: TxTimes,
    delay: Span,
}

impl Line {
    pub(crate) fn new(rate: Rate, delay: Span) -> Self {
        Self {
            times: TxTimes::new(rate),
            delay,
        }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.times.rate()
    }

    pub(crate) fn delay(&self) -> Span {
        self.delay
    }
}

/// Time until which a link is busy.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    busy_until: Time,
    carry: Carry,
}

impl Occupancy {
    /// Returns true if a packet that arrives at this time goes straight into service.
    #[inline]
    pub(crate) fn is_idle(&self, arrival: Time) -> bool {
        self.busy_until <= arrival
    }

    /// Returns the end of the last scheduled transmission.
    #[inline]
    pub(crate) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Returns the unsent part of the packet in service: all unsent data except the `waiting_bytes` behind the packet.
    pub(crate) fn unsent(&self, line: &Line, now: Time, waiting_bytes: u64) -> Work {
        if self.busy_until < now {
            return Work::default();
        }
        let all = line.times.unsent(self.busy_until.since(now), &self.carry);
        all.since(Work::of_bytes(waiting_bytes))
    }

    /// Schedules the service of a packet after all earlier packets. `idle` is true if the link is idle on the packet's
    /// arrival. Returns two times: the beginning of the service, and the packet's arrival at the far end.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        line: &mut Line,
        bytes: u16,
        arrival: Time,
        idle: bool,
    ) -> (Time, Time) {
        let start = if idle { arrival } else { self.busy_until };
        if start > self.busy_until {
            self.carry.note_pause();
        }
        self.busy_until = start + line.times.time(bytes, &mut self.carry);
        (start, self.busy_until + line.delay)
    }
}

/// Clock with exact times in picoseconds. Of simultaneous events, departures precede arrivals.
#[derive(Debug)]
pub(crate) struct ExactClock {
    line: Line,
    occupancy: Occupancy,
    next_start: Time,
}

impl ExactClock {
    pub(super) fn new(rate: Rate, delay: Span) -> Self {
        Self {
            line: Line::new(rate, delay),
            occupancy: Occupancy::default(),
            next_start: Time::ZERO,
        }
    }
}

impl Clock for ExactClock {
    #[inline]
    fn is_idle(&self, arrival: DualClockTime) -> bool {
        self.occupancy.is_idle(arrival.time)
    }

    #[inline]
    fn busy_until(&self) -> Time {
        self.occupancy.busy_until()
    }

    fn unsent(&self, now: Time, waiting_bytes: u64) -> Work {
        self.occupancy.unsent(&self.line, now, waiting_bytes)
    }

    #[inline]
    fn serve(
        &mut self,
        bytes: u16,
        arrival: DualClockTime,
        idle: bool,
        none_waits: bool,
    ) -> (Time, DualClockTime) {
        let occupancy = &mut self.occupancy;
        let (start, time) = occupancy.serve(&mut self.line, bytes, arrival.time, idle);
        if none_waits {
            self.next_start = start;
        }
        (start, DualClockTime { time, ..arrival })
    }

    #[inline]
    fn has_begun(&self, now: DualClockTime) -> bool {
        self.next_start <= now.time
    }

    #[inline]
    fn begin_next(&mut self, begun: &Packet) -> Time {
        std::mem::replace(&mut self.next_start, begun.time - self.line.delay)
    }
}

//! DECbit: arriving packets are marked while the average queue, including the packet in service, is at least one packet
//! (Ramakrishnan and Jain, "A binary feedback scheme for congestion avoidance in computer networks", TOCS 8(2), 1990,
//! section 3).
//!
//! The average is taken over the last regeneration cycle (a busy period and the idle period after it) and the current
//! cycle so far.

use longhaul_keys::{Table, keys};
use longhaul_units::{Rate, Span, Time};

use super::{Aqm, AqmState, Arrival, Capacity, Fifo, Parameters, Verdict};
use crate::packet::Packet;
use crate::random::Stream;

keys! {
    /// Parameters of DECbit's router.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DecBitConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
    }
}

impl Parameters for DecBitConfig {
    type Queue = Fifo<DecBit>;

    const KIND: &'static str = "decbit";
    const TITLE: &'static str = "DECbit";
    const DESCRIPTION: &'static str = "Marks while the average queue is at least a packet.";
    const SOURCE: &'static str = "Ramakrishnan and Jain, TOCS 8(2), 1990";

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, _stream: Stream) -> Fifo<DecBit> {
        Fifo::new(DecBit::new(*self))
    }

    fn marks(&self) -> bool {
        true
    }
}

/// The state of DECbit.
#[derive(Clone, Debug)]
pub(crate) struct DecBit {
    config: DecBitConfig,
    /// The cycle before the current one.
    last: Cycle,
    current: Cycle,
    began: Time,
    /// Number of packets waiting and in service since the time `changed`.
    pkts: u64,
    changed: Time,
}

/// A regeneration cycle: a busy period and the idle period after it.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    length: Span,
    /// Integral of the queue length, in packets times picoseconds.
    integral: u128,
}

impl DecBit {
    fn new(config: DecBitConfig) -> Self {
        Self {
            config,
            last: Cycle::default(),
            current: Cycle::default(),
            began: Time::ZERO,
            pkts: 0,
            changed: Time::ZERO,
        }
    }

    /// Updates the integral of the queue's length over time. From `now` on, `pkts` packets are waiting or in
    /// service.
    fn accumulate(&mut self, now: Time, pkts: u64) {
        let elapsed = now.since(self.changed).as_ps();
        self.current.integral += u128::from(self.pkts) * u128::from(elapsed);
        self.current.length = now.since(self.began);
        (self.pkts, self.changed) = (pkts, now);
    }

    fn average_is_one(&self) -> bool {
        let length = self.last.length + self.current.length;
        let integral = self.last.integral + self.current.integral;
        length > Span::ZERO && integral >= u128::from(length.as_ps())
    }

    /// Returns the average queue in packets, as of the last arrival or beginning of service.
    fn average_pkts(&self) -> f64 {
        let length = self.last.length + self.current.length;
        let integral = self.last.integral + self.current.integral;
        integral as f64 / length.as_ps().max(1) as f64
    }
}

impl Aqm for DecBit {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Some(since) = arrival.idle_since {
            self.accumulate(since, 0);
            self.current.length = arrival.now.since(self.began);
            self.last = std::mem::take(&mut self.current);
            (self.began, self.changed) = (arrival.now, arrival.now);
        }
        self.accumulate(arrival.now, self.pkts);
        let congested = self.average_is_one();
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            return Verdict::Drop(reason);
        }
        self.pkts += 1;
        if congested && arrival.ecn_capable {
            Verdict::AcceptMarked
        } else {
            Verdict::Accept
        }
    }

    fn on_departure(&mut self, _packet: &Packet, now: Time, waiting_pkts: u64) -> bool {
        self.accumulate(now, waiting_pkts + 1);
        false
    }

    fn state(&self) -> AqmState {
        AqmState {
            average_pkts: Some(self.average_pkts()),
            ..AqmState::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a packet arrive at `now_ms` milliseconds. The link has been idle since `idle_ms`, or is busy if this is
    /// `None`.
    fn arrive(
        decbit: &mut DecBit,
        now_ms: u64,
        waiting_pkts: u64,
        idle_ms: Option<u64>,
    ) -> Verdict {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        decbit.on_arrival(&Arrival {
            now: at(now_ms),
            bytes: 1000,
            ecn_capable: true,
            low_priority: false,
            waiting_pkts,
            waiting_bytes: waiting_pkts * 1000,
            idle_since: idle_ms.map(at),
        })
    }

    #[test]
    fn the_average_goes_over_two_cycles() {
        let limit = Capacity::Packets(100);
        let mut decbit = DecBit::new(DecBitConfig { limit });
        let leave = |decbit: &mut DecBit, ms, waiting| {
            let packet = crate::queue::tests::packet(0, 1000);
            decbit.on_departure(&packet, Time::ZERO + Span::from_millis(ms), waiting);
        };
        // The link is idle until 10 ms, and then transmits three packets of 4 ms each. The queue is 1 at first, 2 from
        // 11 ms, 3 from 12 ms, 2 from 14 ms, and 1 from 18 to 22 ms. The integrals at the arrivals are 0, 1 and 3
        // packet ms.
        assert_eq!(arrive(&mut decbit, 10, 0, Some(0)), Verdict::Accept);
        leave(&mut decbit, 10, 0);
        assert_eq!(arrive(&mut decbit, 11, 0, None), Verdict::Accept);
        assert_eq!(arrive(&mut decbit, 12, 1, None), Verdict::Accept);
        assert!((decbit.average_pkts() - 3.0 / 12.0).abs() < 1e-12);
        leave(&mut decbit, 14, 1);
        leave(&mut decbit, 18, 0);
        // The arrival at 30 ms ends the cycle of 20 ms, whose integral is 1 + 2 + 2 * 3 + 4 * 2 + 4 = 21 packet ms. The
        // idle time before the first packet no longer counts.
        assert_eq!(arrive(&mut decbit, 30, 0, Some(22)), Verdict::AcceptMarked);
        assert!((decbit.average_pkts() - 21.0 / 20.0).abs() < 1e-12);
        leave(&mut decbit, 30, 0);
        // One packet is in the queue for 4 ms of a cycle of 6 ms.
        assert_eq!(arrive(&mut decbit, 36, 0, Some(34)), Verdict::Accept);
        assert!((decbit.average_pkts() - 4.0 / 6.0).abs() < 1e-12);
    }
}

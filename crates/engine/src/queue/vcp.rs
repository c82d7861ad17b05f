//! VCP's router: it measures its load over an interval, and writes the load into the packets of the next interval (Xia,
//! Subramanian, Stoica and Kalyanaraman, "One more bit is enough", SIGCOMM 2005, section 3.1).
//!
//! The load is the sum of the arrived bytes and a fraction of the persistent queue, divided by the bytes that the link
//! sends at its target utilisation. The paper does not define its filter for the persistent queue. As in the authors'
//! ns-2 module, the filter is a moving average, in which the mean queue of the newest interval has a weight of a
//! quarter.

use longhaul_congestion::Load;
use longhaul_keys::{Kind, Range, Refusal, TIME, Table, keys};
use longhaul_units::{Rate, Span, Time};

use super::fifo::Packets;
use super::link_context::check_update;
use super::{Arrival, Capacity, DropReason, Effects, LinkContext, PacketQueue, Parameters};
use crate::packet::{Flags, OptionStore, Packet};
use crate::random::Stream;

keys! {
    /// Parameters of VCP's router.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct VcpConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT.source("Xia and others, SIGCOMM 2005, section 5"),
        /// Time over which the load is measured: a multiple of `sample`, longer than most round trips.
        pub interval: Span =
            Kind::Positive(TIME).key().default("200 ms").source("SIGCOMM 2005 section 3.1: t_rho"),
        /// Time between two samples of the queue.
        pub sample: Span =
            Kind::Positive(TIME).key().default("10 ms").source("SIGCOMM 2005 section 3.1: t_q"),
        /// Fraction of the persistent queue that counts as load.
        pub queue_weight: f64 = Kind::Number(Range::closed(0.0, 1e6))
            .key()
            .default("0.5")
            .source("SIGCOMM 2005 section 3.1: kappa_q"),
        /// Utilisation that counts as a load of 100 %.
        pub target: f64 = Kind::Number(Range::above(0.0, 1.0))
            .key()
            .default("0.98")
            .source("SIGCOMM 2005 section 3.1: gamma_l"),
    }
    beside {
        /// Rate of the link.
        pub rate: Rate,
    }
}

impl Parameters for VcpConfig {
    type Queue = Vcp;

    const KIND: &'static str = "vcp";
    const TITLE: &'static str = "VCP router";
    const DESCRIPTION: &'static str =
        "Drop-tail that tells VCP's senders whether the load is low, high or too high.";
    const SOURCE: &'static str = "Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005";

    /// Refuses a sampling time that is too short, and an interval that is not a multiple of the sampling time.
    fn complete(values: &mut Table, _link: &LinkContext) -> Result<(), Refusal> {
        check_update(values, Self::sample)?;
        let (interval, sample): (Span, Span) =
            (values.read(Self::interval), values.read(Self::sample));
        if interval.as_ps() % sample.as_ps() != 0 {
            let message = format!("interval ({interval}) is not a multiple of sample ({sample})");
            return Err(Refusal::of(Self::interval, message));
        }
        Ok(())
    }

    fn read(values: &Table, rate: Rate) -> Self {
        Self::of(values, rate)
    }

    fn queue(&self, _stream: Stream) -> Vcp {
        Vcp::new(*self)
    }
}

/// Smallest load that is coded as high (section 3.1); from 1 on, a load is coded as overload.
const HIGH_LOAD: f64 = 0.8;
const OVERLOAD: f64 = 1.0;
/// Weight of an interval's mean queue in the persistent queue, an exponentially weighted moving average.
const QUEUE_GAIN: f64 = 0.25;

/// The state of VCP's router.
#[derive(Clone, Debug)]
pub(crate) struct Vcp {
    config: VcpConfig,
    packets: Packets,
    /// Bytes in an interval that correspond to a load of one.
    full_bytes: f64,
    samples_per_interval: u64,
    arrived_bytes: u64,
    /// Number of samples of the queue in the current interval.
    samples: u64,
    /// Sum of the queue lengths sampled in the current interval, in bytes.
    sampled_bytes: u64,
    persistent_bytes: f64,
    load: Load,
}

impl Vcp {
    fn new(config: VcpConfig) -> Self {
        let bytes_per_s = config.rate.as_bps() as f64 / 8.0;
        let samples = config.interval.as_ps() / config.sample.as_ps();
        Self {
            config,
            packets: Packets::default(),
            full_bytes: config.target * bytes_per_s * config.interval.as_secs_f64(),
            samples_per_interval: samples,
            arrived_bytes: 0,
            samples: 0,
            sampled_bytes: 0,
            persistent_bytes: 0.0,
            load: Load::Low,
        }
    }
}

impl PacketQueue for Vcp {
    fn observe_arrival(&mut self, packet: &Packet, _options: &mut OptionStore) {
        self.arrived_bytes += u64::from(packet.bytes);
    }

    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        _effects: &mut Effects,
    ) -> Result<(), DropReason> {
        arrival.check_limit(self.config.limit)?;
        self.packets.push(packet);
        Ok(())
    }

    fn dequeue(&mut self, _now: Time, _effects: &mut Effects) -> Option<Packet> {
        self.packets.pop()
    }

    /// Raises the load in the header of a data packet to this link's load, if the packet requests loads.
    fn stamp_departure(&mut self, packet: &mut Packet, _options: &mut OptionStore) {
        let answers = packet.flags.has(Flags::ACK);
        if !answers && packet.flags.load().is_some_and(|load| load < self.load) {
            packet.flags = packet.flags.with_load(self.load);
        }
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.sample)
    }

    fn update(&mut self, _now: Time) {
        let (_, bytes) = self.packets.waiting();
        self.sample_queue(bytes);
    }
}

impl Vcp {
    /// Samples the length of the queue; at the end of an interval, computes the load.
    fn sample_queue(&mut self, waiting_bytes: u64) {
        self.samples += 1;
        self.sampled_bytes += waiting_bytes;
        if self.samples < self.samples_per_interval {
            return;
        }
        let mean = self.sampled_bytes as f64 / self.samples as f64;
        self.persistent_bytes += QUEUE_GAIN * (mean - self.persistent_bytes);
        let queued = self.config.queue_weight * self.persistent_bytes;
        let load = (self.arrived_bytes as f64 + queued) / self.full_bytes;
        self.load = if load >= OVERLOAD {
            Load::Over
        } else if load >= HIGH_LOAD {
            Load::High
        } else {
            Load::Low
        };
        (self.arrived_bytes, self.samples, self.sampled_bytes) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a router at a link of 8 Mbit/s: a load of 100 % is 20,000 bytes in 20 ms, and each interval has two
    /// samples.
    fn vcp() -> Vcp {
        let config = VcpConfig {
            limit: Capacity::Packets(100),
            interval: Span::from_millis(20),
            sample: Span::from_millis(10),
            queue_weight: 0.5,
            target: 1.0,
            rate: Rate::from_bps(8_000_000),
        };
        Vcp::new(config)
    }

    fn interval(vcp: &mut Vcp, packets: u64, waiting: [u64; 2]) -> Load {
        let packet = Packet::data(0, 1000);
        let mut options = OptionStore::default();
        (0..packets).for_each(|_| vcp.observe_arrival(&packet, &mut options));
        vcp.sample_queue(waiting[0]);
        vcp.sample_queue(waiting[1]);
        vcp.load
    }

    #[test]
    fn the_load_is_the_input_and_half_of_the_persistent_queue() {
        let mut vcp = vcp();
        assert_eq!(interval(&mut vcp, 15, [0, 0]), Load::Low);
        assert_eq!(interval(&mut vcp, 16, [0, 0]), Load::High);
        assert_eq!(interval(&mut vcp, 20, [0, 0]), Load::Over);
        // A mean of 8000 bytes makes a persistent queue of 2000 bytes, half of which is 1000.
        assert_eq!(interval(&mut vcp, 19, [6000, 10_000]), Load::Over);
        // The persistent queue falls to 1500 bytes. Half of it plus 18000 bytes are 93.75 %.
        assert_eq!(interval(&mut vcp, 18, [0, 0]), Load::High);
        assert!((vcp.persistent_bytes - 1500.0).abs() < 1e-9);
        // The persistent queue is 1125 bytes. Half of it plus 15000 bytes are 77.8 %.
        assert_eq!(interval(&mut vcp, 15, [0, 0]), Load::Low);
    }

    /// Checks that the input of each interval is counted from zero: after a high load, one byte less than 80 % is a low
    /// load again. Without waiting packets, the persistent queue stays zero.
    #[test]
    fn intervals_start_from_nothing() {
        let mut vcp = vcp();
        let mut options = OptionStore::default();
        for _ in 0..2 {
            vcp.observe_arrival(&Packet::data(0, 999), &mut options);
            assert_eq!(interval(&mut vcp, 15, [0, 0]), Load::Low);
            assert_eq!(vcp.persistent_bytes, 0.0);
            vcp.observe_arrival(&Packet::data(0, 1000), &mut options);
            assert_eq!(interval(&mut vcp, 15, [0, 0]), Load::High);
        }
    }

    #[test]
    fn routers_raise_the_load_and_never_lower_it() {
        let mut vcp = vcp();
        let pass = |vcp: &mut Vcp, load: Option<Load>| {
            let mut packet = Packet::data(1, 1000);
            packet.flags = load.map_or(Flags::ECT, |load| Flags::ECT.with_load(load));
            vcp.stamp_departure(&mut packet, &mut OptionStore::default());
            packet.flags.load()
        };
        assert_eq!(pass(&mut vcp, Some(Load::High)), Some(Load::High));
        interval(&mut vcp, 30, [0, 0]);
        assert_eq!(pass(&mut vcp, Some(Load::Low)), Some(Load::Over));
        assert_eq!(pass(&mut vcp, None), None, "it has not asked");
        let mut echo = Packet::data(1, 40);
        echo.flags = Flags::ACK.with_load(Load::Low);
        vcp.stamp_departure(&mut echo, &mut OptionStore::default());
        assert_eq!(echo.flags.load(), Some(Load::Low), "it answers");
    }
}

//! VCP's router: measures its load over an interval and writes it into the packets of the next (Xia,
//! Subramanian, Stoica and Kalyanaraman, "One more bit is enough", SIGCOMM 2005, section 3.1).
//!
//! The load is what arrived and a part of the persistent queue, over what the link can send: both in
//! bytes. The paper filters samples of the queue, and does not say how; as in the authors' ns-2
//! module, the mean of an interval's samples enters an average with a weight of a quarter.

use longhaul_congestion::Load;
use longhaul_units::{Rate, Span};

use crate::network::queue::Capacity;
use crate::packet::{Flags, Packet};

/// VCP's router, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VcpConfig {
    /// Limit on what waits.
    pub limit: Capacity,
    /// Time over which the load is measured (`t_rho` 200 ms): whole sampling times.
    pub interval: Span,
    /// Time between two samples of the queue (`t_q` 10 ms).
    pub sample: Span,
    /// Part of the persistent queue that counts as load (`kappa_q` 0.5).
    pub queue_weight: f64,
    /// Utilisation that counts as full load (`gamma_l` 0.98).
    pub target: f64,
}

/// Loads that separate the codes (section 3.1).
const HIGH_LOAD: f64 = 0.8;
const OVERLOAD: f64 = 1.0;
/// Weight of an interval's mean queue in the persistent queue.
const QUEUE_GAIN: f64 = 0.25;

/// VCP's router at work.
#[derive(Debug)]
pub(in crate::network) struct Vcp {
    config: VcpConfig,
    /// Bytes that make a load of one in an interval.
    full_bytes: f64,
    samples_per_interval: u64,
    arrived_bytes: u64,
    /// Samples of the queue in this interval, and their sum in bytes.
    samples: u64,
    sampled_bytes: u64,
    persistent_bytes: f64,
    load: Load,
}

impl Vcp {
    pub(super) fn new(config: VcpConfig, rate: Rate) -> Self {
        let bytes_per_s = rate.as_bps() as f64 / 8.0;
        let samples = config.interval.as_ps() / config.sample.as_ps();
        Self {
            config,
            full_bytes: config.target * bytes_per_s * config.interval.as_secs_f64(),
            samples_per_interval: samples.max(1),
            arrived_bytes: 0,
            samples: 0,
            sampled_bytes: 0,
            persistent_bytes: 0.0,
            load: Load::Low,
        }
    }

    pub(super) fn on_arrival(&mut self, bytes: u16) {
        self.arrived_bytes += u64::from(bytes);
    }

    /// Raises the load in a data packet that asks for it.
    pub(super) fn on_departure(&self, packet: &mut Packet) {
        let answers = packet.flags.has(Flags::ACK);
        if !answers && packet.flags.load().is_some_and(|load| load < self.load) {
            packet.flags = packet.flags.with_load(self.load);
        }
    }

    pub(super) fn period(&self) -> Span {
        self.config.sample
    }

    /// Samples the queue, and at the end of an interval works out the load.
    pub(super) fn update(&mut self, waiting_bytes: u64) {
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

    /// 8 Mbit/s for 20 ms at 100 % are 20000 bytes; two samples in each interval.
    fn vcp() -> Vcp {
        let config = VcpConfig {
            limit: Capacity::Packets(100),
            interval: Span::from_millis(20),
            sample: Span::from_millis(10),
            queue_weight: 0.5,
            target: 1.0,
        };
        Vcp::new(config, Rate::from_bps(8_000_000))
    }

    fn interval(vcp: &mut Vcp, packets: u64, waiting: [u64; 2]) -> Load {
        (0..packets).for_each(|_| vcp.on_arrival(1000));
        vcp.update(waiting[0]);
        vcp.update(waiting[1]);
        vcp.load
    }

    #[test]
    fn the_load_is_the_input_and_half_of_the_persistent_queue() {
        let mut vcp = vcp();
        assert_eq!(interval(&mut vcp, 15, [0, 0]), Load::Low);
        assert_eq!(interval(&mut vcp, 16, [0, 0]), Load::High);
        assert_eq!(interval(&mut vcp, 20, [0, 0]), Load::Over);
        // A mean of 8000 bytes makes a persistent queue of 2000, half of which are 1000.
        assert_eq!(interval(&mut vcp, 19, [6000, 10_000]), Load::Over);
        // 1500 are left of it: 750 with 18000 are 93.75 %.
        assert_eq!(interval(&mut vcp, 18, [0, 0]), Load::High);
        assert!((vcp.persistent_bytes - 1500.0).abs() < 1e-9);
        // 1125 / 2 with 15000 are 77.8 %.
        assert_eq!(interval(&mut vcp, 15, [0, 0]), Load::Low);
    }

    #[test]
    fn routers_raise_the_load_and_never_lower_it() {
        let mut vcp = vcp();
        let pass = |vcp: &Vcp, load: Option<Load>| {
            let mut packet = Packet::data(1, 1000);
            packet.flags = load.map_or(Flags::ECT, |load| Flags::ECT.with_load(load));
            vcp.on_departure(&mut packet);
            packet.flags.load()
        };
        assert_eq!(pass(&vcp, Some(Load::High)), Some(Load::High));
        interval(&mut vcp, 30, [0, 0]);
        assert_eq!(pass(&vcp, Some(Load::Low)), Some(Load::Over));
        assert_eq!(pass(&vcp, None), None, "it has not asked");
        let mut echo = Packet::data(1, 40);
        echo.flags = Flags::ACK.with_load(Load::Low);
        vcp.on_departure(&mut echo);
        assert_eq!(echo.flags.load(), Some(Load::Low), "it answers");
    }
}

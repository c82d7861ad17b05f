//! XCP's router: once per mean round trip, it computes the desired change of the total throughput, and assigns each
//! packet a share of this change (Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.5; in the form of
//! draft-falk-xcp-spec-03 section 5).
//!
//! Increases are shared equally between flows, decreases in proportion to the flows' throughputs. If the desired change
//! is less than a tenth of the traffic, the difference is shuffled: throughput is taken away and given back in the same
//! interval. This makes shares equal. Bounds and initial values are those of ns-2.35's `xcpq.cc`.

use longhaul_keys::{Kind, PROBABILITY, Range, Table, keys};
use longhaul_units::{Rate, Span, Time};

use super::fifo::Packets;
use super::{Arrival, Capacity, DropReason, Effects, PacketQueue, Parameters};
use crate::packet::{Flags, OptionStore, Packet, XcpHeader};
use crate::random::Stream;

keys! {
    /// Parameters of XCP's router.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct XcpConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT.source("Katabi and others, SIGCOMM 2002, section 5"),
        /// Fraction of the spare bandwidth that is allocated per mean round trip.
        pub alpha: f64 = Kind::Number(Range::above(0.0, 2.0))
            .key()
            .default("0.4")
            .source("SIGCOMM 2002 section 3.5.1"),
        /// Fraction of the persistent queue that is drained per mean round trip; the stability condition is beta =
        /// alpha^2 sqrt(2).
        pub beta: f64 = Kind::Number(Range::closed(0.0, 2.0))
            .key()
            .default("0.226")
            .source("SIGCOMM 2002 section 3.5.1"),
        /// Fraction of the traffic that is shuffled per mean round trip, to make shares equal.
        pub gamma: f64 =
            PROBABILITY.key().default("0.1").source("SIGCOMM 2002 section 3.5.2"),
    }
    beside {
        /// Rate of the link.
        pub rate: Rate,
    }
}

impl Parameters for XcpConfig {
    type Queue = Xcp;

    const KIND: &'static str = "xcp";
    const TITLE: &'static str = "XCP router";
    const DESCRIPTION: &'static str =
        "Drop-tail that grants XCP's senders changes of their throughput.";
    const SOURCE: &'static str =
        "Katabi, Handley and Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03; ns-2";

    fn read(values: &Table, rate: Rate) -> Self {
        Self::of(values, rate)
    }

    fn queue(&self, _stream: Stream) -> Xcp {
        Xcp::new(*self)
    }
}

/// Maximum of a round-trip time in the mean, in seconds; longer ones count as this value.
const LONGEST_RTT_S: f64 = 1.0;
/// Initial value of the control interval, of the queue interval and of the mean round-trip time. It is also the mean
/// after a control interval without round-trip times.
const FIRST_INTERVAL: Span = Span::from_millis(50);
/// Minimum of the control interval.
const SHORTEST_INTERVAL: Span = Span::from_millis(1);
/// Minimum time over which the smallest queue is measured.
const SHORTEST_QUEUE_INTERVAL: Span = Span::from_millis(2);

/// State of XCP's router. Throughputs are in bytes per second.
#[derive(Clone, Debug)]
pub(crate) struct Xcp {
    config: XcpConfig,
    packets: Packets,
    capacity: f64,
    /// Bytes that have arrived in this control interval.
    arrived_bytes: u64,
    /// Sum of the spacings (`rtt / cwnd`, in seconds) in the headers of the packets of this control interval.
    spacings_s: f64,
    /// Sum of the packets' round-trip times, weighted by their spacings.
    weighted_rtts: f64,
    mean_rtt_s: f64,
    interval: Span,
    /// Increase of throughput that a packet is assigned, divided by the spacing in the packet's header. The spacing is
    /// the time between two packets of the sender.
    gain: f64,
    /// Decrease of throughput that a packet is assigned, divided by the packet's size in bytes.
    loss: f64,
    /// Increase of the total throughput, still to be assigned to packets in this interval.
    gains_left: f64,
    /// Decrease of the total throughput, still to be assigned to packets in this interval.
    losses_left: f64,
    /// The persistent queue: the smallest queue in the last queue interval, in bytes.
    persistent_bytes: u64,
    /// The smallest queue in the current queue interval so far, in bytes.
    least_bytes: u64,
    /// Time from the last update to the end of the current control interval.
    control_in: Span,
    /// Time from the last update to the end of the current queue interval.
    queue_in: Span,
}

impl Xcp {
    fn new(config: XcpConfig) -> Self {
        Self {
            config,
            packets: Packets::default(),
            capacity: config.rate.as_bps() as f64 / 8.0,
            arrived_bytes: 0,
            spacings_s: 0.0,
            weighted_rtts: 0.0,
            mean_rtt_s: FIRST_INTERVAL.as_secs_f64(),
            interval: FIRST_INTERVAL,
            gain: 0.0,
            loss: 0.0,
            gains_left: 0.0,
            losses_left: 0.0,
            persistent_bytes: 0,
            least_bytes: 0,
            control_in: FIRST_INTERVAL,
            queue_in: FIRST_INTERVAL,
        }
    }

    /// Records an arriving packet; `header` is `None` if the packet carries no request. A header without a round-trip
    /// time does not enter the mean.
    fn on_arrival(&mut self, bytes: u16, header: Option<&XcpHeader>) {
        self.arrived_bytes += u64::from(bytes);
        if let Some(header) = header.filter(|header| header.rtt_s > 0.0) {
            self.spacings_s += header.spacing_s;
            self.weighted_rtts += header.rtt_s.min(LONGEST_RTT_S) * header.spacing_s;
        }
    }

    /// Writes a packet's share of the throughput change into the packet's header, unless the header requests less. The
    /// change is zero if the header has no round-trip time. Also updates the smallest queue. Called when the packet
    /// begins service; `waiting_bytes` is the queue behind the packet.
    fn on_departure(&mut self, bytes: u16, header: Option<&mut XcpHeader>, waiting_bytes: u64) {
        self.least_bytes = self.least_bytes.min(waiting_bytes);
        let Some(header) = header else {
            return;
        };
        header.granted = true;
        if header.rtt_s <= 0.0 {
            header.change = 0.0;
            return;
        }
        let mut gained = f64::min(self.gain * header.spacing_s, self.gains_left);
        let mut lost = f64::min(self.loss * f64::from(bytes), self.losses_left);
        let share = gained - lost;
        if header.change >= share {
            header.change = share;
        } else {
            // The packet requests less, or an earlier router has reduced the request. The rest reduces the decrease
            // left for other packets. If the rest is larger than this decrease, the difference remains in `gains_left`.
            lost = f64::min(lost + share - header.change, self.losses_left);
            gained = header.change + lost;
        }
        self.gains_left = f64::max(0.0, self.gains_left - gained);
        self.losses_left = f64::max(0.0, self.losses_left - lost);
    }

    /// Returns the time from the last update to the end of the control interval or of the queue interval, whichever is
    /// first.
    fn until_update(&self) -> Span {
        self.control_in.min(self.queue_in)
    }

    /// Ends a queue interval: its smallest queue becomes the persistent queue. The next interval lasts
    /// (mean round-trip time - queueing delay) / 2, but at least `SHORTEST_QUEUE_INTERVAL`.
    fn end_queue_interval(&mut self, waiting_bytes: u64) {
        self.persistent_bytes = self.least_bytes;
        self.least_bytes = waiting_bytes;
        let half_s = (self.mean_rtt_s - waiting_bytes as f64 / self.capacity) / 2.0;
        let half = Span::from_secs_f64(half_s.max(0.0));
        self.queue_in = half.max(SHORTEST_QUEUE_INTERVAL);
    }

    /// Ends a control interval: computes the desired change of the total throughput. Also computes `gain` and `loss`,
    /// which determine each packet's share of this change in the next interval.
    fn end_control_interval(&mut self) {
        let input = self.arrived_bytes as f64 / self.interval.as_secs_f64();
        self.mean_rtt_s = if self.spacings_s > 0.0 {
            self.weighted_rtts / self.spacings_s
        } else {
            FIRST_INTERVAL.as_secs_f64()
        };
        let XcpConfig {
            alpha, beta, gamma, ..
        } = self.config;
        let drain = self.persistent_bytes as f64 / self.mean_rtt_s;
        let change = alpha * (self.capacity - input) - beta * drain;
        let shuffled = f64::max(0.0, gamma * input - change.abs());
        self.gains_left = shuffled + change.max(0.0);
        self.losses_left = shuffled + (-change).max(0.0);
        self.gain = ratio(self.gains_left, self.spacings_s);
        self.loss = ratio(self.losses_left, self.arrived_bytes as f64);
        (self.arrived_bytes, self.spacings_s, self.weighted_rtts) = (0, 0.0, 0.0);
        self.interval = Span::from_secs_f64(self.mean_rtt_s).max(SHORTEST_INTERVAL);
        self.control_in = self.interval;
    }
}

impl PacketQueue for Xcp {
    fn observe_arrival(&mut self, packet: &Packet, options: &mut OptionStore) {
        let header = request(packet, options);
        self.on_arrival(packet.bytes, header.as_deref());
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

    fn stamp_departure(&mut self, packet: &mut Packet, options: &mut OptionStore) {
        let (_, waiting_bytes) = self.packets.waiting();
        self.on_departure(packet.bytes, request(packet, options), waiting_bytes);
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.until_update())
    }

    /// Ends the control interval, the queue interval, or both.
    fn update(&mut self, _now: Time) {
        let elapsed = self.until_update();
        self.control_in = self.control_in.saturating_sub(elapsed);
        self.queue_in = self.queue_in.saturating_sub(elapsed);
        if self.queue_in == Span::ZERO {
            let (_, waiting_bytes) = self.packets.waiting();
            self.end_queue_interval(waiting_bytes);
        }
        if self.control_in == Span::ZERO {
            self.end_control_interval();
        }
    }
}

/// Returns the header of a data packet that requests a change. Headers of acknowledgements carry answers to the sender.
fn request<'a>(packet: &Packet, options: &'a mut OptionStore) -> Option<&'a mut XcpHeader> {
    if packet.flags.has(Flags::ACK) {
        return None;
    }
    options.header_mut(packet.sack)
}

/// Returns a ratio, or zero if the divisor is zero.
fn ratio(total: f64, parts: f64) -> f64 {
    if parts > 0.0 { total / parts } else { 0.0 }
}

#[cfg(test)]
mod tests;

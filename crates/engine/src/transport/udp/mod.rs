//! UDP streams: datagrams that are sent at a rate or in bursts, and counted on arrival.

mod arrivals;
mod departures;

use longhaul_units::Time;

pub(crate) use self::arrivals::Arrivals;
pub(crate) use self::departures::Departures;

use crate::config::Udp;
use crate::measure::FlowCounters;
use crate::network::Path;
use crate::packet::{Flags, Packet, SackHandle};
use crate::schedule::Event;
use crate::transport::Env;

/// Both endpoints of a UDP stream.
#[derive(Debug)]
pub(crate) struct UdpStream {
    /// Index among the UDP streams.
    index: u32,
    /// The flow's id in records.
    flow: u32,
    path: Path,
    config: Udp,
    /// Beginning of the stream.
    begin: Time,
    /// Number of datagrams sent since the beginning of the stream.
    sent: u64,
    /// Number of datagrams that have arrived, each counted once.
    received: u64,
    departures: Departures,
    /// Filter of duplicate datagrams, if any link of the network makes copies.
    arrivals: Option<Box<Arrivals>>,
    running: bool,
}

impl UdpStream {
    /// Creates a stream; `copied` is true if any link of the network duplicates packets.
    pub(crate) fn new(
        (index, flow): (u32, u32),
        path: Path,
        config: Udp,
        departures: Departures,
        copied: bool,
    ) -> Self {
        Self {
            index,
            flow,
            path,
            config,
            begin: Time::ZERO,
            sent: 0,
            received: 0,
            departures,
            arrivals: copied.then(Box::default),
            running: false,
        }
    }

    pub(crate) fn start(&mut self, env: &mut Env) {
        self.begin = env.network.now;
        self.running = true;
        let first = self.next_departure(self.begin);
        env.network
            .schedule
            .push_link(first, Event::Datagram(self.index));
    }

    pub(crate) fn stop(&mut self) {
        self.running = false;
    }

    /// Sends a datagram, and schedules the next departure. After [`Self::stop`], only removes the
    /// event.
    pub(crate) fn on_datagram_event(&mut self, env: &mut Env) {
        let now = env.network.now;
        if !self.running {
            env.network.schedule.finish_link();
            return;
        }
        let sequence = self.sent;
        self.sent += 1;
        let next = self.next_departure(now);
        env.network.schedule.renew_link(next);
        env.network.send(Packet {
            time: Time::ZERO,
            ns2_s: 0.0,
            seq: sequence,
            stamp: now,
            flow: self.index,
            route: self.path.route,
            sack: SackHandle::NONE,
            bytes: self.config.packet_bytes as u16,
            flags: Flags::DATAGRAM,
        });
    }

    fn next_departure(&mut self, now: Time) -> Time {
        self.departures
            .next(&self.config, self.begin, self.sent, now)
    }

    /// Counts a datagram that arrives.
    pub(crate) fn on_packet(&mut self, packet: &Packet) {
        let is_first = self
            .arrivals
            .as_mut()
            .is_none_or(|arrivals| arrivals.is_first(packet.seq));
        self.received += u64::from(is_first);
    }

    /// Returns the flow's id in records.
    pub(crate) fn flow(&self) -> u32 {
        self.flow
    }

    /// Returns the index of the first hop of the datagrams' route.
    pub(crate) fn route(&self) -> u32 {
        self.path.route
    }

    /// Returns the number of datagrams sent.
    pub(crate) fn sent_pkts(&self) -> u64 {
        self.sent
    }

    /// Returns the payload bytes of one datagram.
    pub(crate) fn payload_bytes(&self) -> u64 {
        u64::from(self.config.packet_bytes - self.config.header_bytes)
    }

    pub(crate) fn counters(&self) -> FlowCounters {
        FlowCounters {
            sent_pkts: self.sent,
            sent_bytes: self.sent * u64::from(self.config.packet_bytes),
            delivered_pkts: self.received,
            delivered_bytes: self.received * self.payload_bytes(),
            // Datagrams have no order: each is delivered to the application when it arrives.
            in_order_pkts: self.received,
            in_order_bytes: self.received * self.payload_bytes(),
            ..FlowCounters::default()
        }
    }
}

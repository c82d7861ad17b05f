//! The event list, and the FIFOs of packets in flight. The event list has only the first packet of each FIFO.

use longhaul_units::Time;

use super::arrivals::InFlight;
use super::layout::Station;
use super::packet::Packet;
use super::tournament::Tournament;
use super::{HostEvent, Network};

impl Network {
    /// Processes the events of routers until the next event at a host, and returns this event; `None` if no event at a
    /// host is left until `limit`. The function is compiled twice, so that the copy for runs without packet traces does
    /// not test for traces.
    #[inline]
    pub(crate) fn next<const TRACED: bool>(&mut self, limit: Time) -> Option<HostEvent> {
        let bound = self.event_list.bound(limit);
        while let Some(station) = self.event_list.first_within(bound) {
            self.events += 1;
            match self.layout.stations[station] {
                Station::Server(router) => {
                    let delivered = self.end_service_at::<TRACED>(router, limit);
                    if delivered.is_some() {
                        return delivered;
                    }
                }
                Station::CrossRegion(router) => self.arrive_cross_region::<TRACED>(router, limit),
                Station::AckReady => return Some(HostEvent::AckReady(self.pop(station))),
                Station::MaySend => return Some(HostEvent::MaySend(self.pop(station))),
                Station::OutOfBackbone(router) => {
                    let packet = self.pop(station);
                    let hop = self.layout.hop(router, packet.to());
                    self.arrive_from_backbone::<TRACED>(hop, self.now, packet);
                }
                Station::OnLink(router) => {
                    let packet = self.pop(station);
                    self.arrive_at_backbone::<TRACED>(router, packet, limit);
                }
                Station::OutOfPop(pop) => {
                    let packet = self.pop(station);
                    let router = self.layout.parent(pop);
                    self.arrive_at_backbone::<TRACED>(router, packet, limit);
                }
                Station::OutOfAccess(access) => {
                    let packet = self.pop(station);
                    self.arrive_from_access::<TRACED>(access, packet, limit);
                }
                Station::BelowPop => {
                    let packet = self.pop(station);
                    self.arrive_at_access::<TRACED>(self.now, packet);
                }
                Station::ToHosts => return Some(HostEvent::Delivered(self.pop(station))),
            }
        }
        None
    }

    /// Removes and returns the first packet of a station's FIFO, and advances the region's time to this event.
    #[inline]
    fn pop(&mut self, station: usize) -> Packet {
        let popped = self.fifos[station].pop_and_next(|one| one.time, Time::NEVER);
        let (first, next) = popped.expect("its arrival is an event");
        self.event_list.set(station, next);
        self.now = first.time;
        first.packet
    }

    /// Appends a packet, which arrives at `time`, to a station's FIFO.
    #[inline]
    pub(super) fn push(&mut self, station: usize, time: Time, packet: Packet) {
        let fifo = &mut self.fifos[station];
        debug_assert!(
            fifo.iter().next_back().is_none_or(|last| last.time <= time),
            "packets overtake each other"
        );
        if fifo.is_empty() {
            self.event_list.set(station, time);
        }
        fifo.push(InFlight { time, packet });
    }

    /// Sets the origin of the event list's times to the present, if it is too long ago.
    pub(crate) fn rebase(&mut self) {
        if self.now.since(self.rebased) >= Tournament::REACH / 2 {
            self.rebased = self.now;
            self.rebuild();
        }
    }

    /// Rebuilds the event list, which checkpoints do not store.
    pub(crate) fn rebuild(&mut self) {
        let mut event_list = Tournament::new(self.layout.stations.len());
        event_list.set_base(self.rebased);
        for (number, &station) in self.layout.stations.iter().enumerate() {
            let time = match station {
                Station::Server(router) => self.shared[router as usize].end_of_service(),
                Station::CrossRegion(router) => self.arrivals[router as usize].next_staying(),
                _ => self.fifos[number]
                    .first()
                    .map_or(Time::NEVER, |next| next.time),
            };
            event_list.set(number, time);
        }
        self.event_list = event_list;
    }
}

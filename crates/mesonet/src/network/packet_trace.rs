//! Packets of chosen flows, followed from element to element.
//!
//! Only the copy of the event loop that is made for it looks at packets this way (`Network::next` with
//! `TRACED`); hosts send through [`Network::send_aside`] meanwhile. Queues are told of arrivals ahead of
//! time, so that what is noted is put in order when an interval is over.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::shared_server::Way;
use super::{FlowId, Kind, Network, Packet};
use crate::records::{Direction, PacketEvent, PacketKind, Passage, Site};

/// A flow that is followed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Watched {
    life: u16,
    pub(crate) number: u64,
    /// Numbers that were next when a loss, and when a timeout was noticed last.
    pub(crate) last_nak: u64,
    pub(crate) last_timeout: u64,
}

/// The flows that are followed, and what was noted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Watch {
    /// By the flow's place.
    flows: Vec<Option<Watched>>,
    /// How many there were.
    count: u64,
    passages: Vec<Passage>,
    /// What is noted lies between these times.
    span: (Time, Time),
    /// Passages that may still be taken.
    room: u64,
    /// When there was no place for more, if that was so: what was noted before is all that happened.
    cut: Option<Time>,
}

/// Passages that are noted beyond those that may still be taken, since they do not come in order.
const SLACK: u64 = 1 << 16;

impl Watch {
    /// One that notes what happens from one time to another, and gives no more than `room` passages.
    pub(crate) fn new(span: (Time, Time), room: u64) -> Self {
        Self {
            span,
            room,
            ..Self::default()
        }
    }

    /// From now on `flow` is followed.
    pub(crate) fn follow(&mut self, flow: FlowId) {
        let place = flow.place as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, None);
        }
        self.count += 1;
        self.flows[place] = Some(Watched {
            life: flow.life,
            number: self.count,
            last_nak: 0,
            last_timeout: 0,
        });
    }

    /// The flow, if it is followed.
    pub(crate) fn find(&mut self, flow: FlowId) -> Option<&mut Watched> {
        let found = self.flows.get_mut(flow.place as usize)?.as_mut();
        found.filter(|watched| watched.life == flow.life)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Something happens to a packet at `time`, and it is `now`.
    fn note(&mut self, now: Time, time: Time, packet: &Packet, event: PacketEvent) {
        let Some(&mut Watched { number: flow, .. }) = self.find(packet.flow()) else {
            return;
        };
        if time < self.span.0 || time > self.span.1 {
            return;
        }
        if self.passages.len() as u64 >= self.room.saturating_add(SLACK) {
            self.cut.get_or_insert(now);
            return;
        }
        self.passages.push(Passage {
            time,
            flow,
            kind: match packet.kind() {
                Kind::Syn => PacketKind::Syn,
                Kind::SynAck => PacketKind::SynAck,
                Kind::Data => PacketKind::Data,
                Kind::Ack => PacketKind::Ack,
                Kind::Nak => PacketKind::Nak,
            },
            number: packet.number(),
            event,
        });
    }

    /// Takes what was noted, in order of time; at one time as it was noted.
    pub(crate) fn take(&mut self) -> Vec<Passage> {
        let mut passages = std::mem::take(&mut self.passages);
        passages.sort_by_key(|passage| passage.time);
        if let Some(cut) = self.cut {
            passages.retain(|passage| passage.time < cut);
            self.room = self.room.min(passages.len() as u64);
        }
        passages.truncate(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.room -= passages.len() as u64;
        passages
    }
}

impl Network {
    /// Follows flows as `watch` says, once [`Self::set_traced`] asks for it.
    pub(crate) fn set_watch(&mut self, watch: Option<Watch>) {
        self.watch = watch.map(Box::new);
    }

    pub(crate) fn watch(&mut self) -> Option<&mut Watch> {
        self.watch.as_deref_mut()
    }

    /// Whether packets are followed from now on.
    pub(crate) fn set_traced(&mut self, traced: bool) {
        self.traced = traced;
        self.plain = self.shared.is_empty() && !traced;
    }

    /// [`Self::send`] where a host's packet does not just go into a queue of its own.
    #[inline(never)]
    pub(super) fn send_aside(&mut self, access: u16, packet: Packet) {
        let now = self.now;
        if self.traced {
            self.note(now, &packet, PacketEvent::Sent);
        }
        if !self.shared.is_empty() {
            return self.put(access as usize, now, packet);
        }
        let departure = self.access[access as usize].up.offer(now);
        self.note(
            now,
            &packet,
            offered(Site::Access(access.into()), Way::Up, departure),
        );
        if let Some(departure) = departure {
            self.put(access as usize, departure, packet);
        }
    }

    /// A flow, if it is followed.
    pub(crate) fn watched(&mut self, flow: FlowId) -> Option<&mut Watched> {
        self.watch()?.find(flow)
    }

    /// Something happened to a packet.
    pub(crate) fn note(&mut self, time: Time, packet: &Packet, event: PacketEvent) {
        if let Some(watch) = &mut self.watch {
            watch.note(self.now, time, packet, event);
        }
    }

    /// A queue was told of the packet at `at`.
    pub(super) fn note_offer(
        &mut self,
        time: Time,
        at: usize,
        site: Site,
        way: Way,
        departure: Option<Time>,
    ) {
        let packet = *self.lines.packet(at);
        self.note(time, &packet, offered(site, way, departure));
    }

    /// The same of a router with one server, by its number there; when it will leave is not known.
    pub(super) fn note_shared(&mut self, router: usize, way: Way, at: usize, taken: bool) {
        let site = match self.routing.access_of(router) {
            Some(access) => Site::Access(access.into()),
            None => Site::Pop(router as u32),
        };
        let direction = Direction::from(way);
        let event = match taken {
            false => PacketEvent::Dropped { site, direction },
            true => PacketEvent::Queued {
                site,
                direction,
                leaves: None,
            },
        };
        let packet = *self.lines.packet(at);
        self.note(self.now, &packet, event);
    }
}

/// What became of a packet that a queue was told of.
fn offered(site: Site, way: Way, departure: Option<Time>) -> PacketEvent {
    let direction = Direction::from(way);
    match departure {
        None => PacketEvent::Dropped { site, direction },
        leaves => PacketEvent::Queued {
            site,
            direction,
            leaves,
        },
    }
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::Up => Self::Up,
            Way::Down => Self::Down,
        }
    }
}

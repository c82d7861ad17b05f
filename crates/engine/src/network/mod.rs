//! Links, queues and routes: everything between the two ends of a flow.

mod link;
mod lookahead;
pub(crate) mod loss;
mod ns2_clock;
pub mod queue;
mod recent_sizes;
mod route;

use longhaul_units::Time;

use self::link::{Link, Offer};
pub(crate) use self::lookahead::TcpRoutes;
use self::loss::LossModel;
use self::queue::Queue;
pub(crate) use self::route::{End, Hop, Path, Routes};
use crate::config::Config;
use crate::measure::{LinkCounters, LinkSample};
use crate::packet::{Packet, SackBlocks, SackHandle, SackStore};
use crate::random::Streams;
use crate::schedule::Schedule;

/// The network, and the clock and event list that everything shares.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// Now, as ns-2 has it; see [`crate::config::Clock`].
    ns2_s: f64,
    pub(crate) schedule: Schedule,
    links: Vec<Link>,
    routes: Routes,
    sack: SackStore,
    /// Segments for receivers that are served ahead of time, in order.
    pub(crate) received_ahead: Vec<Packet>,
}

impl Network {
    pub(crate) fn new(config: &Config, streams: &Streams) -> Self {
        let links = config.links.iter().zip(0..).map(|(link, id)| {
            let name = &link.name;
            let queue_stream = streams.component(&format!("links/{name}/queue"));
            let queue = Queue::new(&link.queue, queue_stream);
            let loss_stream = streams.losses(&format!("links/{name}/loss"));
            let loss = LossModel::new(&link.loss, loss_stream);
            Link::new(id, link, config.clock, queue, loss)
        });
        Self {
            now: Time::ZERO,
            ns2_s: 0.0,
            schedule: Schedule::default(),
            links: links.collect(),
            routes: Routes::new(config),
            sack: SackStore::default(),
            received_ahead: Vec::new(),
        }
    }

    /// The route from node to node, at whose end packets are handed to `end`; `None` if there is no
    /// path.
    pub(crate) fn path(&mut self, from: usize, to: usize, end: End) -> Option<Path> {
        self.routes.path(from, to, end)
    }

    /// An event other than a packet's arrival happens.
    #[inline]
    pub(crate) fn set_clock(&mut self, now: Time) {
        self.set_ns2_clock(now.as_secs_f64());
    }

    /// Something happens that ns-2 knows to more than a picosecond.
    #[inline]
    pub(crate) fn set_ns2_clock(&mut self, now_s: f64) {
        self.ns2_s = now_s;
    }

    /// Puts a packet on the first link of its route.
    #[inline]
    pub(crate) fn send(&mut self, mut packet: Packet) {
        packet.ns2_s = self.ns2_s;
        match self.routes.hop(packet.route) {
            Hop::Link(link) => self.offer(link, packet),
            Hop::End(_) => unreachable!("a route begins with a link"),
        }
    }

    /// Stores SACK blocks for an acknowledgement about to be sent.
    pub(crate) fn store_sack(&mut self, blocks: SackBlocks) -> SackHandle {
        self.sack.put(blocks)
    }

    /// Takes a received acknowledgement's SACK blocks.
    #[inline]
    pub(crate) fn take_sack(&mut self, handle: SackHandle) -> SackBlocks {
        self.sack.take(handle)
    }

    /// The SACK blocks of a packet that goes on.
    pub(crate) fn peek_sack(&self, handle: SackHandle) -> SackBlocks {
        self.sack.get(handle)
    }

    /// Puts an acknowledgement on the first link of its route at its `time`, which may lie ahead if
    /// only receivers use the link that are ahead, too.
    #[inline]
    pub(crate) fn acknowledge(&mut self, packet: Packet) {
        match self.routes.hop(packet.route) {
            Hop::Link(link) if self.links[link as usize].is_fed_ahead() => {
                let link = &mut self.links[link as usize];
                let offer = link.offer_ahead(packet, self.now, &mut self.schedule);
                self.conclude(offer, packet.sack);
            }
            Hop::Link(link) => self.offer(link, packet),
            Hop::End(_) => unreachable!("a route begins with a link"),
        }
    }

    /// Always inlined, like [`Link::offer`]: a packet then goes from registers to the link's ring.
    /// Handed over in memory, its fields are stored one by one and loaded again by twos, which
    /// makes the processor wait for the stores.
    #[inline(always)]
    fn offer(&mut self, link: u32, packet: Packet) {
        let offer = self.links[link as usize].offer(packet, self.now, &mut self.schedule);
        self.conclude(offer, packet.sack);
    }

    /// What follows from an offer: a packet may go on ahead of time, link after link.
    #[inline(always)]
    fn conclude(&mut self, mut offer: Offer, sack: SackHandle) {
        while let Offer::Onward(mut packet) = offer {
            packet.route += 1;
            match self.routes.hop(packet.route) {
                Hop::Link(next) => {
                    let link = &mut self.links[next as usize];
                    offer = link.offer_ahead(packet, self.now, &mut self.schedule);
                }
                Hop::End(_) => {
                    self.received_ahead.push(packet);
                    return;
                }
            }
        }
        if let Offer::Dropped = offer {
            self.sack.take(sack);
        }
    }

    /// Lets everything serve ahead of time that can, once all routes are known. Returns by
    /// connection whether its receiver does.
    pub(crate) fn look_ahead(&mut self, config: &Config, connections: &[TcpRoutes]) -> Vec<bool> {
        let plan = lookahead::plan(config, &self.routes, connections);
        for (link, id) in self.links.iter_mut().zip(0..) {
            if plan.feeds[id] {
                link.feed_ahead();
            }
            if plan.is_fed[id] {
                link.be_fed_ahead();
            }
        }
        plan.receivers
    }

    /// The event of a packet's arrival at the far end of a link: the packet goes on to its next
    /// link, or is returned with the end of the flow that it has reached.
    #[inline]
    pub(crate) fn arrive(&mut self, link: u32) -> Option<(End, Packet)> {
        let mut packet = self.links[link as usize].deliver(self.now, &mut self.schedule);
        packet.route += 1;
        self.ns2_s = packet.ns2_s;
        match self.routes.hop(packet.route) {
            Hop::Link(next) => {
                self.offer(next, packet);
                None
            }
            Hop::End(end) => Some((end, packet)),
        }
    }

    /// The event of the end of a transmission, with explicit service.
    pub(crate) fn depart(&mut self, link: u32) {
        self.schedule.finish_near();
        self.links[link as usize].depart(self.now, &mut self.schedule);
    }

    /// The packet about to arrive at the far end of a link whose packets are recorded.
    #[inline]
    pub(crate) fn captured(&self, link: u32) -> Option<&Packet> {
        let link = &self.links[link as usize];
        if link.captured { link.first() } else { None }
    }

    /// What will take a packet at the end of its route.
    pub(crate) fn destination(&self, packet: &Packet) -> End {
        let mut position = packet.route;
        loop {
            match self.routes.hop(position) {
                Hop::Link(_) => position += 1,
                Hop::End(end) => return end,
            }
        }
    }

    /// Counters of every link up to now.
    pub(crate) fn counters(&mut self) -> Vec<LinkCounters> {
        let now = self.now;
        self.links
            .iter_mut()
            .map(|link| link.counters(now))
            .collect()
    }

    /// Restarts the record of largest queues; returns those so far.
    pub(crate) fn restart_maxima(&mut self) -> Vec<u64> {
        let now = self.now;
        self.links
            .iter_mut()
            .map(|link| link.restart_maximum(now))
            .collect()
    }

    /// Samples of the links that are sampled.
    pub(crate) fn samples(&mut self) -> impl Iterator<Item = LinkSample> {
        let now = self.now;
        self.links
            .iter_mut()
            .filter(|link| link.sampled)
            .map(move |link| link.sample(now))
    }
}

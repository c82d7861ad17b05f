//! Links and routes: everything between the two endpoints of a flow.

mod access;
mod capture;
pub(crate) mod change;
mod forwarding;
pub(crate) mod graph;
pub(crate) mod impairments;
mod link;
mod lookahead;
pub(crate) mod loss;
mod measurement;
mod merge;
mod others;
mod route;
mod train;

use std::collections::VecDeque;

use longhaul_units::Time;

use self::access::AccessLinks;
pub(crate) use self::capture::{InterfaceEntry, PacketNote};
use self::change::Changes;
pub(crate) use self::forwarding::Delivered;
use self::impairments::Impairments;
pub(crate) use self::link::{DualClockTime, Entrance, Link, Offer};
pub(crate) use self::link::{Lane, PacketService};
use self::lookahead::Plan;
pub(crate) use self::lookahead::{Answers, Delivery, Endpoint, Side};
use self::loss::LossModel;
use self::measurement::LinkCapacity;
use self::merge::Merge;
pub(crate) use self::route::{Carrier, End, Hop, Path, Routes};
pub(crate) use self::train::Train;
use crate::config::{Config, Service};
use crate::packet::{OptionStore, Packet, SackOption};
use crate::queue::Queue;
use crate::random::Streams;
use crate::schedule::{Event, Schedule};

/// The network, with the clock and the event list that all parts of a simulation share.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// The current time in ns-2's arithmetic; see [`crate::config::Clock`].
    ns2_s: f64,
    pub(crate) schedule: Schedule,
    links: Vec<Link>,
    /// Capacity of each link.
    capacities: Vec<LinkCapacity>,
    routes: Routes,
    /// Options of packets in flight.
    pub(crate) options: OptionStore,
    /// For each link, the kind of destination of the packets that it forwards ahead of their arrival time.
    deliveries: Vec<Delivery>,
    /// For each link, the link that all answers (such as ACKs) to its packets enter; `None` if there is no such link.
    answers: Vec<Option<Answers>>,
    /// Links that lead to endpoints with extra delays, and have a packet whose arrival is not scheduled yet.
    ready: Vec<u32>,
    merges: Vec<Merge>,
    access: AccessLinks,
    changes: Vec<Changes>,
    impairments: Vec<Impairments>,
    /// Packets that were sent or reached a captured link or node, and are not yet recorded; `None` without capture.
    noted: Option<VecDeque<PacketNote>>,
    /// Interfaces of the nodes at the near and at the far end of each link; `None` for nodes that are not captured.
    host_interfaces: Vec<[Option<u32>; 2]>,
}

impl Network {
    pub(crate) fn new(config: &Config, streams: &Streams) -> Self {
        assert!(config.links.len() <= Schedule::MAX_LINKS, "too many links");
        let mut schedule = Schedule::default();
        let changes = Changes::of(config, streams, &mut schedule);
        Self {
            now: Time::ZERO,
            ns2_s: 0.0,
            schedule,
            links: Self::links(config, streams, false),
            capacities: config.links.iter().map(LinkCapacity::of).collect(),
            routes: Routes::new(config),
            options: OptionStore::default(),
            deliveries: vec![Delivery::OnTime; config.links.len()],
            answers: vec![None; config.links.len()],
            ready: Vec::new(),
            merges: Vec::new(),
            access: AccessLinks::default(),
            changes,
            impairments: Impairments::of(config, streams),
            noted: config.captures().then(VecDeque::new),
            host_interfaces: capture::host_interfaces(config),
        }
    }

    /// Rebuilds all links, so that their queues handle the low priority of dummy segments. Must be called before
    /// [`Self::track`] and before the first event: the state of the old links is lost.
    pub(crate) fn prioritise(&mut self, config: &Config, streams: &Streams) {
        self.links = Self::links(config, streams, true);
    }

    fn links(config: &Config, streams: &Streams, priorities: bool) -> Vec<Link> {
        let links = config.links.iter().zip(0..).map(|(link, id)| {
            let name = &link.name;
            let queue_stream = streams.component(&format!("links/{name}/queue"));
            let queue = match link.service() {
                Service::OnArrival if priorities => {
                    Queue::new(&link.queue, queue_stream).prioritised()
                }
                Service::OnArrival => Queue::new(&link.queue, queue_stream),
                Service::Explicit if link.direction.filters_acks() => {
                    Queue::buffered(&link.queue, queue_stream).filtering_acks()
                }
                Service::Explicit => Queue::buffered(&link.queue, queue_stream),
            };
            let loss_stream = streams.losses(&format!("links/{name}/loss"));
            let loss = LossModel::new(&link.direction.loss, loss_stream);
            let mut built = Link::new(id, link, config.clock, queue, loss, streams);
            if config.measure.delays && link.sampled {
                built.measure_waits();
            }
            built
        });
        links.collect()
    }

    /// Returns the route between two nodes for packets that `end` receives; `None` if there is no path, or
    /// if both are the same node.
    pub(crate) fn path(&mut self, from: usize, to: usize, end: End) -> Option<Path> {
        self.routes.path(from, to, end)
    }

    /// Sets the clock in ns-2's arithmetic to `now`, for an event other than a packet's arrival. Does not change
    /// `self.now`.
    #[inline]
    pub(crate) fn set_clock(&mut self, now: Time) {
        self.set_ns2_clock(now.as_secs_f64());
    }

    /// Sets the clock in ns-2's arithmetic, in seconds. Does not change `self.now`.
    #[inline]
    pub(crate) fn set_ns2_clock(&mut self, now_s: f64) {
        self.ns2_s = now_s;
    }

    /// Discards the options of a packet that is not delivered.
    pub(crate) fn forget_options(&mut self, packet: &Packet) {
        self.options.forget(packet.sack);
    }

    /// Returns the SACK blocks of a packet without removing them.
    pub(crate) fn peek_sack(&self, packet: &Packet) -> SackOption {
        self.options.get(packet.sack)
    }

    /// Schedules the first update of each queue discipline that has updates, an interval after time zero.
    pub(crate) fn begin_updates(&mut self) {
        for (link, id) in self.links.iter().zip(0..) {
            if let Some(interval) = link.update_interval() {
                let end = Time::ZERO + interval;
                self.schedule.push_observation(end, Event::QueueUpdate(id));
            }
        }
    }

    /// Determines the lookahead of all links. Must be called when all routes are known.
    pub(crate) fn look_ahead(&mut self, config: &Config, endpoints: &[Endpoint]) {
        let Plan {
            deliveries,
            answers,
            merges,
            access,
            spreading,
        } = lookahead::plan(config, &self.routes, endpoints);
        self.deliveries = deliveries;
        self.answers = answers;
        self.merges = merges;
        self.make_access(config, &access, spreading);
    }

    /// Processes an event for an update of a link's queue discipline.
    pub(crate) fn update_queue(&mut self, link: u32) {
        let interval = self.links[link as usize].update(self.now, &mut self.options);
        let next = self.now + interval.expect("only disciplines with updates have events for them");
        self.schedule
            .push_observation(next, Event::QueueUpdate(link));
    }

    #[inline(always)]
    pub(crate) fn dual_clock_time(&self) -> DualClockTime {
        DualClockTime {
            time: self.now,
            ns2_s: self.ns2_s,
        }
    }
}

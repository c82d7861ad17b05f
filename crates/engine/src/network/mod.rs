//! Links and routes: everything between the two ends of a flow.

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
mod route;

use std::collections::VecDeque;

use longhaul_units::Time;

pub(crate) use self::capture::{Entered, Noted};
use self::change::Changes;
pub(crate) use self::forwarding::Delivered;
use self::impairments::Impairments;
use self::link::{DualClockTime, Link};
use self::lookahead::Plan;
pub(crate) use self::lookahead::{Delivery, Endpoint};
use self::loss::LossModel;
use self::measurement::LinkCapacity;
use self::merge::Merge;
pub(crate) use self::route::{Carrier, End, Hop, Path, Routes};
use crate::config::{Config, Service};
use crate::packet::{OptionStore, Packet, SackBlocks, SackHandle, SackOption, XcpHeader};
use crate::queue::Queue;
use crate::random::Streams;
use crate::schedule::{Event, Schedule};

/// The network, and the clock and event list that everything shares.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// Now, as ns-2 has it; see [`crate::config::Clock`].
    ns2_s: f64,
    pub(crate) schedule: Schedule,
    links: Vec<Link>,
    /// By link.
    capacities: Vec<LinkCapacity>,
    routes: Routes,
    options: OptionStore,
    /// By link: how far ahead of the simulation it forwards its packets.
    deliveries: Vec<Delivery>,
    /// Links that lead to ends which delay packets, with packets that no event has been entered for.
    ready: Vec<u32>,
    merges: Vec<Merge>,
    changes: Vec<Changes>,
    impairments: Vec<Impairments>,
    /// What has happened to packets and is not recorded yet, if those of any link are captured.
    noted: Option<VecDeque<Noted>>,
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
            ready: Vec::new(),
            merges: Vec::new(),
            changes,
            impairments: Impairments::of(config, streams),
            noted: (config.links.iter().any(|link| link.captured)).then(VecDeque::new),
        }
    }

    /// Rebuilds all links, before any event, such that they give way to packets of higher priority.
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
                Service::Explicit if link.ack_filtering => {
                    Queue::buffered(&link.queue, queue_stream).filtering_acks()
                }
                Service::Explicit => Queue::buffered(&link.queue, queue_stream),
            };
            let loss_stream = streams.losses(&format!("links/{name}/loss"));
            let loss = LossModel::new(&link.loss, loss_stream);
            Link::new(id, link, config.clock, queue, loss, streams)
        });
        links.collect()
    }

    /// The route from node to node, at whose end `end` gets the packets; `None` if there is no
    /// path.
    pub(crate) fn path(&mut self, from: usize, to: usize, end: End) -> Option<Path> {
        self.routes.path(from, to, end)
    }

    /// An event other than a packet's arrival happens.
    #[inline]
    pub(crate) fn set_clock(&mut self, now: Time) {
        self.set_ns2_clock(now.as_secs_f64());
    }

    /// An event happens whose time ns-2's clock resolves more finely than a picosecond.
    #[inline]
    pub(crate) fn set_ns2_clock(&mut self, now_s: f64) {
        self.ns2_s = now_s;
    }

    /// Stores SACK blocks for the acknowledgement `next`, which is about to be sent.
    #[inline]
    pub(crate) fn store_sack(&mut self, blocks: &SackBlocks, next: u64) -> SackHandle {
        self.options.put(blocks, next)
    }

    /// Takes a received acknowledgement's SACK blocks, once its header is taken.
    #[inline]
    pub(crate) fn take_sack(&mut self, handle: SackHandle) -> SackOption {
        self.options.take(handle)
    }

    /// Stores a header for routers beside a packet's blocks.
    pub(crate) fn store_header(&mut self, header: XcpHeader, sack: SackHandle) -> SackHandle {
        self.options.put_header(header, sack)
    }

    /// Takes a received packet's header for routers, if it has one; also returns where its blocks
    /// are.
    pub(crate) fn take_header(&mut self, handle: SackHandle) -> (Option<XcpHeader>, SackHandle) {
        self.options.take_header(handle)
    }

    /// Discards the options of a packet that is not delivered.
    pub(crate) fn forget_options(&mut self, packet: &Packet) {
        self.options.forget(packet.sack);
    }

    /// The SACK blocks of a packet that goes on.
    pub(crate) fn peek_sack(&self, packet: &Packet) -> SackOption {
        self.options.get(packet.sack)
    }

    /// Plans the lookahead, once all routes are known, and begins the update intervals
    /// of disciplines: whole ones since time zero.
    pub(crate) fn look_ahead(&mut self, config: &Config, endpoints: &[Endpoint]) {
        for (link, id) in self.links.iter().zip(0..) {
            if let Some(interval) = link.update_interval() {
                let end = Time::ZERO + interval;
                self.schedule.push_observation(end, Event::QueueUpdate(id));
            }
        }
        let Plan { deliveries, merges } = lookahead::plan(config, &self.routes, endpoints);
        self.deliveries = deliveries;
        self.merges = merges;
    }

    /// The event of an update of a link's queue discipline.
    pub(crate) fn update_queue(&mut self, link: u32) {
        let interval = self.links[link as usize].update(self.now, &mut self.options);
        let next = self.now + interval.expect("only disciplines with updates have events for them");
        self.schedule
            .push_observation(next, Event::QueueUpdate(link));
    }

    #[inline(always)]
    fn dual_clock_time(&self) -> DualClockTime {
        DualClockTime {
            time: self.now,
            ns2_s: self.ns2_s,
        }
    }
}

//! Speeds and buffers of routers (NIST SP 500-282, chapter 3: `R1` to `Bdirect`, `QszAlg`).

use longhaul_mesonet::config::{AccessClass, AccessRouter, Parent, Pop, Router, Service, Topology};

use super::clock::Clock;
use super::hosts::Population;
use super::keys::{Buffer, NetworkKeys, Sizing};
use super::layout::{self, Layout};
use super::routes::Routes;
use crate::document::Table;
use crate::error::Diagnostic;

/// Numbers of packets per time step that routers of each kind forward. A rate that the topology gives
/// for a single router takes precedence.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub backbone: f64,
    pub pop: f64,
    pub normal: f64,
    pub fast: f64,
    pub direct: f64,
}

impl Rates {
    pub fn of(network: &Table) -> Self {
        let base = network.read(NetworkKeys::backbone_rate);
        let pop = base / network.read(NetworkKeys::pop_divisor);
        let normal = pop / network.read(NetworkKeys::access_divisor);
        Self {
            backbone: base * network.read(NetworkKeys::backbone_speedup),
            pop,
            normal,
            fast: normal * network.read(NetworkKeys::fast_factor),
            direct: normal * network.read(NetworkKeys::direct_factor),
        }
    }

    pub fn of_class(&self, class: AccessClass) -> f64 {
        match class {
            AccessClass::Direct => self.direct,
            AccessClass::Fast => self.fast,
            AccessClass::Normal => self.normal,
        }
    }
}

/// Values that determine the sizes of buffers.
pub(crate) struct Buffers<'a> {
    network: &'a Table,
    /// Sum of round-trip times over pairs of backbone routers, in time steps, and the number of
    /// pairs.
    round_trips: (u64, u64),
}

impl<'a> Buffers<'a> {
    pub fn new(network: &'a Table, round_trips: (u64, u64)) -> Self {
        Self {
            network,
            round_trips,
        }
    }

    /// Returns the mean round-trip time in time steps.
    pub fn mean_round_trip(&self) -> f64 {
        self.round_trips.0 as f64 / self.round_trips.1 as f64
    }

    /// Returns the number of packets in the buffer of a router with the rate `rate`. `half_hosts`
    /// is half the number of hosts below the router.
    fn packets(&self, rate: f64, half_hosts: f64) -> u64 {
        // In this order of operations, products of whole numbers have no rounding error.
        let product = rate * self.round_trips.0 as f64 / self.round_trips.1 as f64;
        let over_root = product / half_hosts.max(1.0).sqrt();
        let size = match self.network.read(NetworkKeys::buffer) {
            Buffer::Packets(packets) => packets as f64,
            Buffer::Sized(Sizing::RttCapacity) => product,
            Buffer::Sized(Sizing::OverRoot) => over_root,
            Buffer::Sized(Sizing::Mean) => f64::midpoint(product, over_root),
        };
        (size.ceil() * self.network.read(NetworkKeys::buffer_factor)) as u64
    }
}

/// Returns the routers with their rates, buffers and hosts. Refuses buffers of zero packets.
pub(crate) fn topology(
    layout: &Layout,
    routes: Routes,
    population: &Population,
    buffers: &Buffers<'_>,
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Topology {
    let network = buffers.network;
    let rates = Rates::of(network);
    let mut make = |router: &layout::Router, rate: f64, half_hosts: f64| {
        let rate = router.rate.unwrap_or(rate);
        let buffer = router
            .buffer
            .unwrap_or_else(|| buffers.packets(rate, half_hosts));
        // One message is sufficient: many routers have the same buffer.
        if buffer == 0 && out.is_empty() {
            let (key, path) = (NetworkKeys::buffer_factor, "mesonet.network");
            let message = format!(
                "the queues of `{}` hold no packet: its {rate} packets per time step need a larger \
                 factor, or a number as buffer",
                router.name
            );
            out.push(Diagnostic::at(network, key, path, message));
        }
        Router {
            name: router.name.clone(),
            capacity: clock.rate(rate),
            buffer,
        }
    };
    let below = |is_below: &dyn Fn(&layout::Access) -> bool| {
        let access = layout.access.iter().enumerate();
        let access = access.filter(|(_, access)| is_below(access));
        access.map(|(index, _)| population.half(index)).sum::<f64>()
    };
    let backbone = layout.backbone.iter().enumerate().map(|(index, router)| {
        let hosts = below(&|access| access.backbone(layout) == index);
        make(router, rates.backbone, hosts)
    });
    let backbone = backbone.collect();
    let pops = layout
        .pops
        .iter()
        .enumerate()
        .map(|(index, (router, backbone))| Pop {
            router: make(
                router,
                rates.pop,
                below(&|access| access.parent == Parent::Pop(index)),
            ),
            backbone: *backbone,
        });
    let pops = pops.collect();
    let access = layout.access.iter().enumerate().map(|(index, access)| {
        let rate = rates.of_class(access.class);
        AccessRouter {
            router: make(&access.router, rate, population.half(index)),
            class: access.class,
            parent: access.parent,
            sources: population.sources[index],
            receivers: population.receivers[index],
        }
    });
    let access = access.collect();
    Topology {
        backbone,
        links: routes.links,
        next_link: routes.next_link,
        pops,
        access,
        service: network.read(NetworkKeys::service),
        shared_buffer: shared_buffer(network, out),
    }
}

/// Returns true if the two queues of a router share a buffer. Two queues with one server share a
/// buffer by default; two queues with separate servers must not.
fn shared_buffer(network: &Table, out: &mut Vec<Diagnostic>) -> bool {
    let dual = network.read(NetworkKeys::service) == Service::Dual;
    let key = NetworkKeys::shared_buffer;
    if !network.has(key) {
        return !dual;
    }
    let shared = network.read(key);
    if shared && dual {
        let message = "queues with a server each have a buffer each; write service = \"shared\"";
        out.push(Diagnostic::at(network, key, "mesonet.network", message));
    }
    shared
}

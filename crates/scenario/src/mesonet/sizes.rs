//! Speeds and buffers of routers (NIST SP 500-282, chapter 3: `R1` to `Bdirect`, `QszAlg`).

use longhaul_mesonet::config::{AccessClass, AccessRouter, Parent, Pop, Router, Service, Topology};

use super::clock::Clock;
use super::hosts::Population;
use super::keys::SIZINGS;
use super::layout::{self, Layout};
use super::routes::Routes;
use crate::document::{Table, Value};
use crate::error::Diagnostic;
use crate::typed::Typed;

/// Packets per time step that the routers of each kind forward.
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
        let number = |key| network.read::<f64>(key);
        let base = number("backbone_rate");
        let pop = base / number("pop_divisor");
        let normal = pop / number("access_divisor");
        Self {
            backbone: base * number("backbone_speedup"),
            pop,
            normal,
            fast: normal * number("fast_factor"),
            direct: normal * number("direct_factor"),
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

/// Sizes of buffers.
pub(crate) struct Buffers<'a> {
    network: &'a Table,
    /// Sum of round trips over pairs of backbone routers in time steps, and the number of pairs.
    round_trips: (u64, u64),
}

impl<'a> Buffers<'a> {
    pub fn new(network: &'a Table, round_trips: (u64, u64)) -> Self {
        Self {
            network,
            round_trips,
        }
    }

    /// The mean round trip in time steps.
    pub fn mean_round_trip(&self) -> f64 {
        self.round_trips.0 as f64 / self.round_trips.1 as f64
    }

    /// Packets in the buffer of a router of this rate, with `half_hosts` half the hosts below it.
    fn packets(&self, rate: f64, half_hosts: f64) -> u64 {
        // In this order of operations, whole products have no rounding error.
        let product = rate * self.round_trips.0 as f64 / self.round_trips.1 as f64;
        let over_root = product / half_hosts.max(1.0).sqrt();
        let size = match &self.network.node("buffer").value {
            Value::Whole(packets) => *packets as f64,
            Value::Text(rule) if rule == SIZINGS[0] => product,
            Value::Text(rule) if rule == SIZINGS[1] => over_root,
            _ => f64::midpoint(product, over_root),
        };
        (size.ceil() * self.network.read::<f64>("buffer_factor")) as u64
    }
}

/// The routers with their rates, buffers and hosts. Refuses buffers of zero packets.
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
        // One message is enough: many routers have the same buffer.
        if buffer == 0 && out.is_empty() {
            let key = "mesonet.network.buffer_factor";
            let message = format!(
                "the queues of `{}` hold no packet: its {rate} packets per time step need a larger \
                 factor, or a number as buffer",
                router.name
            );
            let origin = &network.node("buffer_factor").origin;
            out.push(Diagnostic::new(key, origin, message));
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
        service: match network.word("service") {
            "dual" => Service::Dual,
            "alternating" => Service::Alternating,
            _ => Service::Shared,
        },
        shared_buffer: shared_buffer(network, out),
    }
}

/// Whether the queues of a router share a buffer, as they do unless told otherwise; queues with a server
/// each cannot.
fn shared_buffer(network: &Table, out: &mut Vec<Diagnostic>) -> bool {
    let dual = network.word("service") == "dual";
    let Some(node) = network.get("shared_buffer") else {
        return !dual;
    };
    let shared = node.read::<bool>();
    if shared && dual {
        let key = "mesonet.network.shared_buffer";
        let message = "queues with a server each have a buffer each; write service = \"shared\"";
        out.push(Diagnostic::new(key, &node.origin, message));
    }
    shared
}

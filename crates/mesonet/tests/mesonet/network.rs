//! The built-in topology and the parameters of MesoNet, as in the published studies (NIST SP 500-282, chapters 3 and
//! 6).

use longhaul_congestion::{ControllerSpec, SlowStart, Variant};
use longhaul_mesonet::config::{
    AccessClass, AccessRouter, Algorithm, BackboneLink, Config, Files, Hosts, LargeFile, LongLived,
    Measure, PacketRate, Parent, Pop, Router, Service, StartWaves, Topology, Transport, Users,
};
use longhaul_units::{Span, Time};

/// Links of table 3-1, one per pair, with delays in milliseconds.
pub const LINKS: [(char, char, u64); 14] = [
    ('A', 'B', 10),
    ('A', 'C', 12),
    ('B', 'C', 12),
    ('B', 'D', 4),
    ('C', 'E', 8),
    ('D', 'F', 20),
    ('E', 'F', 10),
    ('E', 'G', 7),
    ('F', 'H', 9),
    ('G', 'H', 7),
    ('G', 'I', 4),
    ('H', 'J', 7),
    ('I', 'K', 5),
    ('J', 'K', 3),
];

/// Routing table of the backbone (table 3-2): a row for each router, with the next router towards routers A to K.
const NEXT: [&str; 11] = [
    "-BCBCBCCCBC",
    "A-CDCDCDCDC",
    "AB-BEEEEEEE",
    "BBB-BFFFFFF",
    "CCCF-FGGGGG",
    "DDEDE-EHHHH",
    "EEEHEH-HIHI",
    "FFGFGFG-GJJ",
    "GGGGGGGG-KK",
    "HHHHHHHHK-K",
    "IJIJIJIJIJ-",
];

/// Routers below each backbone router: `D` is a direct access router; `N` and `F` are points of presence, with normal
/// and with fast access routers.
const UNDER: [&str; 11] = [
    "NF", "DNF", "DNN", "NF", "DNF", "DNN", "NF", "NN", "DNN", "NN", "DFF",
];

/// Rule for the size of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// Round-trip time times capacity.
    RttC,
    /// Round-trip time times capacity, divided by the square root of the number of flows.
    RttCOverRootN,
}

/// Parameters of the published studies. Rates are in packets per millisecond. Arrays of shares have
/// the order normal, fast and direct access routers.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    pub r1: f64,
    pub backbone_speedup: f64,
    pub delay_factor: f64,
    pub buffers: Buffers,
    pub buffer_factor: f64,
    pub sources_per_router: f64,
    pub source_shares: [f64; 3],
    pub receiver_shares: [f64; 3],
    pub fast_share: f64,
    pub think_ms: u64,
    pub file_mean: f64,
    pub initial_ssthresh: f64,
    pub seconds: u64,
}

impl Study {
    /// Condition 8 of the scaled-down network (NIST SP 500-282, chapter 7).
    pub const CONDITION_8: Self = Self {
        r1: 1200.0,
        backbone_speedup: 2.0,
        delay_factor: 1.0,
        buffers: Buffers::RttC,
        buffer_factor: 1.0,
        sources_per_router: 200.0,
        source_shares: [1.0 / 3.0; 3],
        receiver_shares: [0.6, 0.2, 0.2],
        fast_share: 0.4,
        think_ms: 5000,
        file_mean: 50.0,
        initial_ssthresh: 100.0,
        seconds: 1500,
    };

    /// Returns the rates of backbone, points of presence, and normal, fast and direct access routers
    /// (NIST SP 500-282, chapter 3).
    pub fn rates(&self) -> [f64; 5] {
        let normal = self.r1 / 40.0;
        [
            self.r1 * self.backbone_speedup,
            self.r1 / 4.0,
            normal,
            normal * 2.0,
            normal * 10.0,
        ]
    }

    /// Returns the delay of a link of `ms` milliseconds after scaling; halves are rounded to even.
    fn delay(&self, ms: u64) -> u64 {
        (ms as f64 * self.delay_factor).round_ties_even() as u64
    }

    /// Returns the routers and links of the study's network.
    pub fn topology(&self) -> Topology {
        let at = |name: char| (name as u8 - b'A') as usize;
        let mut links = Vec::new();
        for (from, to, ms) in LINKS {
            for (from, to) in [(from, to), (to, from)] {
                links.push(BackboneLink {
                    name: format!("{from}-{to}"),
                    from: at(from),
                    to: at(to),
                    delay: Span::from_millis(self.delay(ms)),
                });
            }
        }
        let next_link = NEXT.iter().enumerate().map(|(from, row)| {
            let to = |to: char| {
                let link = |link: &BackboneLink| link.from == from && link.to == at(to);
                (to != '-').then(|| links.iter().position(link).expect("a link"))
            };
            row.chars().map(to).collect()
        });
        let mut topology = Topology {
            next_link: next_link.collect(),
            backbone: Vec::new(),
            pops: Vec::new(),
            access: Vec::new(),
            service: Service::Dual,
            shared_buffer: false,
            links,
        };
        for (backbone, under) in UNDER.into_iter().enumerate() {
            self.add_domain(&mut topology, backbone, under);
        }
        self.size_buffers(&mut topology);
        topology
    }

    fn add_domain(&self, topology: &mut Topology, backbone: usize, under: &str) {
        let [core, pop, normal, fast, direct] = self.rates();
        let letter = (b'A' + backbone as u8) as char;
        topology.backbone.push(router(letter.to_string(), core));
        let mut number = 0;
        for kind in under.chars() {
            let (count, class, rate) = match kind {
                'D' => (1, AccessClass::Direct, direct),
                'F' => (4, AccessClass::Fast, fast),
                _ => (7, AccessClass::Normal, normal),
            };
            let parent = if kind == 'D' {
                Parent::Backbone(backbone)
            } else {
                number += 1;
                topology.pops.push(Pop {
                    router: router(format!("{letter}{number}"), pop),
                    backbone,
                });
                Parent::Pop(topology.pops.len() - 1)
            };
            for leaf in 0..count {
                let of_class = |shares: [f64; 3]| match class {
                    AccessClass::Normal => shares[0],
                    AccessClass::Fast => shares[1],
                    AccessClass::Direct => shares[2],
                };
                let hosts = |shares| (3.0 * self.sources_per_router * of_class(shares)).round();
                let pop = if kind == 'D' { 0 } else { number };
                topology.access.push(AccessRouter {
                    router: router(format!("{letter}{pop}{}", (b'a' + leaf) as char), rate),
                    class,
                    parent,
                    sources: hosts(self.source_shares) as u32,
                    receivers: (4.0
                        * 3.0
                        * self.sources_per_router
                        * of_class(self.receiver_shares))
                    .round() as u32,
                });
            }
        }
    }

    /// Sets the buffer sizes of all routers by the study's rule (NIST SP 500-282, chapter 3:
    /// `QszAlg`).
    fn size_buffers(&self, topology: &mut Topology) {
        let rtt = mean_round_trip_ms(topology);
        let domain = |parent| match parent {
            Parent::Pop(pop) => topology.pops[pop].backbone,
            Parent::Backbone(backbone) => backbone,
        };
        let mut hosts = (
            vec![0.0; topology.backbone.len()],
            vec![0.0; topology.pops.len()],
        );
        for access in &topology.access {
            let count = f64::from(access.sources + access.receivers);
            hosts.0[domain(access.parent)] += count;
            if let Parent::Pop(pop) = access.parent {
                hosts.1[pop] += count;
            }
        }
        let size = |router: &mut Router, hosts: f64| {
            let product = rtt * router.capacity.as_per_s() / 1000.0;
            let size = match self.buffers {
                Buffers::RttC => product,
                Buffers::RttCOverRootN => product / (hosts / 2.0).sqrt(),
            };
            router.buffer = (size.ceil() * self.buffer_factor).trunc() as u64;
        };
        let backbone = topology.backbone.iter_mut();
        backbone
            .zip(&hosts.0)
            .for_each(|(router, &hosts)| size(router, hosts));
        let pops = topology.pops.iter_mut();
        pops.zip(&hosts.1)
            .for_each(|(pop, &hosts)| size(&mut pop.router, hosts));
        for access in &mut topology.access {
            let hosts = f64::from(access.sources + access.receivers);
            size(&mut access.router, hosts);
        }
    }

    /// Returns the whole configuration with the algorithm `kind` for all sources, with documents,
    /// and without jumbo files.
    pub fn config(&self, kind: &str, variant: Variant) -> Config {
        let topology = self.topology();
        Config {
            seed: 200_000,
            replication: 0,
            duration: Time::from_secs_f64(self.seconds as f64),
            hosts: Hosts {
                base: PacketRate::per_ms(8.0),
                fast: PacketRate::per_ms(80.0),
                fast_share: self.fast_share,
            },
            transport: transport(self.initial_ssthresh),
            algorithms: vec![Algorithm {
                label: kind.to_owned(),
                congestion: controller(kind, variant),
                share: 1.0,
                alternate: false,
            }],
            users: Users {
                think: Span::from_millis(self.think_ms),
                start: StartWaves {
                    at_once: 0.25,
                    second: 0.08,
                    third: 0.17,
                },
            },
            files: Files {
                mean: self.file_mean,
                shape: 1.5,
                large: [(0.01, 10), (0.0, 1000), (0.0, 10_000)].map(|(probability, factor)| {
                    LargeFile {
                        probability,
                        factor,
                    }
                }),
                admission: None,
                jumbo: None,
            },
            long_lived: Vec::new(),
            measure: Measure {
                every: Span::from_millis(200),
                batch: 1000,
                flow_log: false,
            },
            trace: None,
            topology,
        }
    }
}

/// Returns the transport parameters of all flows in NIST's studies.
pub fn transport(initial_ssthresh: f64) -> Transport {
    Transport {
        initial_cwnd: 2.0,
        initial_ssthresh,
        slow_start: SlowStart::NistLimited {
            max_ssthresh: 100.0,
        },
        max_cwnd: 2_147_483_647.0,
        min_cwnd: 1,
        srtt_gain: 0.125,
        srtt_allowance: Span::ZERO,
        rtt_excess: Span::ZERO,
        handshake_rtt: true,
    }
}

/// Returns an algorithm with its defaults.
pub fn controller(kind: &str, variant: Variant) -> ControllerSpec {
    ControllerSpec {
        kind: kind.to_owned(),
        variant,
        ..ControllerSpec::default()
    }
}

/// Returns a router that serves `per_ms` packets per millisecond. Callers replace its buffer of one packet.
pub fn router(name: String, per_ms: f64) -> Router {
    Router {
        name,
        capacity: PacketRate::per_ms(per_ms),
        buffer: 1,
    }
}

/// Returns a topology of two equal backbone routers, with a direct access router below each: `near` and `far`, each
/// given as (name, packets per millisecond, buffer in packets).
pub fn two_backbone_routers(
    (per_ms, buffer): (f64, u64),
    delay: Span,
    [near, far]: [(&str, f64, u64); 2],
) -> Topology {
    let sized = |name: &str, per_ms: f64, buffer| Router {
        buffer,
        ..router(name.to_owned(), per_ms)
    };
    let access = |(name, per_ms, buffer), backbone| AccessRouter {
        router: sized(name, per_ms, buffer),
        class: AccessClass::Direct,
        parent: Parent::Backbone(backbone),
        sources: 0,
        receivers: 0,
    };
    let link = |from: usize, to: usize| BackboneLink {
        name: format!("{from}-{to}"),
        from,
        to,
        delay,
    };
    Topology {
        backbone: vec![sized("near", per_ms, buffer), sized("far", per_ms, buffer)],
        links: vec![link(0, 1), link(1, 0)],
        next_link: vec![vec![None, Some(0)], vec![Some(1), None]],
        pops: Vec::new(),
        access: vec![access(near, 0), access(far, 1)],
        service: Service::Dual,
        shared_buffer: false,
    }
}

/// Returns a long-lived flow between access routers of these names.
pub fn long_lived(topology: &Topology, from: &str, to: &str, start: f64) -> LongLived {
    let at = |name: &str| {
        let is = |access: &AccessRouter| access.router.name == name;
        topology
            .access
            .iter()
            .position(is)
            .expect("a router of this name")
    };
    LongLived {
        label: format!("{from} to {to}"),
        from: at(from),
        to: at(to),
        start: Time::from_secs_f64(start),
        stop: Time::NEVER,
        algorithm: Some(0),
        speed: PacketRate::per_ms(80.0),
    }
}

/// Returns the route between two backbone routers: its one-way delay in milliseconds, and its routers.
pub fn route(topology: &Topology, from: usize, to: usize) -> (u64, Vec<usize>) {
    let (mut at, mut ms, mut path) = (from, 0, vec![from]);
    while at != to {
        let link = &topology.links[topology.next_link[at][to].expect("a route")];
        ms += link.delay.as_ps() / Span::from_millis(1).as_ps();
        at = link.to;
        path.push(at);
        assert!(path.len() <= topology.backbone.len(), "routes do not loop");
    }
    (ms, path)
}

/// Returns the mean round-trip propagation delay in milliseconds over all pairs of different
/// backbone routers.
pub fn mean_round_trip_ms(topology: &Topology) -> f64 {
    let routers = topology.backbone.len();
    let pairs = (0..routers).flat_map(|a| (0..a).map(move |b| (a, b)));
    let trips: Vec<u64> = pairs
        .map(|(a, b)| route(topology, a, b).0 + route(topology, b, a).0)
        .collect();
    trips.iter().sum::<u64>() as f64 / trips.len() as f64
}

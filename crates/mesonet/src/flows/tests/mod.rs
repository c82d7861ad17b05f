//! One flow over a path that is only a delay, whose packets a test can lose.

mod closed_form;
mod handshake;
mod losses;
mod windows;

use longhaul_congestion::{CongestionState, ControllerSpec, Rounding, SlowStart, Variant, Window};
use longhaul_units::{Span, Time};

use super::{Backlog, Endpoints, Env, Expired, Place, ReceivingEnd, SendingEnd, Timer, Timers};
use crate::config::{
    AccessClass, AccessRouter, BackboneLink, PacketRate, Parent, Router, Service, Topology,
};
use crate::network::{FlowId, Happening, Kind, Network, Packet};

/// A flow and its path.
struct Path {
    env: Env,
    sender: SendingEnd,
    receiver: ReceivingEnd,
    backlog: Backlog,
    size: u64,
    /// Decides which packets are lost just before they reach their host.
    lose: fn(&Packet, &SendingEnd) -> bool,
    /// Packets that got there, lost or not.
    seen: Vec<(Time, Kind, u64)>,
    failed: Option<Time>,
    done: Option<Time>,
}

/// How a flow begins.
struct Start {
    rtt: Span,
    /// Time that each host takes for a packet: source and receiver.
    gaps: [Span; 2],
    cwnd: f64,
    ssthresh: f64,
    knee: f64,
    size: u64,
}

impl Start {
    /// With hosts that take no time worth speaking of.
    fn new(rtt: Span, size: u64) -> Self {
        Self {
            rtt,
            gaps: [Span::from_ps(1000); 2],
            cwnd: 2.0,
            ssthresh: 1e9,
            knee: 100.0,
            size,
        }
    }

    fn path(&self, kind: &str) -> Path {
        let flow = FlowId { place: 0, life: 0 };
        let network = Network::new(&two_routers(self.rtt), self.gaps.to_vec());
        let spec = ControllerSpec {
            kind: kind.to_owned(),
            variant: Variant::Paper,
            ..ControllerSpec::default()
        };
        let window = Window::new(self.cwnd, self.ssthresh, 1e9, Rounding::Real);
        let slow_start = SlowStart::NistLimited {
            max_ssthresh: self.knee,
        };
        let controller = spec.build().expect("a known algorithm");
        let ends = Endpoints {
            access: 0,
            receiver_access: 1,
            speed: 0,
            propagation: self.rtt,
            allowance: Span::ZERO,
        };
        let place = Place {
            access: 1,
            source_access: 0,
            speed: 1,
            tally: 0,
        };
        Path {
            env: Env {
                network,
                timers: Timers::default(),
                packets_in: 0,
                srtt_gain: 0.125,
                initial_cwnd: self.cwnd,
            },
            sender: SendingEnd::new(
                flow,
                &ends,
                CongestionState::new(window, slow_start, controller),
            ),
            receiver: ReceivingEnd::new(flow, place),
            backlog: Backlog::new(),
            size: self.size,
            lose: |_, _| false,
            seen: Vec::new(),
            failed: None,
            done: None,
        }
    }
}

/// Two backbone routers with an access router each, and all of the delay between them.
fn two_routers(rtt: Span) -> Topology {
    let router = |name: &str| Router {
        name: name.to_owned(),
        capacity: PacketRate::per_ms(1e7),
        buffer: 1_000_000_000,
    };
    let link = |from: usize, to: usize| BackboneLink {
        name: format!("{from}-{to}"),
        from,
        to,
        delay: rtt / 2,
    };
    let access = |backbone| AccessRouter {
        router: router("access"),
        class: AccessClass::Direct,
        parent: Parent::Backbone(backbone),
        sources: 0,
        receivers: 0,
    };
    Topology {
        backbone: vec![router("near"), router("far")],
        links: vec![link(0, 1), link(1, 0)],
        next_link: vec![vec![None, Some(0)], vec![Some(1), None]],
        pops: Vec::new(),
        access: vec![access(0), access(1)],
        service: Service::Dual,
    }
}

impl Path {
    fn connect(&mut self) {
        self.sender.connect(&mut self.env);
    }

    /// Starts to send without a handshake.
    fn begin(&mut self) {
        self.sender.begin(self.size, &mut self.env);
    }

    fn cwnd(&self) -> f64 {
        self.sender.congestion().window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.sender.congestion().window.ssthresh()
    }

    /// Answers that got to the source: negative or not, and their numbers.
    fn answers(&self) -> Vec<(Kind, u64)> {
        let answers = self.seen.iter().map(|&(_, kind, number)| (kind, number));
        answers
            .filter(|(kind, _)| matches!(kind, Kind::Ack | Kind::Nak))
            .collect()
    }

    fn run(&mut self, until: Time) {
        self.env.network.set_horizon(until);
        loop {
            let timer = self.env.timers.first();
            match self.env.network.next::<false>(timer.min(until)) {
                Some(Happening::Delivered(packet)) => self.deliver(&packet),
                Some(Happening::Answered(answer)) => {
                    let network = &mut self.env.network;
                    self.receiver.on_answer(answer, &mut self.backlog, network);
                }
                Some(Happening::Paced(_)) => self.sender.on_pace(&mut self.env),
                None if timer <= until => self.on_timer(),
                None => break,
            }
        }
        self.env.network.now = until;
        self.env.network.rebase();
    }

    fn deliver(&mut self, packet: &Packet) {
        let now = self.env.network.now;
        self.seen.push((now, packet.kind(), packet.number()));
        if (self.lose)(packet, &self.sender) {
            return;
        }
        match packet.kind() {
            Kind::Syn | Kind::Data => {
                let network = &mut self.env.network;
                self.receiver.on_packet(packet, &mut self.backlog, network);
            }
            Kind::SynAck if self.sender.is_connecting() => self.begin(),
            Kind::SynAck => {}
            Kind::Ack | Kind::Nak => {
                if self.sender.is_active() && self.sender.on_answer(packet, &mut self.env) {
                    self.done = Some(now);
                    self.sender.stop();
                }
            }
        }
    }

    fn on_timer(&mut self) {
        let (now, timer) = self.env.timers.take();
        self.env.network.now = now;
        match timer {
            Timer::Expiry(_) => {
                if self.sender.on_expiry(&mut self.env) == Expired::Failed {
                    self.failed = Some(now);
                    self.sender.stop();
                }
            }
            Timer::Pace(_) => self.sender.on_pace(&mut self.env),
            other => unreachable!("{other:?} is no timer of a flow"),
        }
    }
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

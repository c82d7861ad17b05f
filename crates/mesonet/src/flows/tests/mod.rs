//! A test bench: one flow over a path with only a delay. Tests can lose packets on it.

mod closed_form;
mod handshake;
mod losses;
mod paced;
mod windows;

use longhaul_congestion::{CongestionState, ControllerSpec, Rounding, SlowStart, Variant, Window};
use longhaul_units::{Span, Time};

use super::{
    AckQueues, Env, Receiver, ReceiverSetup, Sender, SenderSetup, Timer, TimerOutcome, Timers,
};
use crate::config::{
    AccessClass, AccessRouter, BackboneLink, PacketRate, Parent, Router, Service, Topology,
};
use crate::network::{FlowId, HostEvent, Kind, Network, Packet, Regions, Routes};

/// One flow and its path.
struct Path {
    env: Env,
    sender: Sender,
    receiver: Receiver,
    ack_queues: AckQueues,
    size: u64,
    /// Function that returns true for packets to be lost just before they reach their host.
    lose: fn(&Packet, &Sender) -> bool,
    /// Packets that reached the end of the path, lost or not.
    seen: Vec<(Time, Kind, u64)>,
    failed: Option<Time>,
    done: Option<Time>,
}

/// Initial state of a flow.
struct Start {
    rtt: Span,
    /// Times that the source and the receiver need per packet.
    packet_intervals: [Span; 2],
    cwnd: f64,
    ssthresh: f64,
    knee: f64,
    size: u64,
}

impl Start {
    /// Returns a flow of `size` packets between hosts that need almost no time per packet.
    fn new(rtt: Span, size: u64) -> Self {
        Self {
            rtt,
            packet_intervals: [Span::from_ps(1000); 2],
            cwnd: 2.0,
            ssthresh: 1e9,
            knee: 100.0,
            size,
        }
    }

    fn path(&self, kind: &str) -> Path {
        let flow = FlowId {
            slot: 0,
            generation: 0,
        };
        let topology = two_routers(self.rtt);
        let (regions, routes) = (Regions::one(&topology), Routes::new(&topology));
        let intervals = self.packet_intervals.to_vec();
        let network = Network::new(&topology, &regions, &routes, 0, intervals);
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
        let ends = SenderSetup {
            access: 0,
            receiver_access: 1,
            receiver: flow,
            speed: 0,
            propagation: self.rtt,
            allowance: Span::ZERO,
        };
        let place = ReceiverSetup {
            sender: flow,
            access: 1,
            source_access: 0,
            speed: 1,
            counter: 0,
        };
        // One window is longer than any test.
        let mut timers = Timers::new(Span::from_secs(1000));
        timers.begin_window(|time, _| time);
        Path {
            env: Env {
                network,
                timers,
                packets_in: 0,
                srtt_gain: 0.125,
                rtt_excess: Span::ZERO,
                handshake_rtt: true,
                initial_cwnd: self.cwnd,
            },
            sender: Sender::new(
                flow,
                &ends,
                CongestionState::new(window, slow_start, controller),
            ),
            receiver: Receiver::new(flow, place),
            ack_queues: AckQueues::new(),
            size: self.size,
            lose: |_, _| false,
            seen: Vec::new(),
            failed: None,
            done: None,
        }
    }
}

/// Returns two backbone routers with an access router each; all of the delay is between the
/// backbone routers.
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
        shared_buffer: false,
    }
}

impl Path {
    fn connect(&mut self) {
        self.sender.connect(&mut self.env);
    }

    /// Starts the transfer without a handshake.
    fn begin(&mut self) {
        self.sender.begin(self.size, &mut self.env);
    }

    fn cwnd(&self) -> f64 {
        self.sender.congestion().window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.sender.congestion().window.ssthresh()
    }

    /// Returns the kind and number of each acknowledgement that reached the source.
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
                Some(HostEvent::Delivered(packet)) => self.deliver(&packet),
                Some(HostEvent::AckReady(ack)) => {
                    let network = &mut self.env.network;
                    self.receiver
                        .on_ack_ready(ack, &mut self.ack_queues, network);
                }
                Some(HostEvent::MaySend(_)) => self.sender.on_pace(&mut self.env),
                None if timer <= until => self.on_timer(),
                None => break,
            }
        }
        self.env.network.finish::<false>(until);
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
                self.receiver
                    .on_packet(packet, &mut self.ack_queues, network);
            }
            Kind::SynAck if self.sender.is_connecting() => {
                self.sender.on_syn_ack(packet, self.size, &mut self.env);
            }
            Kind::SynAck => {}
            Kind::Ack | Kind::Nak => {
                if self.sender.is_active() && self.sender.on_ack(packet, &mut self.env) {
                    self.done = Some(now);
                    self.sender.stop();
                }
            }
        }
    }

    fn on_timer(&mut self) {
        let (now, timer, _) = self.env.timers.take();
        self.env.network.now = now;
        match timer {
            Timer::Expiry => {
                if self.sender.on_timer_expired(&mut self.env) == TimerOutcome::Failed {
                    self.failed = Some(now);
                    self.sender.stop();
                }
            }
            Timer::Pace => self.sender.on_pace(&mut self.env),
            other => unreachable!("{other:?} is for regions"),
        }
    }
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

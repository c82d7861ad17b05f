//! Trains: packets that one event delivers from a link to endpoints whose answers all go onto one other link.
//!
//! The code of the endpoints is compiled again for trains, once for each type of service of this other link. No link is
//! looked up per packet, and the state of the loops stays in registers.

use longhaul_units::Time;

use super::world::World;
use super::{AHEAD, bound};
use crate::network::{
    Answers, Delivery, DualClockTime, Entrance, Lane, Link, Offer, PacketService, Side, Train,
};
use crate::packet::{OptionStore, Packet};
use crate::schedule::Schedule;
use crate::transport::tcp::Connection;
use crate::transport::{Environment, EventLog, FlowDelays};

/// Environment of the endpoints that a train of packets reaches. Their answers enter one link, served by `S`.
#[derive(Debug)]
struct LinkEnvironment<'a, S> {
    now: DualClockTime,
    lane: Lane<'a, S>,
    schedule: &'a mut Schedule,
    options: &'a mut OptionStore,
    log: &'a mut EventLog,
    /// True if a packet entered the link while the link had no packets to forward.
    first: bool,
}

impl<S: PacketService> Environment for LinkEnvironment<'_, S> {
    #[inline(always)]
    fn now(&self) -> Time {
        self.now.time
    }

    #[inline(always)]
    fn schedule(&mut self) -> &mut Schedule {
        self.schedule
    }

    #[inline(always)]
    fn options(&mut self) -> &mut OptionStore {
        self.options
    }

    #[inline(always)]
    fn log(&mut self) -> &mut EventLog {
        self.log
    }

    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        match self.lane.offer(&packet, self.now, self.options) {
            Offer::Accepted => {}
            Offer::First => self.first = true,
            Offer::Dropped => self.options.forget(packet.sack),
        }
    }
}

/// Values that determine up to which arrival time one event delivers packets: the link's kind of lookahead, the arrival
/// time of the first packet, and the time of the next observation (such as a sample).
#[derive(Clone, Copy, Debug)]
struct TrainExtent {
    delivery: Delivery,
    begin: Time,
    observation: Time,
}

/// The endpoints of connections that receive the packets of a train.
#[derive(Debug)]
struct Ends<'a> {
    side: Side,
    tcp: &'a mut [Connection],
    delays: &'a mut FlowDelays,
    prefetches: bool,
}

impl World {
    /// Delivers packets from `link` to endpoints whose answers all go onto the link `answers.to`.
    pub(super) fn deliver_train(&mut self, link: u32, delivery: Delivery, answers: Answers) {
        let network = &mut self.env.network;
        let now = network.dual_clock_time();
        let extent = TrainExtent {
            delivery,
            begin: now.time,
            observation: network.schedule.next_observation().max(now.time),
        };
        let ends = Ends {
            side: answers.from,
            tcp: &mut self.tcp,
            delays: &mut self.env.delays,
            prefetches: self.prefetches,
        };
        let Train {
            from,
            to,
            schedule,
            options,
        } = network.train(link, answers.to);
        let log = &mut self.env.log;
        macro_rules! environment {
            ($lane:expr) => {{
                let mut environment = LinkEnvironment {
                    now,
                    lane: $lane,
                    schedule,
                    options,
                    log,
                    first: false,
                };
                run(from, &mut environment, ends, extent);
                (environment.now, environment.first)
            }};
        }
        let (last, first) = match to.entrance() {
            Entrance::Exact(lane) => environment!(lane),
            Entrance::Ns2(lane) => environment!(lane),
            Entrance::Explicit(lane) => environment!(lane),
        };
        network.end_run(last, answers.to, first);
    }
}

#[inline(never)]
fn run<S: PacketService>(
    from: &mut Link,
    env: &mut LinkEnvironment<'_, S>,
    ends: Ends<'_>,
    extent: TrainExtent,
) {
    let Ends {
        side,
        tcp,
        delays,
        prefetches,
    } = ends;
    let until = |tcp: &[Connection], schedule: &Schedule| {
        bound(
            extent.delivery,
            extent.begin,
            extent.observation,
            schedule,
            tcp,
        )
    };
    match side {
        Side::Receivers => {
            let measures = delays.are_measured();
            while let Some(packet) = from.forward(until(tcp, env.schedule)) {
                env.now = DualClockTime::of(packet);
                let connection = &mut tcp[packet.flow as usize];
                if measures {
                    delays.record(connection.flow, packet, packet.time);
                }
                connection.receiver.on_segment(packet, env);
                if prefetches && let Some(coming) = from.ahead(AHEAD) {
                    tcp[coming.flow as usize].receiver.prefetch();
                }
            }
        }
        Side::Senders => {
            while let Some(packet) = from.forward(until(tcp, env.schedule)) {
                env.now = DualClockTime::of(packet);
                tcp[packet.flow as usize].sender.on_packet(packet, env);
                if prefetches && let Some(coming) = from.ahead(AHEAD) {
                    tcp[coming.flow as usize].sender.prefetch();
                }
            }
        }
    }
}

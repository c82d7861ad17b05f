//! Simulation of a [`Config`]: the event loop, which works on the network and the flows.

mod capture;
mod journal;
mod live;
mod outside;
mod sources;
mod split;
mod train;
mod window;
mod world;

use longhaul_kernel::memory;
use longhaul_units::Time;

pub use self::live::emulate;
use self::world::World;
use crate::config::Config;
use crate::measure::{Control, OutOfMemory, Recorder, Totals};
use crate::network::{Delivered, Delivery, End};
use crate::packet::Packet;
use crate::schedule::{Event, Schedule};
use crate::stack::Host;
use crate::traffic::Traffic;
use crate::transport::tcp::Connection;

/// Reason why a simulation cannot be set up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// The nodes are not connected.
    #[error("{user}: there is no path from node `{from}` to node `{to}`")]
    NoPath {
        /// Kind and name of the flow or proxy that cannot be set up.
        user: String,
        /// Name of the sending node.
        from: String,
        /// Name of the receiving node.
        to: String,
    },
    /// The congestion control is refused.
    #[error("{user}: {reason}")]
    Congestion {
        /// Kind and name of the flow or proxy that cannot be set up.
        user: String,
        /// Reason why the congestion control is refused.
        reason: String,
    },
    /// The flow was recorded in an emulation.
    #[error("{user}: its packets came from a real program, and cannot be simulated")]
    Outside {
        /// Kind and name of the flow.
        user: String,
    },
    /// The recorder stopped the run during its setup.
    #[error("stopped while the simulation was set up")]
    Stopped,
}

/// Simulates `config`, reporting to `recorder`.
///
/// # Errors
///
/// Fails if there is no path between the nodes of a flow or proxy, if a congestion control is refused (an unknown name
/// or a wrong parameter), if a flow was recorded in an emulation, or if the recorder stops the run during its setup.
pub fn run(config: &Config, recorder: &mut dyn Recorder) -> Result<Totals, SetupError> {
    let mut world = World::new(config, recorder)?;
    let edges = world.edges(config);
    world.env.network.look_ahead(config, &edges);
    world.enter_initial_events(config);
    match memory::catch(|| world.run(recorder)) {
        Ok(stopped) => Ok(world.totals(stopped)),
        Err(refused) => {
            world.flush_all(recorder);
            let holders = world.describe_largest_holders(config);
            Ok(Totals {
                out_of_memory: Some(OutOfMemory { refused, holders }),
                ..world.totals(true)
            })
        }
    }
}

/// Prefetch distance: while a packet is processed, the connection of a later packet is prefetched, with this number of
/// packets between the two. While flows are sampled, it is the connection this number of flows ahead.
pub(super) const AHEAD: usize = 4;

/// Returns the time limit for a link's forwarding: packets that arrive later are not forwarded yet. `delivery` says
/// where the packets go; `observation` is the time of the next observation, such as a sample.
#[inline(always)]
fn bound(
    delivery: Delivery,
    now: Time,
    observation: Time,
    schedule: &Schedule,
    tcp: &[Connection],
) -> Time {
    match delivery {
        Delivery::OnTime | Delivery::ToHolds | Delivery::ToBoxes | Delivery::Merged(_) => now,
        Delivery::ToObservation | Delivery::ToAccess(_) => observation,
        Delivery::ToTimer => schedule.next_timer().max(now),
        Delivery::ToSender(connection) => {
            let sender = &tcp[connection as usize].sender;
            observation.min(sender.due(schedule))
        }
        Delivery::ToReceivers => observation.min(schedule.next_delayed_ack()),
        Delivery::ToReceiver(connection) => {
            observation.min(tcp[connection as usize].receiver.due())
        }
    }
}

impl World {
    /// Processes events until the end; returns true if the recorder stopped the run before the end.
    fn run(&mut self, recorder: &mut dyn Recorder) -> bool {
        if self.env.network.is_captured() {
            self.run_loop::<true>(recorder)
        } else {
            self.run_loop::<false>(recorder)
        }
    }

    /// Runs the event loop. It is compiled separately for runs that record packets (`CAPTURED`).
    ///
    /// Not inlined, so that one register holds the address of `self` throughout.
    #[inline(never)]
    fn run_loop<const CAPTURED: bool>(&mut self, recorder: &mut dyn Recorder) -> bool {
        loop {
            let (now, event) = self.env.network.schedule.next();
            self.env.network.now = now;
            match event {
                Event::Arrival(link) if CAPTURED => self.deliver_captured(link, recorder),
                Event::Arrival(link) => self.deliver(link),
                Event::Merge(merge) => self.env.network.merge(merge),
                Event::Held(end) if !CAPTURED => self.on_held(end),
                Event::Progress => {
                    self.flush(recorder);
                    if self.report_progress(recorder) == Control::Stop {
                        self.flush_all(recorder);
                        return true;
                    }
                }
                Event::End => {
                    self.flush_all(recorder);
                    return false;
                }
                other => {
                    self.on_other(other, recorder);
                    if CAPTURED {
                        self.record_packets(recorder);
                    }
                    if self.ticker.is_due() && self.is_stopped(recorder) {
                        self.flush_all(recorder);
                        return true;
                    }
                }
            }
            self.deliver_ready(now);
        }
    }

    /// Delivers the packets that reach a link's far end now, and those that will reach it within the link's lookahead.
    #[inline(always)]
    fn deliver(&mut self, link: u32) {
        let begin = self.env.network.now;
        let delivery = self.env.network.begin_arrivals(link);
        if delivery == Delivery::ToHolds {
            self.deliver_to_holds(link);
        } else if delivery == Delivery::ToBoxes {
            let until = self.env.network.schedule.next_observation().max(begin);
            self.env.network.delay_ahead(link, until);
        } else if let Some(answers) = self.env.network.answers(link) {
            self.deliver_train(link, delivery, answers);
        } else if let Delivery::ToAccess(spreading) = delivery {
            return self.deliver_over_access(link, spreading);
        } else if delivery == Delivery::ToObservation {
            let until = self.env.network.schedule.next_observation().max(begin);
            let mut packet = Packet::NONE;
            while let Some(end) = (self.env.network).forward_to_links(link, until, &mut packet) {
                self.receive_otherwise(end, &packet);
            }
        } else {
            let observation = self.env.network.schedule.next_observation().max(begin);
            let mut until = self.bound(delivery, begin, observation);
            let mut packet = Packet::NONE;
            while let Some(end) = self.env.network.forward(link, until, &mut packet) {
                if self.prefetches {
                    self.prefetch(end, link);
                }
                self.receive(end, &packet);
                until = self.bound(delivery, begin, observation);
            }
        }
        self.env.network.finish_arrivals(link);
    }

    /// Delivers packets of a link that leads to access links. `spreading` is the link's index among such links. The
    /// packets cross the access links, and are passed to their endpoints or stored until they arrive there.
    #[inline(never)]
    fn deliver_over_access(&mut self, link: u32, spreading: u32) {
        /// Maximum number of packets of one event. With this limit, the state of the packets' connections is still in
        /// the caches when the endpoints' answers are processed.
        const MANY: u32 = 1024;
        let network = &mut self.env.network;
        let observation = network.schedule.next_observation().max(network.now);
        let until = network.reaches_ends_by(spreading, observation);
        let mut packet = Packet::NONE;
        for _ in 0..MANY {
            let network = &mut self.env.network;
            let Some(access) = network.forward_to_access(link, until, &mut packet) else {
                break;
            };
            let coming = network.prefetch_access(link, AHEAD).map(|one| one.flow);
            let Some(end) = network.cross_access(access, &mut packet) else {
                continue;
            };
            let coming = coming.and_then(|flow| self.tcp.get(flow as usize));
            let connection = &self.tcp[packet.flow as usize];
            let due = if end == End::TcpReceiver {
                coming.inspect(|coming| coming.receiver.prefetch());
                connection.receiver.due()
            } else {
                coming.inspect(|coming| coming.sender.prefetch());
                connection.sender.due(&network.schedule)
            };
            if packet.time > due.min(observation) || network.access_holds(access) {
                network.hold_at_access(access, &packet);
            } else {
                network.now = packet.time;
                self.receive(end, &packet);
            }
        }
        let network = &mut self.env.network;
        network.finish_to_access(spreading, until, observation);
    }

    /// Delivers packets in runs that record packets: each at its arrival time, and none ahead of time.
    #[cold]
    fn deliver_captured(&mut self, link: u32, recorder: &mut dyn Recorder) {
        let begin = self.env.network.now;
        self.env.network.begin_arrivals(link);
        let mut packet = Packet::NONE;
        loop {
            self.env.network.note_transfer(link);
            match self.env.network.forward_one(link, begin, &mut packet) {
                Some(Delivered::ToEnd(end)) => {
                    if let Some(arrived) = self.env.network.arrived(link, packet) {
                        self.record_packet(&arrived, None, recorder);
                    }
                    self.note_arrival(&packet, end);
                    self.receive(end, &packet);
                }
                Some(Delivered::ToLink) => {}
                None => break,
            }
            self.record_packets(recorder);
        }
        self.env.network.finish_arrivals(link);
    }

    /// Forwards packets that have reached the far end of a link, to the next link or to an endpoint. If an endpoint
    /// holds packets for an extra delay, it gets them before they reach the far end ([`Self::hold_ahead`]).
    #[inline(never)]
    fn deliver_to_holds(&mut self, link: u32) {
        let begin = self.env.network.now;
        let mut packet = Packet::NONE;
        loop {
            self.hold_ahead(link, begin);
            match self.env.network.forward_one(link, begin, &mut packet) {
                Some(Delivered::ToEnd(end)) => self.receive(end, &packet),
                Some(Delivered::ToLink) => {}
                None => break,
            }
        }
    }

    /// Processes links that were empty and have just accepted a packet. If the packet's endpoint delays packets, the
    /// endpoint receives the packet at once, before the packet arrives, and adds the delay itself. Otherwise, the
    /// packet's arrival is scheduled.
    #[inline]
    fn deliver_ready(&mut self, now: Time) {
        while let Some(link) = self.env.network.take_ready() {
            self.hold_ahead(link, now);
            self.env.network.enter_rest(link);
        }
    }

    /// Passes the next packets of a link to their endpoints before the packets arrive, if these endpoints hold packets
    /// for an extra delay. Stops at the first packet to an endpoint without this delay, and at the next observation,
    /// such as a sample.
    fn hold_ahead(&mut self, link: u32, now: Time) {
        let network = &mut self.env.network;
        let observation = network.schedule.next_observation().max(now);
        let mut packet = Packet::NONE;
        while let Some(next) = network.ahead(link, 0)
            && let Some(connection) = self.traffic.holding(next)
            && let Some(Delivered::ToEnd(end)) = network.forward_one(link, observation, &mut packet)
        {
            connection.hold(&packet, end, packet.time, &mut network.schedule);
            if let Some(packet) = network.ahead(link, AHEAD) {
                self.traffic.prefetch(packet);
            }
        }
    }

    /// Prefetches the connection of a packet further back on `link`. This packet is assumed to have the same kind of
    /// receiver, `end`.
    #[inline(always)]
    fn prefetch(&self, end: End, link: u32) {
        let packet = self.env.network.ahead(link, AHEAD);
        let flow = packet.map_or(usize::MAX, |packet| packet.flow as usize);
        if let Some(connection) = self.tcp.get(flow) {
            match end {
                End::TcpReceiver => connection.receiver.prefetch(),
                End::TcpSender => connection.sender.prefetch(),
                _ => {}
            }
        }
    }

    /// Processes a packet that has reached the end of its route.
    #[inline(always)]
    fn receive(&mut self, end: End, packet: &Packet) {
        let flow = packet.flow as usize;
        // For most packets, this takes two comparisons instead of a jump through a table.
        if end == End::TcpReceiver {
            if self.env.delays.are_measured() {
                let of_flow = self.tcp[flow].flow;
                self.env.delays.record(of_flow, packet, packet.time);
            }
            self.tcp[flow].receiver.on_segment(packet, &mut self.env);
        } else if end == End::TcpSender {
            self.tcp[flow].sender.on_packet(packet, &mut self.env);
        } else {
            self.receive_otherwise(end, packet);
        }
    }

    /// Processes a dummy packet, or a packet for a receiver other than a TCP connection of a flow.
    #[inline(never)]
    fn receive_otherwise(&mut self, end: End, packet: &Packet) {
        let flow = packet.flow as usize;
        match end {
            End::TcpSender | End::TcpReceiver => unreachable!("received already"),
            End::UdpReceiver => {
                let udp = &mut self.udp[flow];
                self.env.delays.record(udp.flow(), packet, packet.time);
                udp.on_packet(packet);
            }
            End::StackSender => {
                let connection = self.stacks.numbered(packet.flow);
                connection.on_packet(Host::Sender, packet, &mut self.env);
            }
            End::StackReceiver => {
                let connection = self.stacks.numbered(packet.flow);
                (self.env.delays).record(connection.flow(), packet, packet.time);
                connection.on_packet(Host::Receiver, packet, &mut self.env);
            }
            End::Outside => self.outside.arrive(packet),
            End::DummyReceiver => self.tcp[flow].receiver.on_dummy(packet, &mut self.env),
            End::DummySender => self.tcp[flow].sender.on_dummy_ack(&mut self.env),
            End::TrafficSender | End::TrafficReceiver => {
                self.traffic.on_packet(packet, end, &mut self.env);
            }
            End::ProxyEntry | End::ProxyExit | End::TrafficEntry => {
                let (proxies, mut ends, env) = self.at_proxies();
                proxies.on_packet(packet, end, &mut ends, env);
            }
        }
    }

    /// Returns the time limit for a link's forwarding, as the function [`bound`] does.
    #[inline(always)]
    fn bound(&self, delivery: Delivery, now: Time, observation: Time) -> Time {
        let schedule = &self.env.network.schedule;
        bound(delivery, now, observation, schedule, &self.tcp)
    }

    /// Processes the packets whose delay at the endpoint `end` is over. Except in captures and emulations, this event
    /// does not use the general dispatch: with web traffic that has extra round-trip times, most events are of this
    /// kind.
    #[inline(never)]
    fn on_held(&mut self, end: u32) {
        let env = &mut self.env;
        env.network.set_clock(env.network.now);
        self.traffic.prefetch_due(&env.network.schedule);
        self.traffic.on_held(end, env);
    }

    #[inline(never)]
    fn on_other(&mut self, event: Event, recorder: &mut dyn Recorder) {
        let env = &mut self.env;
        env.network.set_clock(env.network.now);
        match event {
            Event::Change(changes) => env.network.change(changes),
            Event::QueueUpdate(link) => env.network.update_queue(link),
            Event::Release(entrance) => env.network.release(entrance),
            Event::Send(index)
            | Event::RackTlpTimer(index)
            | Event::RetransmissionTimer(index)
            | Event::DelayedAckTimer(index)
                if Traffic::is_own(index) =>
            {
                self.traffic.on_timer(event, index, env);
            }
            Event::Send(tcp) => self.tcp[tcp as usize].sender.on_send_event(env),
            Event::Stack(end) => {
                let host = Host::BOTH[end as usize % 2];
                self.stacks.numbered(end / 2).on_timer(host, env);
            }
            Event::Datagram(udp) => self.udp[udp as usize].on_datagram_event(env),
            Event::Dummy(tcp) => self.tcp[tcp as usize].sender.on_dummy_event(env),
            Event::RackTlpTimer(tcp) => self.tcp[tcp as usize].sender.on_rack_tlp_timer(env),
            Event::RetransmissionTimer(tcp) => self.tcp[tcp as usize].sender.on_timer(env),
            Event::DelayedAckTimer(tcp) => self.tcp[tcp as usize].receiver.on_timer(env),
            Event::Traffic(source) => self.traffic.on_arrival_event(source, env),
            Event::Message(application) => {
                let source = &mut self.messages[application as usize];
                let sender = &mut self.tcp[source.connection].sender;
                source.on_message_event(sender, env);
            }
            Event::Turn(connection) => {
                self.traffic.prefetch_due(&env.network.schedule);
                self.traffic.on_turn(connection, env);
            }
            Event::Held(end) => self.on_held(end),
            Event::Check(proxy) => {
                let (proxies, mut ends, env) = self.at_proxies();
                proxies.on_check(proxy, &mut ends, env);
            }
            Event::Start(flow) => self.start(flow),
            Event::Stop(flow) => self.stop(flow),
            Event::MeasureFrom => self.open_window(),
            Event::Sample => self.sample(recorder),
            Event::Arrival(_) | Event::Merge(_) | Event::Progress | Event::End => {
                unreachable!("handled by the loop")
            }
        }
    }
}

//! The event loop at the pace of the wall clock, with packets of programs outside the simulation.

use longhaul_units::Time;

use super::SetupError;
use super::outside::OutsideFlows;
use super::world::World;
use crate::config::Config;
use crate::emulation::{Ends, Entering, Leaving, Outside, OutsideDrops};
use crate::measure::{Control, Recorder, Totals};
use crate::network::{Carrier, End};
use crate::packet::{Flags, Packet};
use crate::schedule::Event;
use crate::stack::EcnCodepoint;

/// Maximum number of packets taken from hosts before due packets are delivered.
const MAX_ENTERING: usize = 64;

/// Runs `config` at the pace of the clock of `outside`. Packets of `outside` travel through the network. The run ends
/// at the configured time, or when the recorder stops it. Flows of the configuration are background traffic. The
/// totals contain the results of these flows and of all links.
///
/// # Errors
///
/// Fails in the same cases as [`super::run`].
pub fn emulate(
    config: &Config,
    outside: &mut dyn Outside,
    recorder: &mut dyn Recorder,
) -> Result<Totals, SetupError> {
    let mut world = World::new(config, recorder)?;
    world.outside.first = (world.udp.len() + world.stacks.len()) as u32;
    world.enter_initial_events(config);
    let stopped = world.run_live(outside, recorder);
    let (now, drops) = (world.env.network.now, world.outside_drops());
    outside.finish(now, &drops);
    Ok(world.totals(stopped))
}

impl World {
    /// Processes each event at its time, and packets from outside when they arrive. Returns true if the recorder
    /// stopped the run before its end.
    fn run_live(&mut self, outside: &mut dyn Outside, recorder: &mut dyn Recorder) -> bool {
        loop {
            let reached = outside.now();
            while let Some((now, event)) = self.env.network.schedule.next_by(reached) {
                self.env.network.now = now;
                if event == Event::End {
                    self.flush_all(recorder);
                    return false;
                }
                self.on_live(event, outside, recorder);
                self.hand_over(outside);
            }
            if self.ticker.is_due() && self.is_stopped(recorder) {
                self.flush_all(recorder);
                return true;
            }
            if !self.admit(outside) {
                outside.wait(self.env.network.schedule.first_time());
            }
        }
    }

    fn on_live(&mut self, event: Event, outside: &mut dyn Outside, recorder: &mut dyn Recorder) {
        let now = self.env.network.now;
        match event {
            Event::Arrival(link) => self.deliver_live(link),
            Event::Progress => {
                self.flush(recorder);
                if self.report_progress(recorder) == Control::Stop {
                    // The loop asks the recorder again, and then stops the run.
                    self.ticker.tick();
                }
            }
            Event::MeasureFrom => {
                self.on_other(event, recorder);
                let drops = self.outside_drops();
                outside.open_window(now, &drops);
            }
            Event::Sample => {
                self.on_other(event, recorder);
                outside.sample(now, recorder);
            }
            other => self.on_other(other, recorder),
        }
    }

    /// Forwards the packets that have reached the far end of a link.
    fn deliver_live(&mut self, link: u32) {
        // In an emulation, links have no lookahead.
        let now = self.env.network.now;
        self.env.network.begin_arrivals(link);
        let mut packet = Packet::NONE;
        while let Some(end) = self.env.network.forward(link, now, &mut packet) {
            self.receive(end, &packet);
        }
        self.env.network.finish_arrivals(link);
    }

    /// Puts the packets that hosts outside have sent onto their paths; returns true if there were any.
    fn admit(&mut self, outside: &mut dyn Outside) -> bool {
        for count in 0..MAX_ENTERING {
            // No packet enters at a time after an event that has not been processed.
            let first = self.env.network.schedule.first_time();
            let now = outside.now().min(first).max(self.env.network.now);
            self.env.network.now = now;
            self.env.network.set_clock(now);
            let mut bytes = std::mem::take(&mut self.outside.bytes);
            bytes.clear();
            let entering = outside.enter(now, &mut bytes);
            if let Some(entering) = entering {
                self.enter(entering, &bytes, outside);
            }
            self.outside.bytes = bytes;
            if entering.is_none() {
                return count > 0;
            }
        }
        true
    }

    fn enter(&mut self, entering: Entering, bytes: &[u8], outside: &dyn Outside) {
        if entering.flow as usize == self.outside.len() {
            self.add_outside(&outside.ends(entering.flow));
        }
        let network = &mut self.env.network;
        let sack = network.options.put_datagram(bytes);
        network.send(Packet {
            time: Time::ZERO,
            ns2_s: 0.0,
            seq: entering.number,
            stamp: network.now,
            flow: self.outside.first + entering.flow,
            route: self.outside.paths[entering.flow as usize].route,
            sack,
            bytes: bytes.len() as u16,
            flags: flags_of(entering),
        });
    }

    fn add_outside(&mut self, ends: &Ends) {
        let number = self.outside.first + self.outside.len() as u32;
        let network = &mut self.env.network;
        let path = network.path(ends.from, ends.to, End::Outside);
        let path = path.expect("hosts outside are at nodes with paths to each other");
        self.outside.paths.push(path);
        network.add_flow(Carrier::Udp, number, &ends.name);
    }

    /// Hands the packets that have crossed the network to their hosts outside.
    fn hand_over(&mut self, outside: &mut dyn Outside) {
        let OutsideFlows {
            first,
            arrived,
            bytes,
            ..
        } = &mut self.outside;
        for packet in arrived.drain(..) {
            let options = &mut self.env.network.options;
            bytes.clear();
            let datagram = options.datagram(packet.sack, packet.bytes.into());
            datagram.append_to(bytes);
            options.forget(packet.sack);
            outside.leave(Leaving {
                flow: packet.flow - *first,
                entered: packet.stamp,
                due: packet.time,
                is_marked: packet.flags.has(Flags::CE),
                bytes,
            });
        }
    }

    /// Returns the drops and marks of each outside flow.
    fn outside_drops(&mut self) -> Vec<OutsideDrops> {
        let all = self.env.network.datagram_drops();
        let own = all.into_iter().skip(self.outside.first as usize);
        own.map(|drops| OutsideDrops {
            dropped_pkts: drops.dropped_pkts,
            marked_pkts: drops.marked_pkts,
        })
        .collect()
    }
}

fn flags_of(entering: Entering) -> Flags {
    let datagram = Flags::DATAGRAM.with_if(Flags::ACK, entering.is_pure_ack);
    let capable = datagram.with(Flags::ECT);
    match entering.ecn {
        EcnCodepoint::NotEct => datagram,
        EcnCodepoint::Ect0 => capable,
        EcnCodepoint::Ect1 => capable.with(Flags::ECT1),
        EcnCodepoint::Ce => capable.with(Flags::CE),
    }
}

//! Runs a [`Config`]: the event loop over the world of network and flows.

mod capture;
mod window;
mod world;

use self::world::World;
use crate::config::Config;
use crate::measure::{Control, Recorder, Totals};
use crate::schedule::Event;

/// Events between two reports of progress.
const PROGRESS_EVENTS: u64 = 1 << 16;

/// A flow that cannot be set up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// Its nodes are not connected.
    #[error("flow `{flow}`: there is no path from node `{from}` to node `{to}`")]
    NoPath {
        /// Name of the flow.
        flow: String,
        /// Name of its sending node.
        from: String,
        /// Name of its receiving node.
        to: String,
    },
    /// Its congestion control is refused.
    #[error("flow `{flow}`: {reason}")]
    Congestion {
        /// Name of the flow.
        flow: String,
        /// What is wrong.
        reason: String,
    },
}

/// Simulates `config`, reporting to `recorder`.
///
/// # Errors
///
/// A flow between nodes without a path, or with a congestion control that does not exist.
pub fn run(config: &Config, recorder: &mut dyn Recorder) -> Result<Totals, SetupError> {
    let mut world = World::new(config)?;
    world.enter_initial_events(config);
    let stopped = world.run(recorder);
    Ok(world.totals(stopped))
}

impl World {
    /// Processes events until the end; returns whether the recorder stopped the run before it.
    fn run(&mut self, recorder: &mut dyn Recorder) -> bool {
        loop {
            let (now, event) = self.env.network.schedule.next();
            self.env.network.now = now;
            match event {
                Event::Arrival(link) => {
                    if self.env.network.captured(link).is_some() {
                        self.capture(link, recorder);
                    }
                    self.on_arrival(link);
                }
                Event::End => return false,
                other => self.on_other(other, recorder),
            }
            if !self.env.network.received_ahead.is_empty() {
                self.receive_ahead();
            }
            if !self.env.log.pending.is_empty() {
                self.env
                    .log
                    .pending
                    .drain(..)
                    .for_each(|event| recorder.event(&event));
            }
            if self
                .env
                .network
                .schedule
                .events
                .is_multiple_of(PROGRESS_EVENTS)
                && recorder.progress(now, self.data_packets()) == Control::Stop
            {
                return true;
            }
        }
    }

    #[inline]
    fn on_arrival(&mut self, link: u32) {
        use crate::network::End;
        let Some((end, packet)) = self.env.network.arrive(link) else {
            return;
        };
        let flow = packet.flow as usize;
        match end {
            End::TcpReceiver => self.tcp[flow].receiver.on_segment(&packet, &mut self.env),
            End::TcpSender => self.tcp[flow].sender.on_packet(&packet, &mut self.env),
            End::UdpReceiver => self.udp[flow].on_packet(),
        }
    }

    /// Hands over what will arrive at receivers that are served ahead of time.
    #[inline]
    fn receive_ahead(&mut self) {
        let mut packets = std::mem::take(&mut self.env.network.received_ahead);
        for packet in &packets {
            let receiver = &mut self.tcp[packet.flow as usize].receiver;
            receiver.on_segment(packet, &mut self.env);
        }
        packets.clear();
        self.env.network.received_ahead = packets;
    }

    fn on_other(&mut self, event: Event, recorder: &mut dyn Recorder) {
        let env = &mut self.env;
        env.network.set_clock(env.network.now);
        match event {
            Event::Departure(link) => env.network.depart(link),
            Event::Send(tcp) => {
                env.network.schedule.finish_near();
                self.tcp[tcp as usize].sender.on_send_event(env);
            }
            Event::Datagram(udp) => self.udp[udp as usize].on_datagram_event(env),
            Event::RetransmissionTimer(tcp) => self.tcp[tcp as usize].sender.on_timer(env),
            Event::DelayedAckTimer(tcp) => self.tcp[tcp as usize].receiver.on_timer(env),
            Event::Start(flow) => self.start(flow),
            Event::Stop(flow) => self.stop(flow),
            Event::MeasureFrom => self.open_window(),
            Event::Sample => self.sample(recorder),
            Event::Arrival(_) | Event::End => unreachable!("handled by the loop"),
        }
    }
}

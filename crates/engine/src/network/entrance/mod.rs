//! What happens to packets before they reach a link's queue: they are delayed or lost by what was
//! drawn for their flow, some are doubled, some held back.
//!
//! An entrance stands between whatever sends into a link and the link itself, as a hop of the routes
//! that lead there, so that links without one do not know of it. All is decided when a packet comes;
//! packets that wait have one event, for the next of them.

mod delay_box;
mod holding;

use std::fmt::Display;

use longhaul_units::{Span, Time};

use self::delay_box::FlowBoxes;
use self::holding::Holding;
use super::loss::LossModel;
use super::{Carrier, Network};
use crate::config::{Config, Distribution, Loss};
use crate::packet::Packet;
use crate::random::{Stream, Streams};
use crate::schedule::Event;

/// An entrance at work.
#[derive(Debug)]
pub(super) struct Entrance {
    link: u32,
    boxes: Option<FlowBoxes>,
    /// Choose packets as a link's loss does.
    doubled: LossModel,
    held_back: LossModel,
    reordering: Option<(Distribution, Stream)>,
    holding: Holding,
    /// When the event is due that counts; others are leftovers.
    entry: Time,
    duplicated: u64,
}

impl Entrance {
    /// Those of all links that have one.
    pub(super) fn of(config: &Config, streams: &Streams) -> Vec<Self> {
        let links = config.links.iter().zip(0..);
        let entrances = links.filter_map(|(config, link)| {
            let entrance = config.impairments.as_ref()?;
            let stream = |part: &str| streams.component(&format!("links/{}/{part}", config.name));
            let boxes = entrance.delay_box.as_ref();
            let reordering = entrance.reordering.as_ref();
            let held_back = reordering.map_or(0.0, |reordering| reordering.probability);
            let delays =
                reordering.map(|reordering| (reordering.delay.clone(), stream("reordering/delay")));
            Some(Self {
                link,
                boxes: boxes.map(|boxes| FlowBoxes::new(boxes.clone(), &config.name, streams)),
                doubled: chooser(entrance.duplication, stream("duplication")),
                held_back: chooser(held_back, stream("reordering")),
                reordering: delays,
                holding: Holding::default(),
                entry: Time::NEVER,
                duplicated: 0,
            })
        });
        entrances.collect()
    }

    /// When a packet that could go on at `time` does.
    fn reorder(&mut self, time: Time) -> Time {
        match &mut self.reordering {
            Some((delay, stream)) if self.held_back.loses() => later(time, stream.draw_span(delay)),
            _ => time,
        }
    }
}

fn chooser(probability: f64, stream: Stream) -> LossModel {
    LossModel::new(&Loss::Bernoulli(probability), stream)
}

/// Without an overflow: a flow may have so low a rate that its packets leave after the end of time.
fn later(time: Time, span: Span) -> Time {
    Time::from_ps(time.as_ps().saturating_add(span.as_ps()))
}

impl Network {
    /// A new flow, with an index in its packets that no other has now.
    pub(crate) fn add_flow(&mut self, carrier: Carrier, index: u32, name: &impl Display) {
        self.flow_boxes()
            .for_each(|boxes| boxes.add(carrier, index, name));
    }

    /// A flow is over, and its index may become another's.
    pub(crate) fn remove_flow(&mut self, carrier: Carrier, index: u32) {
        self.flow_boxes()
            .for_each(|boxes| boxes.remove(carrier, index));
    }

    /// How many flows each delay box knows.
    pub(crate) fn boxed_flows(&self) -> impl Iterator<Item = usize> {
        let boxes = self.entrances.iter().filter_map(|one| one.boxes.as_ref());
        boxes.map(FlowBoxes::len)
    }

    fn flow_boxes(&mut self) -> impl Iterator<Item = &mut FlowBoxes> {
        let entrances = self.entrances.iter_mut();
        entrances.filter_map(|entrance| entrance.boxes.as_mut())
    }

    /// A packet reaches an entrance, which is the hop before its link: `packet.route` is the link's.
    #[cold]
    #[inline(never)]
    pub(super) fn enter(&mut self, index: u32, carrier: Carrier, packet: Packet) {
        let now = self.now;
        let entrance = &mut self.entrances[index as usize];
        let leaves = match &mut entrance.boxes {
            Some(boxes) => boxes.admit(&packet, carrier, now),
            None => Some(now),
        };
        let Some(leaves) = leaves else {
            self.links[entrance.link as usize].lose(&packet);
            return self.options.forget(packet.sack);
        };
        if entrance.doubled.loses() {
            entrance.duplicated += 1;
            let sack = self.options.copy(packet.sack);
            self.pass(index, packet, leaves);
            self.pass(index, Packet { sack, ..packet }, leaves);
        } else {
            self.pass(index, packet, leaves);
        }
    }

    /// Lets a packet go on to the link, at once or later.
    fn pass(&mut self, index: u32, packet: Packet, leaves: Time) {
        let now = self.now;
        let entrance = &mut self.entrances[index as usize];
        let due = entrance.reorder(leaves);
        // What goes on now, though not yet by the schedule, came before.
        if due <= now && entrance.holding.next().is_none_or(|next| next > now) {
            let link = entrance.link;
            return self.put_on(link, &packet);
        }
        entrance.holding.hold(due, packet);
        if due < entrance.entry {
            entrance.entry = due;
            self.schedule.push_link(due, Event::Release(index));
        }
    }

    /// The event of packets that have been held back long enough.
    pub(crate) fn release(&mut self, index: u32) {
        let now = self.now;
        if self.entrances[index as usize].entry != now {
            // An earlier one has been entered since this one was.
            return self.schedule.finish_link();
        }
        while let Some(packet) = self.entrances[index as usize].holding.release(now) {
            let link = self.entrances[index as usize].link;
            self.put_on(link, &packet);
        }
        let entrance = &mut self.entrances[index as usize];
        entrance.entry = entrance.holding.next().unwrap_or(Time::NEVER);
        if entrance.entry == Time::NEVER {
            self.schedule.finish_link();
        } else {
            self.schedule.renew_link(entrance.entry);
        }
    }

    /// Packets that have been doubled, by link.
    pub(super) fn duplicated(&self) -> impl Iterator<Item = (usize, u64)> {
        let entrances = self.entrances.iter();
        entrances.map(|entrance| (entrance.link as usize, entrance.duplicated))
    }
}

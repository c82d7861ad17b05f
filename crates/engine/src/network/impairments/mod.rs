//! Impairments in front of a link's queue: delay boxes (delay, loss and rate for each flow), duplication, reordering,
//! policers and ACK thinning.
//!
//! In a route, impairments are a separate hop before their link: links without impairments have no additional cost.
//! Delay boxes, duplication and reordering decide when a packet arrives; policers and ACK thinning decide when it is
//! released. The waiting packets share one event, the release of the next packet.

mod ack_thinning;
mod delay_box;
mod held_packets;
mod policer;

use std::fmt::Display;

use longhaul_units::{Span, Time};

use self::ack_thinning::{AckThinning, ThinningOutcome};
use self::delay_box::{FlowBoxes, Values};
use self::held_packets::HeldPackets;
use self::policer::Policer;
use super::loss::LossModel;
use super::{Carrier, Hop, Network};
use crate::config::{Config, Distribution, Loss};
use crate::packet::{Flags, Packet};
use crate::queue::DropReason;
use crate::random::{Stream, Streams};
use crate::schedule::{Event, arrival_key};

/// The state of one link's impairments.
#[derive(Debug)]
pub(super) struct Impairments {
    link: u32,
    boxes: Option<FlowBoxes>,
    /// Loss model that selects the packets to duplicate.
    duplication: LossModel,
    /// Loss model that selects the packets to hold back.
    held_back: LossModel,
    reordering: Option<(Distribution, Stream)>,
    holding: HeldPackets,
    policer: Option<Policer>,
    ack_thinning: Option<AckThinning>,
    /// Time of the scheduled release event, or [`Time::NEVER`]; events at other times are stale and ignored.
    entry: Time,
    duplicated: u64,
}

impl Impairments {
    /// Returns the impairments of all links that have any.
    pub(super) fn of(config: &Config, streams: &Streams) -> Vec<Self> {
        let links = config.links.iter().zip(0..);
        let links = links.filter(|(config, _)| config.is_impaired());
        let impairments = links.map(|(config, link)| {
            let keys = &config.direction;
            let stream = |part: &str| streams.component(&format!("links/{}/{part}", config.name));
            let reordering = keys.reordering.as_ref();
            let held_back = reordering.map_or(0.0, |reordering| reordering.probability);
            let delays =
                reordering.map(|reordering| (reordering.delay.clone(), stream("reordering/delay")));
            Self {
                link,
                boxes: FlowBoxes::of(config, streams),
                duplication: chooser(keys.duplication.unwrap_or(0.0), stream("duplication")),
                held_back: chooser(held_back, stream("reordering")),
                reordering: delays,
                holding: HeldPackets::default(),
                policer: keys.policer.map(Policer::new),
                ack_thinning: keys.ack_thinning.map(AckThinning::new),
                entry: Time::NEVER,
                duplicated: 0,
            }
        });
        impairments.collect()
    }

    /// Returns the number of the link that has these impairments.
    pub(super) fn link(&self) -> u32 {
        self.link
    }

    /// Returns the release time of a packet that could leave at `time`: a later time if the packet is held back for
    /// reordering, otherwise `time`.
    fn reorder(&mut self, time: Time) -> Time {
        match &mut self.reordering {
            Some((delay, stream)) if self.held_back.loses() => later(time, stream.draw_span(delay)),
            _ => time,
        }
    }

    /// Returns the earliest release time of the packets held back; [`Time::NEVER`] if there are none.
    fn next_release(&mut self) -> Time {
        let thinned = self.ack_thinning.as_mut().and_then(AckThinning::next);
        let next = self.holding.next().into_iter().chain(thinned).min();
        next.unwrap_or(Time::NEVER)
    }
}

fn chooser(probability: f64, stream: Stream) -> LossModel {
    LossModel::new(&Loss::Bernoulli(probability), stream)
}

/// Returns `time` plus `span`, or the largest time if the sum exceeds it, as at very low rates.
fn later(time: Time, span: Span) -> Time {
    Time::from_ps(time.as_ps().saturating_add(span.as_ps()))
}

impl Network {
    /// Adds a delay box for a new flow on each link with delay boxes. The flow's packets carry `index`, which no other
    /// current flow with the same kind of transport may have.
    pub(crate) fn add_flow(&mut self, carrier: Carrier, index: u32, name: &impl Display) {
        let mut before: Option<(&FlowBoxes, Values)> = None;
        for boxes in self.flow_boxes() {
            let values = match before {
                Some((other, values)) if boxes.draws_as(other) => values,
                _ => boxes.draw(name),
            };
            boxes.add(carrier, index, name, values);
            before = Some((boxes, values));
        }
    }

    /// Removes a flow that has ended, so that its index can be reused. Packets of the flow that arrive later pass
    /// without delay.
    pub(crate) fn remove_flow(&mut self, carrier: Carrier, index: u32) {
        let now = self.now;
        for impairments in 0..self.impairments.len() {
            let boxes = self.impairments[impairments].boxes.as_mut();
            let last = boxes.map(|boxes| boxes.remove(carrier, index));
            if last.is_some_and(|last| last >= now) {
                self.pass_stale(impairments, carrier, index);
            }
        }
    }

    /// Makes the packets of a flow that has ended leave as soon as they arrive.
    #[cold]
    fn pass_stale(&mut self, impairments: usize, carrier: Carrier, index: u32) {
        let (event, routes) = (self.schedule.current(), &self.routes);
        let is_own = |packet: &Packet| {
            routes.hop(packet.route - 1) == Hop::Impairments(impairments as u32, carrier)
                && carrier.common(packet.flow) == carrier.common(index)
        };
        self.impairments[impairments]
            .holding
            .let_pass(event, is_own);
        self.expect_release(impairments as u32);
    }

    /// Passes packets of `link` to the impairments of the next link before the packets arrive there. `until` is the
    /// latest arrival time of these packets. Only for impairments that do nothing except delay packets by known times.
    #[inline(never)]
    pub(crate) fn delay_ahead(&mut self, link: u32, until: Time) {
        while let Some(arrival) = self.links[link as usize].next_arrival()
            && let Some(packet) = self.links[link as usize].forward(until)
        {
            let Hop::Impairments(index, carrier) = self.routes.hop(packet.route + 1) else {
                unreachable!("all packets of the link go through a delay box");
            };
            let route = packet.route + 2;
            let packet = Packet { route, ..*packet };
            let impairments = &mut self.impairments[index as usize];
            let Some(boxes) = &mut impairments.boxes else {
                unreachable!("the link leads to a delay box");
            };
            let leaves = boxes.admit_ahead(&packet, carrier, arrival.time);
            let came = arrival_key(arrival, link);
            impairments.holding.hold(leaves, packet, came);
            self.expect_release_at(index, leaves);
        }
    }

    /// Returns, for each link with delay boxes, the number of flows that have one.
    pub(crate) fn boxed_flows(&self) -> impl Iterator<Item = usize> {
        let boxes = self.impairments.iter().filter_map(|one| one.boxes.as_ref());
        boxes.map(FlowBoxes::len)
    }

    fn flow_boxes(&mut self) -> impl Iterator<Item = &mut FlowBoxes> {
        let impairments = self.impairments.iter_mut();
        impairments.filter_map(|impairments| impairments.boxes.as_mut())
    }

    /// Processes a packet that reaches the impairments of a link. `packet.route` is the position of that link in the
    /// route table.
    #[cold]
    #[inline(never)]
    pub(super) fn impair(&mut self, index: u32, carrier: Carrier, packet: Packet) {
        let now = self.now;
        let impairments = &mut self.impairments[index as usize];
        let leaves = match &mut impairments.boxes {
            Some(boxes) => boxes.admit(&packet, carrier, now),
            None => Some(now),
        };
        let Some(leaves) = leaves else {
            return self.drop_before(index, DropReason::Loss, &packet);
        };
        if impairments.duplication.loses() {
            impairments.duplicated += 1;
            let sack = self.options.copy(packet.sack);
            self.pass(index, packet, leaves);
            self.pass(index, Packet { sack, ..packet }, leaves);
        } else {
            self.pass(index, packet, leaves);
        }
    }

    /// Passes a packet to the link behind the impairments `index` at the time `leaves` (possibly now), or later if the
    /// packet is held back for reordering.
    fn pass(&mut self, index: u32, packet: Packet, leaves: Time) {
        let now = self.now;
        let impairments = &mut self.impairments[index as usize];
        let due = impairments.reorder(leaves);
        // Held packets that are due now have arrived earlier, and enter the link first.
        if due <= now && impairments.holding.next().is_none_or(|next| next > now) {
            return self.enter(index, &packet);
        }
        let came = self.schedule.current();
        impairments.holding.hold(due, packet, came);
        self.expect_release_at(index, due);
    }

    /// Schedules an event for the release of the next packet held back, if no event is scheduled by then.
    fn expect_release(&mut self, index: u32) {
        let due = self.impairments[index as usize].next_release();
        self.expect_release_at(index, due);
    }

    /// Schedules an event for the release of a held packet at `due`, if no event is scheduled by then.
    #[inline]
    fn expect_release_at(&mut self, index: u32, due: Time) {
        let impairments = &mut self.impairments[index as usize];
        if due < impairments.entry {
            impairments.entry = due;
            self.schedule.push_link(due, Event::Release(index));
        }
    }

    /// Passes a packet to the link, unless the policer drops it or ACK thinning holds it. Thinning may also drop or
    /// forward an acknowledgement held before.
    fn enter(&mut self, index: u32, packet: &Packet) {
        let now = self.now;
        let impairments = &mut self.impairments[index as usize];
        let link = impairments.link;
        let policer = impairments.policer.as_mut();
        if policer.is_some_and(|policer| !policer.admits(packet.bytes, now)) {
            return self.drop_before(index, DropReason::Policed, packet);
        }
        let thinning = impairments.ack_thinning.as_mut();
        let Some(thinning) = thinning.filter(|_| packet.flags.has(Flags::ACK)) else {
            return self.offer(link, packet);
        };
        let Hop::Impairments(_, carrier) = self.routes.hop(packet.route - 1) else {
            unreachable!("a link's impairments are the hop before it");
        };
        let ThinningOutcome { dropped, forwarded } = thinning.arrive(packet, carrier, now);
        if let Some(packet) = dropped {
            self.drop_before(index, DropReason::Thinned, &packet);
        }
        for packet in forwarded.into_iter().flatten() {
            self.offer(link, &packet);
        }
        self.expect_release(index);
    }

    /// Drops a packet before it is offered to the link.
    fn drop_before(&mut self, index: u32, reason: DropReason, packet: &Packet) {
        let link = self.impairments[index as usize].link;
        self.links[link as usize].note_drop(reason, packet);
        // A packet dropped by ACK thinning has arrived earlier.
        if reason != DropReason::Thinned {
            self.note_drop(link);
        }
        self.options.forget(packet.sack);
    }

    /// Processes the event for the release of packets that have been held back long enough.
    #[inline(never)]
    pub(crate) fn release(&mut self, index: u32) {
        let now = self.now;
        if self.impairments[index as usize].entry != now {
            // This event is stale: an earlier one has been scheduled in the meantime.
            return self.schedule.finish_link();
        }
        while let Some(packet) = self.impairments[index as usize].holding.release(now) {
            self.enter(index, &packet);
        }
        while let Some(packet) = self.thinned(index, now) {
            let link = self.impairments[index as usize].link;
            self.offer(link, &packet);
        }
        let impairments = &mut self.impairments[index as usize];
        impairments.entry = impairments.next_release();
        if impairments.entry == Time::NEVER {
            self.schedule.finish_link();
        } else {
            self.schedule.renew_link(impairments.entry);
        }
    }

    /// Removes and returns an acknowledgement that ACK thinning has held long enough.
    fn thinned(&mut self, index: u32, now: Time) -> Option<Packet> {
        let thinning = self.impairments[index as usize].ack_thinning.as_mut();
        thinning?.release(now)
    }

    /// Returns the number of duplicated packets for each link with impairments, as (link, number).
    pub(super) fn duplicated(&self) -> impl Iterator<Item = (usize, u64)> {
        let impairments = self.impairments.iter();
        impairments.map(|impairments| (impairments.link as usize, impairments.duplicated))
    }
}

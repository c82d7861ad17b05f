//! Delay boxes: a delay, a loss rate and a bottleneck for each flow, as in ns-2's DelayBox (Weigle, dissertation, UNC
//! 2003, appendix A). One link with a delay box represents a cloud of paths.
//!
//! The values of a flow are drawn once, from a random stream with the flow's name. If a source opens many connections,
//! values are drawn for each connection. Packets of a flow keep their order. A packet leaves when its delay is over and
//! the preceding packet has been transmitted at the flow's rate. The queue in front of this bottleneck is unlimited. In
//! ns-2, a packet waits only for packets that are still in the box, so that the bottleneck can exceed its rate. Here it
//! never does.

use std::fmt::Display;

use longhaul_units::{Rate, Span, Time};

use super::later;
use crate::config::{DelayBox, Distribution, Link, Loss};
use crate::network::loss::LossModel;
use crate::network::route::Carrier;
use crate::packet::{Flags, Packet};
use crate::random::{Stream, Streams};

/// The delay boxes of the current flows on one link.
#[derive(Debug)]
pub(super) struct FlowBoxes {
    config: DelayBox,
    processing_delay: Option<Distribution>,
    /// Prefix of the names of the random streams for flows. Boxes with the same prefix, such as the two directions of a
    /// symmetric link, give a flow the same values.
    name: String,
    /// Prefix of the names of the random streams for the numbers that are drawn for each packet.
    path: String,
    noise: Stream,
    streams: Streams,
    flows: Places,
}

/// Boxes of the current flows. A new flow replaces an ended one with the same index.
#[derive(Debug, Default)]
struct Places {
    /// Boxes, indexed by kind of transport (`Carrier`) and by the flow's index within its kind (`Carrier::place`). Each
    /// box is stored with the number of its flow (`Carrier::common`), since indices are reused.
    boxes: [Vec<Option<(u32, FlowBox)>>; 3],
    count: usize,
}

impl Places {
    fn insert(&mut self, carrier: Carrier, number: u32, flow_box: FlowBox) {
        let boxes = &mut self.boxes[carrier as usize];
        let place = carrier.place(number);
        if place >= boxes.len() {
            boxes.resize_with(place + 1, || None);
        }
        let before = boxes[place].replace((carrier.common(number), flow_box));
        self.count += usize::from(before.is_none());
    }

    fn remove(&mut self, carrier: Carrier, number: u32) -> Option<FlowBox> {
        let place = self.boxes[carrier as usize].get_mut(carrier.place(number))?;
        let own = |(common, _): &mut (u32, FlowBox)| *common == carrier.common(number);
        let (_, removed) = place.take_if(own)?;
        self.count -= 1;
        Some(removed)
    }

    #[inline]
    fn get_mut(&mut self, carrier: Carrier, number: u32) -> Option<&mut FlowBox> {
        let place = self.boxes[carrier as usize].get_mut(carrier.place(number));
        let (common, flow_box) = place?.as_mut()?;
        (*common == carrier.common(number)).then_some(flow_box)
    }
}

/// The delay box of one flow.
#[derive(Debug)]
struct FlowBox {
    delay: Span,
    rate: Option<Rate>,
    loss: Option<Box<LossModel>>,
    /// Time at which the last bit of the preceding packet leaves.
    free: Time,
    /// Arrival time of the last packet that [`FlowBoxes::admit_ahead`] admitted.
    last: Time,
}

/// Random parameters of a flow's delay box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values {
    delay: Span,
    loss: f64,
    rate: Option<Rate>,
}

impl FlowBoxes {
    /// Creates the delay boxes of a link; `None` if the link has neither a delay box nor a processing delay.
    pub(super) fn of(link: &Link, streams: &Streams) -> Option<Self> {
        let config = link.delay_box.clone();
        let processing_delay = link.host_processing_delay.clone();
        if config.is_none() && processing_delay.is_none() {
            return None;
        }
        let path_of = |link: &str| format!("links/{link}/delay_box");
        let symmetric = config.as_ref().is_some_and(|config| config.symmetric);
        let path = path_of(&link.name);
        Some(Self {
            config: config.unwrap_or_default(),
            processing_delay,
            name: if symmetric {
                path_of(&link.forward_name)
            } else {
                path.clone()
            },
            noise: streams.component(&format!("{path}/noise")),
            path,
            streams: streams.clone(),
            flows: Places::default(),
        })
    }

    /// Draws a new flow's delay, loss probability and rate.
    pub(super) fn draw(&self, flow: &impl Display) -> Values {
        let DelayBox {
            delay, loss, rate, ..
        } = &self.config;
        let mut stream = self.streams.own(format_args!("{}/{flow}", self.name));
        Values {
            delay: delay
                .as_ref()
                .map_or(Span::ZERO, |delay| stream.draw_span(delay)),
            loss: loss.as_ref().map_or(0.0, |loss| stream.draw(loss).min(1.0)),
            rate: rate
                .as_ref()
                .map(|rate| Rate::from_bps(stream.draw(rate).max(1.0) as u64)),
        }
    }

    /// Returns true if this box and `other` draw the same values for any flow. This holds for the two directions of a
    /// symmetric link.
    pub(super) fn draws_as(&self, other: &Self) -> bool {
        self.name == other.name && self.config == other.config
    }

    /// Adds a delay box with the given values for a new flow.
    pub(super) fn add(
        &mut self,
        carrier: Carrier,
        index: u32,
        flow: &impl Display,
        values: Values,
    ) {
        let Values { delay, loss, rate } = values;
        let flow_box = FlowBox {
            delay,
            rate,
            loss: (loss > 0.0).then(|| {
                let stream = self.streams.own(format_args!("{}/{flow}/loss", self.path));
                Box::new(LossModel::new(&Loss::Bernoulli(loss), stream))
            }),
            free: Time::ZERO,
            last: Time::ZERO,
        };
        self.flows.insert(carrier, index, flow_box);
    }

    /// Removes the box of a flow that has ended. Returns the arrival time of the last packet that
    /// [`Self::admit_ahead`] admitted; zero if there is none.
    pub(super) fn remove(&mut self, carrier: Carrier, index: u32) -> Time {
        let removed = self.flows.remove(carrier, index);
        removed.map_or(Time::ZERO, |flow_box| flow_box.last)
    }

    /// Returns the number of flows that have a box.
    pub(super) fn len(&self) -> usize {
        self.flows.count
    }

    /// Returns the time at which a packet leaves its flow's delay box. Called before the packet's arrival time `comes`.
    /// Only for boxes that do nothing except delay packets ([`Link::only_delays_flows`]).
    pub(super) fn admit_ahead(&mut self, packet: &Packet, carrier: Carrier, comes: Time) -> Time {
        let Some(flow) = self.flows.get_mut(carrier, packet.flow) else {
            return comes;
        };
        flow.last = comes;
        comes + flow.delay
    }

    /// Returns the time at which a packet that arrives at `now` leaves the box; `None` if it is lost. Packets of
    /// unknown flows are neither delayed nor lost, as in ns-2.
    pub(super) fn admit(&mut self, packet: &Packet, carrier: Carrier, now: Time) -> Option<Time> {
        let Some(flow) = self.flows.get_mut(carrier, packet.flow) else {
            return Some(now);
        };
        if flow.loss.as_mut().is_some_and(|loss| loss.loses()) {
            return None;
        }
        let noise = match &self.processing_delay {
            Some(noise) if packet.flags.has(Flags::ACK) => self.noise.draw_span(noise),
            _ => Span::ZERO,
        };
        let leaves = (now + flow.delay + noise).max(flow.free);
        flow.free = match flow.rate {
            Some(rate) => later(leaves, rate.transmission(packet.bytes.into()).0),
            None => leaves,
        };
        Some(leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Randomness;
    use crate::packet::SackHandle;
    use crate::queue::{Capacity, DropTail, QueueConfig};

    fn packet(flow: u32, bytes: u16) -> Packet {
        Packet {
            time: Time::ZERO,
            ns2_s: 0.0,
            seq: 1,
            stamp: Time::ZERO,
            flow,
            route: 0,
            sack: SackHandle::NONE,
            bytes,
            flags: Flags::NONE,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn constant(delay_s: f64, loss: f64, rate_bps: Option<f64>) -> Link {
        let carries = (Rate::from_bps(1_000_000), Span::ZERO);
        let queue = QueueConfig::DropTail(DropTail::new(Capacity::Packets(100)));
        let delay_box = DelayBox {
            delay: Some(Distribution::Constant(delay_s)),
            loss: Some(Distribution::Constant(loss)),
            rate: rate_bps.map(Distribution::Constant),
            symmetric: true,
        };
        Link {
            delay_box: Some(delay_box),
            ..Link::plain("link".to_string(), (0, 1), carries, queue)
        }
    }

    fn add(boxes: &mut FlowBoxes, carrier: Carrier, index: u32, flow: &impl Display) {
        let values = boxes.draw(flow);
        boxes.add(carrier, index, flow, values);
    }

    fn boxes(config: &Link, flows: &[&str]) -> FlowBoxes {
        let streams = Streams::new(1, 0, Randomness::Streams);
        let mut boxes = FlowBoxes::of(config, &streams).expect("a box");
        for (index, flow) in (0..).zip(flows) {
            add(&mut boxes, Carrier::Tcp, index, flow);
        }
        boxes
    }

    /// A packet leaves at max(arrival + d, previous departure + s), where d is the delay of the flow and s the
    /// transmission time of the preceding packet (Weigle's dissertation, appendix A).
    #[test]
    fn packets_leave_in_order_at_the_rate_of_the_flow() {
        // The transmission of 1000 B takes 10 ms.
        let mut boxes = boxes(&constant(0.02, 0.0, Some(800_000.0)), &["a", "b"]);
        let mut leaves = |flow, bytes, ms| {
            let packet = packet(flow, bytes);
            boxes.admit(&packet, Carrier::Tcp, at(ms)).expect("no loss")
        };
        assert_eq!(leaves(0, 1000, 0), at(20));
        assert_eq!(leaves(0, 500, 1), at(30));
        assert_eq!(leaves(0, 1000, 2), at(35));
        // Another flow has a separate bottleneck.
        assert_eq!(leaves(1, 1000, 2), at(22));
        assert_eq!(leaves(0, 1000, 24), at(45));
        assert_eq!(leaves(0, 1000, 90), at(110));
    }

    /// A drawn rate below 1 bit/s is raised to 1 bit/s: 1000 B take 8000 s.
    #[test]
    fn no_bottleneck_is_slower_than_a_bit_per_second() {
        for bps in [0.0, 0.25, 1.0] {
            let mut boxes = boxes(&constant(0.0, 0.0, Some(bps)), &["a"]);
            let leaves = [0, 0].map(|ms| boxes.admit(&packet(0, 1000), Carrier::Tcp, at(ms)));
            assert_eq!(leaves, [Some(at(0)), Some(at(8_000_000))]);
        }
    }

    #[test]
    fn delay_without_a_rate_is_the_same_for_every_packet() {
        let mut boxes = boxes(&constant(0.5, 0.0, None), &["a"]);
        for ms in [0, 0, 3, 100] {
            let leaves = boxes.admit(&packet(0, 1500), Carrier::Tcp, at(ms));
            assert_eq!(leaves, Some(at(ms + 500)));
        }
        let stranger = boxes.admit(&packet(1, 1500), Carrier::Tcp, at(7));
        assert_eq!(stranger, Some(at(7)));
    }

    #[test]
    fn noise_delays_acknowledgements_and_keeps_their_order() {
        let mut config = constant(0.01, 0.0, None);
        config.host_processing_delay = Some(Distribution::Uniform(0.0, 0.002));
        let mut boxes = boxes(&config, &["a"]);
        let data = boxes.admit(&packet(0, 1500), Carrier::Tcp, at(0));
        assert_eq!(data, Some(at(10)));
        let acknowledgement = Packet {
            flags: Flags::ACK,
            ..packet(0, 40)
        };
        let mut last = Time::ZERO;
        let mut noises = Vec::new();
        for number in 1..4000 {
            // Packets arrive in pairs at the same time; pairs are two milliseconds apart.
            let now = at(number / 2 * 2);
            let leaves = boxes.admit(&acknowledgement, Carrier::Tcp, now);
            let leaves = leaves.expect("no loss");
            assert!(leaves >= last);
            if leaves > last && number % 2 == 0 {
                noises.push(leaves.since(now + Span::from_millis(10)).as_secs_f64());
            }
            last = leaves;
        }
        let mean = noises.iter().sum::<f64>() / noises.len() as f64;
        assert!((mean - 0.001).abs() < 5e-5, "{mean}");
    }

    #[test]
    fn a_flow_loses_the_share_that_was_drawn_for_it() {
        let mut config = constant(0.0, 0.0, None);
        let delay_box = config.delay_box.as_mut().expect("a box");
        delay_box.loss = Some(Distribution::Uniform(0.0, 0.2));
        let names: Vec<String> = (0..200).map(|number| format!("flow-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut boxes = boxes(&config, &names);
        let mut shares: Vec<f64> = Vec::new();
        for flow in 0..200 {
            let lost = |_: &usize| {
                let packet = packet(flow, 1000);
                boxes.admit(&packet, Carrier::Tcp, at(0)).is_none()
            };
            shares.push((0..2000).filter(lost).count() as f64 / 2000.0);
        }
        shares.sort_by(f64::total_cmp);
        // The shares are uniform between 0 and 0.2, each with a standard error of at most 0.009.
        for (rank, expected) in [(20, 0.02), (100, 0.1), (180, 0.18)] {
            assert!((shares[rank] - expected).abs() < 0.03, "{shares:?}");
        }
    }

    fn delays(boxes: &FlowBoxes) -> Vec<Span> {
        let flows = boxes.flows.boxes.iter().flatten().flatten();
        flows.map(|(_, flow)| flow.delay).collect()
    }

    #[test]
    fn values_belong_to_the_name_of_the_flow_and_of_the_box() {
        let mut config = constant(0.0, 0.0, None);
        let delay_box = config.delay_box.as_mut().expect("a box");
        delay_box.delay = Some(Distribution::Exponential { mean: 0.1 });
        let two = delays(&boxes(&config, &["a", "b"]));
        assert_ne!(two[0], two[1]);
        // The values do not depend on other flows or on the order of flows.
        let three = delays(&boxes(&config, &["c", "b", "a"]));
        assert_eq!((three[2], three[1]), (two[0], two[1]));
        let other = Link {
            forward_name: "another".to_string(),
            ..config
        };
        assert_ne!(delays(&boxes(&other, &["a"]))[0], two[0]);
    }

    /// Short flows that follow each other need only as much memory as the flows that exist at the same time.
    #[test]
    fn a_new_flow_takes_the_place_of_the_one_before() {
        let mut boxes = boxes(&constant(0.02, 0.1, Some(800_000.0)), &[]);
        for number in 0..1000 {
            add(
                &mut boxes,
                Carrier::Tcp,
                number % 10,
                &format!("flow-{number}"),
            );
        }
        assert_eq!(boxes.len(), 10);
        // The new flow begins with an idle bottleneck.
        for _ in 0..100 {
            boxes.admit(&packet(3, 1000), Carrier::Tcp, at(5));
        }
        add(&mut boxes, Carrier::Tcp, 3, &"new");
        let leaves = (0..10).find_map(|_| boxes.admit(&packet(3, 1000), Carrier::Tcp, at(6)));
        assert_eq!(leaves, Some(at(26)));
    }

    /// A connection that has ended leaves no state in the delay box. Packets in both directions have the same delay.
    #[test]
    fn connections_that_are_over_are_forgotten() {
        let mut boxes = boxes(&constant(0.02, 0.0, None), &["static"]);
        for number in 0..1000 {
            let up = number << 2;
            add(&mut boxes, Carrier::Traffic, up, &format!("web/{number}"));
            for side in [up, up | 1, up | 2, up | 3] {
                let leaves = boxes.admit(&packet(side, 1000), Carrier::Traffic, at(1));
                assert_eq!(leaves, Some(at(21)));
            }
            // Either end may be the last to be informed of the close. Three connections exist at the same time.
            if number >= 3 {
                boxes.remove(Carrier::Traffic, up - 12 + number % 2);
            }
        }
        assert_eq!(boxes.len(), 1 + 3);
        let leaves = |boxes: &mut FlowBoxes, carrier| boxes.admit(&packet(0, 1000), carrier, at(2));
        assert_eq!(leaves(&mut boxes, Carrier::Traffic), Some(at(2)));
        assert_eq!(leaves(&mut boxes, Carrier::Tcp), Some(at(22)));
    }
}

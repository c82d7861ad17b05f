//! Links whose rate, delay or loss change during a run.
//!
//! Such a link has explicit service: nothing is known of a packet's departure before its service
//! begins, so there is nothing to compute anew when the rate changes. A packet is served at the rate
//! and with the delay that hold when its service begins: its first bit is on its way then. When the
//! delay falls, packets that follow would overtake those still under way; they arrive right behind
//! them instead, as on a path that gets shorter while it stays one path.

use longhaul_units::{Bytes, PS_PER_S, Rate, Span, Time};

use super::Network;
use super::loss::LossModel;
use crate::config::{Config, Link};
use crate::random::Streams;
use crate::schedule::{Event, Schedule};

impl Link {
    /// The transmission rate over a period that is not empty, on average.
    pub fn mean_rate(&self, from: Time, to: Time) -> Rate {
        let length = u128::from(to.since(from).as_ps());
        if self.changes.is_empty() || length == 0 {
            return self.rate;
        }
        let mut meter = CapacityMeter::default();
        meter.advance(self, from);
        let before = meter.bit_ps;
        meter.advance(self, to);
        Rate::from_bps(((meter.bit_ps - before) / length) as u64)
    }
}

/// What a link could have transmitted so far, found out step by step: a table of changes may be long.
#[derive(Clone, Copy, Debug, Default)]
pub struct CapacityMeter {
    /// Bits, times the picoseconds of a second.
    bit_ps: u128,
    until: Time,
    /// Changes before that time, and the rate that they have left, if they changed it.
    passed: usize,
    rate: Option<Rate>,
}

impl CapacityMeter {
    /// What the link can transmit from the beginning until `to`, which is not before the last step.
    pub fn advance(&mut self, link: &Link, to: Time) -> Bytes {
        while let Some(change) = link.changes.get(self.passed).filter(|next| next.at < to) {
            self.pass(link, change.at);
            self.rate = change.rate.or(self.rate);
            self.passed += 1;
        }
        self.pass(link, to);
        Bytes((self.bit_ps / (8 * u128::from(PS_PER_S))) as u64)
    }

    /// At one rate until then.
    fn pass(&mut self, link: &Link, until: Time) {
        let rate = self.rate.unwrap_or(link.rate).as_bps();
        self.bit_ps += u128::from(rate) * u128::from(until.since(self.until).as_ps());
        self.until = until;
    }
}

/// The changes of one link that are still to come.
#[derive(Debug)]
pub(super) struct Changes {
    link: u32,
    /// The next one last.
    rest: Vec<Step>,
}

/// A change with its loss at work.
#[derive(Debug)]
pub(super) struct Step {
    at: Time,
    pub(super) rate: Option<Rate>,
    pub(super) delay: Option<Span>,
    pub(super) loss: Option<LossModel>,
}

impl Changes {
    /// Those of all links, of which the first of each is entered into the schedule.
    pub(super) fn of(config: &Config, streams: &Streams, schedule: &mut Schedule) -> Vec<Self> {
        let changing = config.links.iter().zip(0..);
        let changing = changing.filter(|(link, _)| !link.changes.is_empty());
        let changes = changing.zip(0..).map(|((config, link), index)| {
            schedule.push_link(config.changes[0].at, Event::Change(index));
            let steps = config.changes.iter().enumerate().map(|(number, change)| {
                let stream = || streams.losses(&format!("links/{}/loss/{number}", config.name));
                let loss = change.loss.as_ref();
                Step {
                    at: change.at,
                    rate: change.rate,
                    delay: change.delay,
                    loss: loss.map(|loss| LossModel::new(loss, stream())),
                }
            });
            Self {
                link,
                rest: steps.rev().collect(),
            }
        });
        changes.collect()
    }
}

impl Network {
    /// The event of a link's change.
    pub(crate) fn change(&mut self, index: u32) {
        let changes = &mut self.changes[index as usize];
        let step = changes.rest.pop().expect("an event for each change");
        match changes.rest.last() {
            Some(next) => self.schedule.renew_link(next.at),
            None => self.schedule.finish_link(),
        }
        let link = &mut self.links[changes.link as usize];
        // What happens at the same time happens after the change.
        if let Some(before) = self.now.as_ps().checked_sub(1) {
            link.catch_up(Time::from_ps(before), &mut self.options);
        }
        link.apply(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Change, Loss, Service};
    use crate::queue::{Capacity, DropTail, QueueConfig};

    #[test]
    fn mean_rate_and_capacity_weigh_each_rate_with_its_time() {
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let change = |seconds, mbps: Option<u64>| Change {
            at: at(seconds),
            rate: mbps.map(|mbps| Rate::from_bps(mbps * 1_000_000)),
            delay: None,
            loss: None,
        };
        let link = Link {
            name: "link".to_string(),
            from: 0,
            to: 1,
            rate: Rate::from_bps(10_000_000),
            delay: Span::ZERO,
            queue: QueueConfig::DropTail(DropTail::new(Capacity::Packets(10))),
            shaper: None,
            impairments: None,
            loss: Loss::None,
            changes: vec![change(2, Some(30)), change(5, None), change(8, Some(100))],
            jitter: None,
            tick: None,
            service: Service::OnArrival,
            sampled: false,
            captured: false,
        };
        let mean = |from, to| link.mean_rate(at(from), at(to)).as_bps();
        assert_eq!(mean(0, 2), 10_000_000);
        assert_eq!(mean(0, 4), 20_000_000);
        assert_eq!(mean(3, 7), 30_000_000);
        // 2 s at 10, 6 s at 30 and 2 s at 100 Mbit/s.
        assert_eq!(mean(0, 10), 40_000_000);
        assert_eq!(mean(20, 30), 100_000_000);
        let mut capacity = CapacityMeter::default();
        // The third step begins with a change, and the last passes two.
        for (until, expected) in [(0, 0), (2, 2_500_000), (3, 6_250_000), (10, 50_000_000)] {
            assert_eq!(capacity.advance(&link, at(until)).0, expected);
        }
        let at_once = CapacityMeter::default().advance(&link, at(10));
        assert_eq!(at_once.0, 50_000_000);
    }
}

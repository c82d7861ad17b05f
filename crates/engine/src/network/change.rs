//! Links whose delay or loss changes during a run. (Changes of rates are known in advance:
//! [`crate::config::ServiceCurve`].)
//!
//! Such links have explicit service: a packet's arrival is computed when its service begins, with the delay at that
//! time. Later changes of the delay do not affect the packet. After a decrease of the delay, packets do not overtake
//! earlier ones, but arrive right behind them.

use longhaul_units::{Span, Time};

use super::Network;
use super::loss::LossModel;
use crate::config::{Change, Config, Link};
use crate::random::Streams;
use crate::schedule::{Event, Schedule};

impl Link {
    /// Returns true if the link's delay or loss changes. The link's behaviour then does not depend on arrivals alone.
    pub(crate) fn changes_by_events(&self) -> bool {
        self.changes.iter().any(needs_event)
    }
}

fn needs_event(change: &Change) -> bool {
    change.delay.is_some() || change.loss.is_some()
}

/// Changes of one link's delay or loss, which need events.
#[derive(Debug)]
pub(super) struct Changes {
    link: u32,
    name: String,
    streams: Streams,
    /// Changes, each with its index among all changes of the link, including those that need no event.
    changes: Vec<(usize, Change)>,
    period: Option<Period>,
    /// Number of changes that have taken effect so far.
    done: usize,
}

/// Repetition of a link's changes with a period.
#[derive(Clone, Copy, Debug)]
struct Period {
    length: Span,
    /// Number of changes of the link in each period. Changes of the rate count, too, although they need no event.
    changes: usize,
}

impl Changes {
    /// Returns the changes of all links whose delay or loss changes, and schedules the first change of each.
    pub(super) fn of(config: &Config, streams: &Streams, schedule: &mut Schedule) -> Vec<Self> {
        let changing = config.links.iter().zip(0..);
        let changing = changing.filter(|(link, _)| link.changes_by_events());
        let changes = changing.zip(0..).map(|((config, link), index)| {
            let numbered = config.changes.iter().cloned().enumerate();
            let changes = Self {
                link,
                name: config.name.clone(),
                streams: streams.clone(),
                changes: numbered.filter(|(_, change)| needs_event(change)).collect(),
                period: config.changes_period.map(|length| Period {
                    length,
                    changes: config.changes.len(),
                }),
                done: 0,
            };
            schedule.push_link(changes.changes[0].1.at, Event::Change(index));
            changes
        });
        changes.collect()
    }

    /// Returns the time of the next change, if there is one.
    fn next_at(&self) -> Option<Time> {
        let (periods, within) = (
            self.done / self.changes.len(),
            self.done % self.changes.len(),
        );
        let since = match self.period {
            Some(period) => period.length * periods as u64,
            None if periods > 0 => return None,
            None => Span::ZERO,
        };
        Some(self.changes[within].1.at + since)
    }

    /// Advances to the next change; returns the new delay and the new loss model. Each is `None` if it does not change.
    fn take_next(&mut self) -> (Option<Span>, Option<LossModel>) {
        let (periods, within) = (
            self.done / self.changes.len(),
            self.done % self.changes.len(),
        );
        self.done += 1;
        let (number, change) = &self.changes[within];
        // The losses of each period are drawn anew.
        let number = number + self.period.map_or(0, |period| periods * period.changes);
        let stream = || {
            self.streams
                .losses(&format!("links/{}/loss/{number}", self.name))
        };
        let loss = change.loss.as_ref();
        (
            change.delay,
            loss.map(|loss| LossModel::new(loss, stream())),
        )
    }
}

impl Network {
    /// Applies a change of a link, at the event of the change, and schedules the link's next change.
    pub(crate) fn change(&mut self, index: u32) {
        let changes = &mut self.changes[index as usize];
        let (delay, loss) = changes.take_next();
        match changes.next_at() {
            Some(next) => self.schedule.renew_link(next),
            None => self.schedule.finish_link(),
        }
        let link = &mut self.links[changes.link as usize];
        // Other events at the same time are processed after the change.
        if let Some(before) = self.now.as_ps().checked_sub(1) {
            link.catch_up(Time::from_ps(before), &mut self.options);
        }
        link.apply(delay, loss);
    }
}

//! Links whose delay or loss change during a run. (Their rates are known in advance: [`crate::config::ServiceCurve`].)
//!
//! Such a link has explicit service: a packet's arrival is not known before its service begins, so
//! nothing has to be computed again. A packet propagates with the delay that holds when its service
//! begins. When the delay falls, later packets would overtake those still propagating; instead,
//! they arrive right behind them, since a shorter path is still one path, without reordering.

use longhaul_units::{Span, Time};

use super::Network;
use super::loss::LossModel;
use crate::config::{Change, Config, Link};
use crate::random::Streams;
use crate::schedule::{Event, Schedule};

impl Link {
    /// Returns true if the link's delay or loss changes, so that its behaviour depends on more than arrivals.
    pub(crate) fn changes_by_events(&self) -> bool {
        self.changes.iter().any(needs_event)
    }
}

fn needs_event(change: &Change) -> bool {
    change.delay.is_some() || change.loss.is_some()
}

/// The changes of one link that need events.
#[derive(Debug)]
pub(super) struct Changes {
    link: u32,
    name: String,
    streams: Streams,
    /// Changes with their numbers among all changes of the link.
    changes: Vec<(usize, Change)>,
    period: Option<Period>,
    /// Number of changes that have happened.
    done: usize,
}

/// Period after which changes happen again.
#[derive(Clone, Copy, Debug)]
struct Period {
    length: Span,
    /// Number of changes of the link per period, including those that need no events.
    changes: usize,
}

impl Changes {
    /// Returns the changes of all links, with the first of each entered into the schedule.
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

    /// Takes the next change; returns the new delay and loss, if they change.
    fn take_next(&mut self) -> (Option<Span>, Option<LossModel>) {
        let (periods, within) = (
            self.done / self.changes.len(),
            self.done % self.changes.len(),
        );
        self.done += 1;
        let (number, change) = &self.changes[within];
        // Losses of each period are drawn anew.
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
    /// Processes the event of a link's change.
    pub(crate) fn change(&mut self, index: u32) {
        let changes = &mut self.changes[index as usize];
        let (delay, loss) = changes.take_next();
        match changes.next_at() {
            Some(next) => self.schedule.renew_link(next),
            None => self.schedule.finish_link(),
        }
        let link = &mut self.links[changes.link as usize];
        // Other events of the same time come after the change.
        if let Some(before) = self.now.as_ps().checked_sub(1) {
            link.catch_up(Time::from_ps(before), &mut self.options);
        }
        link.apply(delay, loss);
    }
}

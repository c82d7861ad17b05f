//! Receivers: the record of idle ones, and the selection of one for a source.

use serde::{Deserialize, Serialize};

use crate::config::Config;
use longhaul_kernel::random::{Stream, Streams};

/// A receiver that was selected for a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceivingHost {
    /// Number of the receiver; receivers are numbered in the order of access routers.
    pub(crate) number: u32,
    /// Index of the receiver's access router.
    pub(crate) access: u16,
    /// True if the receiver's host is fast.
    pub(crate) fast: bool,
}

/// All receivers, in order of access routers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receivers {
    /// Number of the first receiver below each access router. A last entry holds the count of all
    /// receivers.
    first: Vec<u32>,
    /// Number of idle receivers below each access router.
    idle: Vec<u32>,
    /// The receivers below each access router, idle ones first.
    order: Vec<u32>,
    /// Index of each receiver in `order`.
    position: Vec<u32>,
    fast: Vec<bool>,
    /// Receivers by backbone router; backbone routers without receivers are left out.
    domains: Vec<Domain>,
    stream: Stream,
}

/// The receivers below a backbone router.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Domain {
    router: u16,
    /// Access routers with receivers, each with a cumulative number of receivers: the sum over all
    /// access routers of the list up to this router.
    access: Vec<(u16, u32)>,
}

impl Receivers {
    pub(crate) fn new(config: &Config, streams: &Streams) -> Self {
        let mut speeds = streams.component("mesonet/receiver-speeds");
        let mut first = vec![0];
        let mut domains: Vec<Domain> = (0..config.topology.backbone.len())
            .map(|router| Domain {
                router: router as u16,
                access: Vec::new(),
            })
            .collect();
        for (access, router) in config.topology.access.iter().enumerate() {
            first.push(first[access] + router.receivers);
            let above = config.topology.backbone_above(router.parent);
            if router.receivers > 0 {
                let list = &mut domains[above].access;
                let before = list.last().map_or(0, |&(_, total)| total);
                list.push((access as u16, before + router.receivers));
            }
        }
        domains.retain(|domain| !domain.access.is_empty());
        let all = first[first.len() - 1];
        Self {
            idle: first.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            first,
            order: (0..all).collect(),
            position: (0..all).collect(),
            fast: (0..all)
                .map(|_| speeds.uniform() < config.hosts.fast_share)
                .collect(),
            domains,
            stream: streams.component("mesonet/receivers"),
        }
    }

    /// Draws a receiver for a source at backbone router `domain` (NIST SP 500-282, chapter 3): first another backbone
    /// router, then an access router below it, then an idle receiver of the access router. Marks the receiver as busy.
    /// Returns `Err` with the access router if none of its receivers is idle, and `None` if no other backbone router
    /// has receivers.
    pub(crate) fn choose(&mut self, domain: u16) -> Option<Result<ReceivingHost, u16>> {
        let own = self.domains.iter().position(|other| other.router == domain);
        let others = self.domains.len() - usize::from(own.is_some());
        if others == 0 {
            return None;
        }
        let mut at = (self.stream.uniform() * others as f64) as usize;
        if own.is_some_and(|own| at >= own) {
            at += 1;
        }
        let list = &self.domains[at].access;
        let total = list[list.len() - 1].1;
        // Access routers are drawn in proportion to their numbers of receivers.
        let among = (self.stream.uniform() * f64::from(total)) as u32;
        let access = list[list.partition_point(|&(_, up_to)| up_to <= among)].0;
        let idle = self.idle[access as usize];
        if idle == 0 {
            return Some(Err(access));
        }
        let position =
            self.first[access as usize] + (self.stream.uniform() * f64::from(idle)) as u32;
        let number = self.order[position as usize];
        self.idle[access as usize] -= 1;
        self.swap(
            position,
            self.first[access as usize] + self.idle[access as usize],
        );
        Some(Ok(ReceivingHost {
            number,
            access,
            fast: self.fast[number as usize],
        }))
    }

    /// Marks a receiver as idle again.
    pub(crate) fn release(&mut self, number: u32, access: u16) {
        let boundary = self.first[access as usize] + self.idle[access as usize];
        let position = self.position[number as usize];
        debug_assert!(position >= boundary, "only busy receivers are released");
        self.swap(position, boundary);
        self.idle[access as usize] += 1;
    }

    fn swap(&mut self, one: u32, other: u32) {
        self.order.swap(one as usize, other as usize);
        for position in [one, other] {
            self.position[self.order[position as usize] as usize] = position;
        }
    }

    /// Returns the bytes of state per receiver.
    pub(crate) fn bytes_each() -> usize {
        2 * size_of::<u32>() + size_of::<bool>()
    }
}

//! Packets that arrive at a backbone router from other regions.

use std::collections::VecDeque;

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::packet::Packet;

/// A packet on a link, and when it arrives.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct InFlight {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

/// What arrives at a backbone router. All of it is known at the beginning of a window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Arrivals {
    /// By link, in the order of the network's links: its number and packets on it.
    links: Vec<(u16, VecDeque<InFlight>)>,
    /// Arrivals of the window, sorted by time, then by link.
    window: Vec<InFlight>,
    /// The next one to be processed.
    next: usize,
    /// Positions of those that stay in the region, and the next one of them.
    local: Vec<u32>,
    next_local: usize,
}

impl Arrivals {
    pub(super) fn new(links: impl Iterator<Item = u16>) -> Self {
        Self {
            links: links.map(|link| (link, VecDeque::new())).collect(),
            ..Self::default()
        }
    }

    /// The links that lead here, with the packets on them that arrive after the window.
    pub(super) fn links(&mut self) -> impl Iterator<Item = (u16, &mut VecDeque<InFlight>)> {
        self.links.iter_mut().map(|(link, list)| (*link, list))
    }

    /// Begins a window: what arrives by its end is sorted. `stays` says of which packets the region is
    /// the destination.
    pub(super) fn begin_window(&mut self, end: Time, stays: impl Fn(&Packet) -> bool) {
        debug_assert_eq!(self.next, self.window.len(), "all have been processed");
        self.window.clear();
        self.local.clear();
        (self.next, self.next_local) = (0, 0);
        for (_, list) in &mut self.links {
            let due = list.partition_point(|one| one.time <= end);
            self.window.extend(list.drain(..due));
        }
        // Stable, and quick for a few sorted runs.
        self.window.sort_by_key(|one| one.time);
        let stay = self.window.iter().enumerate();
        let stay = stay.filter(|(_, one)| stays(&one.packet));
        self.local.extend(stay.map(|(at, _)| at as u32));
    }

    /// Arrivals of the window that stay in the region.
    pub(super) fn staying(&self) -> impl Iterator<Item = &Packet> {
        self.local
            .iter()
            .map(|&at| &self.window[at as usize].packet)
    }

    /// When the next packet that stays in the region arrives; never if none does in this window.
    #[inline]
    pub(super) fn next_staying(&self) -> Time {
        let next = self.local.get(self.next_local);
        next.map_or(Time::NEVER, |&at| self.window[at as usize].time)
    }

    /// Removes the next packet if it arrives by `limit` and leaves the region again.
    #[inline]
    pub(super) fn take_transit(&mut self, limit: Time) -> Option<InFlight> {
        let arrival = *self.window.get(self.next)?;
        let stays = self.local.get(self.next_local) == Some(&(self.next as u32));
        if stays || arrival.time > limit {
            return None;
        }
        self.next += 1;
        Some(arrival)
    }

    /// Removes the next packet that stays in the region, before which no other is left.
    #[inline]
    pub(super) fn take_staying(&mut self) -> InFlight {
        let at = self.local[self.next_local] as usize;
        debug_assert_eq!(self.next, at, "those before it have been processed");
        self.next = at + 1;
        self.next_local += 1;
        self.window[at]
    }
}

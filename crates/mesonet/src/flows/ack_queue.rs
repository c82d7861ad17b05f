//! Answers that wait for their receiver's host, of all receivers in one store.

use serde::{Deserialize, Serialize};

use crate::network::Packet;

/// The answers of one receiver that wait, in order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    first: u32,
    last: u32,
}

/// No place.
const NONE: u32 = u32::MAX;

impl Default for Waiting {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
        }
    }
}

/// The store: lists that share their places, so that nothing is allocated once it is large enough.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Backlog {
    places: Vec<(Packet, u32)>,
    free: u32,
}

impl Backlog {
    pub(crate) fn new() -> Self {
        Self {
            places: Vec::new(),
            free: NONE,
        }
    }

    /// Puts an answer behind all others of its receiver.
    #[inline]
    pub(crate) fn put(&mut self, waiting: &mut Waiting, answer: Packet) {
        let place = self.free;
        let place = if place == NONE {
            self.places.push((answer, NONE));
            (self.places.len() - 1) as u32
        } else {
            let freed = &mut self.places[place as usize];
            self.free = freed.1;
            *freed = (answer, NONE);
            place
        };
        if waiting.first == NONE {
            waiting.first = place;
        } else {
            self.places[waiting.last as usize].1 = place;
        }
        waiting.last = place;
    }

    /// Takes the answer that has waited longest.
    #[inline]
    pub(crate) fn take(&mut self, waiting: &mut Waiting) -> Option<Packet> {
        if waiting.first == NONE {
            return None;
        }
        let place = waiting.first;
        let (answer, next) = self.places[place as usize];
        self.places[place as usize].1 = self.free;
        self.free = place;
        waiting.first = next;
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Time;

    use super::*;
    use crate::network::{FlowId, Kind};

    #[test]
    fn each_receiver_s_answers_come_in_order_and_places_are_used_again() {
        let flow = FlowId { place: 0, life: 0 };
        let answer = |number| Packet::new(Kind::Ack, number, flow, 0, Time::ZERO);
        let mut backlog = Backlog::new();
        let mut lists = [Waiting::default(); 3];
        for round in 0..10 {
            for number in 0..30 {
                backlog.put(&mut lists[number as usize % 3], answer(round * 30 + number));
            }
            for (at, list) in lists.iter_mut().enumerate() {
                let taken: Vec<u64> = std::iter::from_fn(|| backlog.take(list))
                    .map(|answer| answer.number())
                    .collect();
                let expected: Vec<u64> = (round * 30..round * 30 + 30)
                    .filter(|number| *number as usize % 3 == at)
                    .collect();
                assert_eq!(taken, expected);
            }
        }
        assert_eq!(backlog.places.len(), 30);
    }
}

//! ACK thinning: of several consecutive acknowledgements of a connection, only the last one is forwarded. Access
//! networks with a slow return channel do so (RFC 3449, sections 5.2.1 and 5.2.2).
//!
//! An acknowledgement is held until enough others have come, at most for a limited time: the last acknowledgement of a
//! transfer is thus not lost. A held acknowledgement is replaced only by one that acknowledges more. Acknowledgements
//! with other information (RFC 3449, section 5.2.1) are forwarded at once, after any held one, and do not count: those
//! with SACK blocks or other options, with SYN or FIN, or with ECN flags. The same holds for acknowledgements that
//! acknowledge no more than the held one. If none is held, a duplicate is held like any other acknowledgement.

use std::collections::VecDeque;

use longhaul_units::Time;

use super::later;
use crate::config;
use crate::network::route::Carrier;
use crate::packet::Packet;

/// State of ACK thinning on one link: groups of acknowledgements. The last acknowledgement of each group is held.
#[derive(Debug)]
pub(super) struct AckThinning {
    config: config::AckThinning,
    /// State of each connection. The first index is the kind of transport ([`Carrier`]), the second is the connection's
    /// index ([`Carrier::side`]).
    sides: [Vec<Side>; 3],
    /// Times at which groups are forwarded at the latest, in ascending order. Each entry has the time, the group's
    /// number, and the two indices of its connection in `sides`. An entry is stale if its group no longer exists.
    due: VecDeque<(Time, u64, Carrier, usize)>,
    begun: u64,
}

/// State of a connection's acknowledgements in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    held: Option<Group>,
    /// Flow and number of the furthest acknowledgement that has arrived.
    furthest: Option<(u32, u64)>,
}

impl Side {
    /// Records an arriving acknowledgement. Returns true if it acknowledges nothing new.
    fn repeats(&mut self, packet: &Packet) -> bool {
        let (flow, seq) = (packet.flow, packet.seq);
        let repeats = self
            .furthest
            .is_some_and(|before| before.0 == flow && seq <= before.1);
        if !repeats {
            self.furthest = Some((flow, seq));
        }
        repeats
    }
}

/// Consecutive acknowledgements of a connection. Only the last of them is held and forwarded.
#[derive(Clone, Copy, Debug)]
struct Group {
    number: u64,
    count: u32,
    last: Packet,
}

/// Acknowledgements that are forwarded, and the acknowledgement that is dropped, after an acknowledgement's arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThinningOutcome {
    pub(super) dropped: Option<Packet>,
    pub(super) forwarded: [Option<Packet>; 2],
}

impl AckThinning {
    pub(super) fn new(config: config::AckThinning) -> Self {
        Self {
            config,
            sides: Default::default(),
            due: VecDeque::new(),
            begun: 0,
        }
    }

    /// Processes an arriving acknowledgement.
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        carrier: Carrier,
        now: Time,
    ) -> ThinningOutcome {
        let side = carrier.side(packet.flow);
        let sides = &mut self.sides[carrier as usize];
        if side >= sides.len() {
            sides.resize(side + 1, Side::default());
        }
        let repeats = sides[side].repeats(packet);
        let waiting = sides[side].held.take();
        let superseded =
            waiting.filter(|group| group.last.flow == packet.flow && group.last.seq < packet.seq);
        let is_other = waiting.is_some() != superseded.is_some();
        if !packet.is_pure_ack() || repeats || is_other {
            return ThinningOutcome {
                dropped: None,
                forwarded: [waiting.map(|group| group.last), Some(*packet)],
            };
        }
        let dropped = superseded.map(|group| group.last);
        let (number, count) = match superseded {
            Some(group) => (group.number, group.count + 1),
            None => {
                self.begun += 1;
                let due = later(now, self.config.hold);
                self.due.push_back((due, self.begun, carrier, side));
                (self.begun, 1)
            }
        };
        if count == self.config.keep_every {
            return ThinningOutcome {
                dropped,
                forwarded: [Some(*packet), None],
            };
        }
        sides[side].held = Some(Group {
            number,
            count,
            last: *packet,
        });
        ThinningOutcome {
            dropped,
            forwarded: [None; 2],
        }
    }

    /// Returns the time at which the next held acknowledgement must be forwarded; `None` if none is held.
    pub(super) fn next(&mut self) -> Option<Time> {
        while let Some(&(due, number, carrier, side)) = self.due.front() {
            let held = self.sides[carrier as usize][side].held;
            if held.is_some_and(|group| group.number == number) {
                return Some(due);
            }
            self.due.pop_front();
        }
        None
    }

    /// Removes and returns an acknowledgement that has been held long enough by `now`.
    pub(super) fn release(&mut self, now: Time) -> Option<Packet> {
        self.next().filter(|&due| due <= now)?;
        let (_, _, carrier, side) = self.due.pop_front()?;
        let group = self.sides[carrier as usize][side].held.take()?;
        Some(group.last)
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;
    use crate::packet::Flags;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn ack(flow: u32, seq: u64) -> Packet {
        Packet {
            flow,
            seq,
            bytes: 40,
            flags: Flags::ACK,
            ..Packet::NONE
        }
    }

    fn thinning(keep_every: u32) -> AckThinning {
        AckThinning::new(config::AckThinning {
            keep_every,
            hold: Span::from_millis(10),
        })
    }

    /// Returns the numbers of the acknowledgements that are forwarded when a packet arrives at `ms`, and the number of
    /// the dropped one, if any.
    fn arrive(thinning: &mut AckThinning, packet: &Packet, ms: u64) -> (Vec<u64>, Option<u64>) {
        let ThinningOutcome { dropped, forwarded } = thinning.arrive(packet, Carrier::Tcp, at(ms));
        let forwarded = forwarded.iter().flatten().map(|packet| packet.seq);
        (forwarded.collect(), dropped.map(|packet| packet.seq))
    }

    #[test]
    fn the_last_of_three_goes_on() {
        let mut thinning = thinning(3);
        assert_eq!(arrive(&mut thinning, &ack(0, 2), 0), (vec![], None));
        // Each connection has a separate group.
        assert_eq!(arrive(&mut thinning, &ack(1, 9), 0), (vec![], None));
        assert_eq!(arrive(&mut thinning, &ack(0, 4), 1), (vec![], Some(2)));
        assert_eq!(arrive(&mut thinning, &ack(0, 6), 2), (vec![6], Some(4)));
        assert_eq!(arrive(&mut thinning, &ack(0, 8), 3), (vec![], None));
    }

    #[test]
    fn one_that_is_alone_goes_on_after_its_time() {
        let mut thinning = thinning(2);
        assert_eq!(thinning.next(), None);
        arrive(&mut thinning, &ack(0, 2), 0);
        arrive(&mut thinning, &ack(0, 4), 1);
        arrive(&mut thinning, &ack(0, 6), 3);
        assert_eq!(thinning.next(), Some(at(13)));
        assert!(thinning.release(at(12)).is_none());
        assert_eq!(thinning.release(at(13)).map(|packet| packet.seq), Some(6));
        assert_eq!(thinning.next(), None);
        // This ACK begins the next group.
        assert_eq!(arrive(&mut thinning, &ack(0, 8), 20), (vec![], None));
        assert_eq!(thinning.next(), Some(at(30)));
    }

    #[test]
    fn duplicates_and_what_says_something_else_go_on_at_once_and_in_order() {
        let mut thinning = thinning(2);
        arrive(&mut thinning, &ack(0, 2), 0);
        assert_eq!(arrive(&mut thinning, &ack(0, 2), 0), (vec![2, 2], None));
        arrive(&mut thinning, &ack(0, 4), 1);
        let echo = Packet {
            flags: Flags::ACK.with(Flags::ECE),
            ..ack(0, 6)
        };
        assert_eq!(arrive(&mut thinning, &echo, 1), (vec![4, 6], None));
        assert_eq!(arrive(&mut thinning, &echo, 1), (vec![6], None));
        // So does a duplicate if no acknowledgement is held.
        arrive(&mut thinning, &ack(0, 8), 2);
        assert_eq!(arrive(&mut thinning, &ack(0, 10), 2), (vec![10], Some(8)));
        assert_eq!(arrive(&mut thinning, &ack(0, 10), 2), (vec![10], None));
    }
}

//! FIFOs of packets in flight between two elements, in order of arrival.
//!
//! All FIFOs share one pool of small blocks. The block freed last is reused first, so that the working
//! set is little more than the packets in flight. Arrival times are stored apart from packets: finding
//! the next event needs only them.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::packet::Packet;
use longhaul_engine::prefetch;

/// Packets per block.
const BLOCK: u32 = 16;
/// How many packets ahead of its use an entry is prefetched.
const AHEAD: u32 = 6;

/// A FIFO; indices are those of the pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Fifo {
    /// Of the packet that arrives first.
    head: u32,
    /// Of the next packet to be pushed.
    tail: u32,
    len: u32,
}

/// All FIFOs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fifos {
    fifos: Vec<Fifo>,
    times: Vec<Time>,
    packets: Vec<Packet>,
    /// The block after each, and before it.
    next: Vec<u32>,
    previous: Vec<u32>,
    free: Vec<u32>,
}

impl Fifos {
    /// Empty FIFOs; unused entries hold copies of `filler`.
    pub(crate) fn new(count: usize, filler: Packet) -> Self {
        let mut fifos = Self {
            fifos: Vec::with_capacity(count),
            times: Vec::new(),
            packets: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            free: Vec::new(),
        };
        for _ in 0..count {
            let at = fifos.add_block(filler) * BLOCK;
            fifos.fifos.push(Fifo {
                head: at,
                tail: at,
                len: 0,
            });
        }
        fifos
    }

    /// Whether a FIFO is empty.
    #[inline]
    pub(crate) fn is_empty(&self, fifo: usize) -> bool {
        self.fifos[fifo].len == 0
    }

    /// Arrival time of the first packet.
    #[inline]
    pub(crate) fn first(&self, fifo: usize) -> Option<Time> {
        let fifo = self.fifos[fifo];
        (fifo.len > 0).then(|| self.times[fifo.head as usize])
    }

    /// The first packet.
    #[inline]
    pub(crate) fn peek(&self, fifo: usize) -> Option<&Packet> {
        let fifo = self.fifos[fifo];
        (fifo.len > 0).then(|| &self.packets[fifo.head as usize])
    }

    /// Removes the first packet of a FIFO that is not empty. Returns its index, at which it can be read
    /// until two more packets are pushed anywhere, and its arrival time.
    #[inline]
    pub(crate) fn pop(&mut self, fifo: usize) -> (usize, Time) {
        let fifo = &mut self.fifos[fifo];
        let at = fifo.head;
        fifo.len -= 1;
        let (block, entry) = (at / BLOCK, at % BLOCK);
        fifo.head = if entry == BLOCK - 1 {
            // It was given a successor when its last entry was filled.
            self.free.push(block);
            self.next[block as usize] * BLOCK
        } else {
            at + 1
        };
        let ahead = if entry + AHEAD < BLOCK {
            at + AHEAD
        } else {
            // After the last block this is a stale link: prefetching there is harmless.
            self.next[block as usize] * BLOCK + (entry + AHEAD - BLOCK)
        };
        self.prefetch(ahead as usize);
        (at as usize, self.times[at as usize])
    }

    /// Prefetches an entry.
    #[inline]
    fn prefetch(&self, at: usize) {
        prefetch(&self.times[at]);
        prefetch(&self.packets[at]);
    }

    /// The packet at an index.
    #[inline]
    pub(crate) fn packet(&self, at: usize) -> &Packet {
        &self.packets[at]
    }

    /// Appends a packet to a FIFO; returns whether it is the only one there.
    #[inline]
    pub(crate) fn push(&mut self, fifo: usize, time: Time, packet: Packet) -> bool {
        let at = self.next_slot(fifo, time);
        (self.times[at], self.packets[at]) = (time, packet);
        self.fifos[fifo].len == 1
    }

    /// Appends the packet at index `from`, which was removed last.
    #[inline]
    pub(crate) fn forward(&mut self, fifo: usize, time: Time, from: usize) -> bool {
        let at = self.next_slot(fifo, time);
        (self.times[at], self.packets[at]) = (time, self.packets[from]);
        self.fifos[fifo].len == 1
    }

    #[inline]
    fn next_slot(&mut self, fifo: usize, time: Time) -> usize {
        debug_assert!(
            self.latest_first(fifo)
                .next()
                .is_none_or(|last| last <= time),
            "packets overtake each other"
        );
        let at = self.fifos[fifo].tail;
        self.fifos[fifo].len += 1;
        self.fifos[fifo].tail = if at % BLOCK == BLOCK - 1 {
            self.append_block(at)
        } else {
            at + 1
        };
        at as usize
    }

    /// The first entry of a new block after the one that ends at `at`.
    fn append_block(&mut self, at: u32) -> u32 {
        let filler = self.packets[at as usize];
        let block = match self.free.pop() {
            Some(block) => block,
            None => self.add_block(filler),
        };
        self.next[(at / BLOCK) as usize] = block;
        self.previous[block as usize] = at / BLOCK;
        block * BLOCK
    }

    #[cold]
    fn add_block(&mut self, filler: Packet) -> u32 {
        let block = self.next.len() as u32;
        let all = self.times.len() + BLOCK as usize;
        self.times.resize(all, Time::ZERO);
        self.packets.resize(all, filler);
        self.next.push(block);
        self.previous.push(block);
        block
    }

    /// Arrival times from the last to the first.
    pub(crate) fn latest_first(&self, fifo: usize) -> impl Iterator<Item = Time> {
        let Fifo { mut tail, len, .. } = self.fifos[fifo];
        (0..len).map(move |_| {
            tail = if tail % BLOCK == 0 {
                self.previous[(tail / BLOCK) as usize] * BLOCK + BLOCK - 1
            } else {
                tail - 1
            };
            self.times[tail as usize]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::{FlowId, Kind};
    use super::*;

    fn packet(number: u64) -> Packet {
        let flow = FlowId {
            slot: 0,
            generation: 0,
        };
        Packet::new(Kind::Data, number, flow, 0, Time::ZERO)
    }

    /// Three FIFOs of changing lengths, filled in turn and from one another.
    #[test]
    fn packets_leave_in_the_order_in_which_they_came() {
        let mut fifos = Fifos::new(3, packet(0));
        let (mut sent, mut taken) = ([0; 3], [0; 3]);
        let mut push = |fifos: &mut Fifos, fifo: usize, from: Option<usize>| {
            let time = Time::from_ps(sent[fifo]);
            let only = match from {
                // Carries its number; its time is that of the FIFO.
                Some(from) => fifos.forward(fifo, time, from),
                None => fifos.push(fifo, time, packet(sent[fifo])),
            };
            sent[fifo] += 1;
            assert_eq!(only, fifos.latest_first(fifo).count() == 1);
            sent[fifo]
        };
        for length in 1..150_u64 {
            for _ in 0..length {
                push(&mut fifos, 0, None);
                push(&mut fifos, 1, None);
            }
            for _ in 0..length - 1 {
                let (at, time) = fifos.pop(0);
                assert_eq!(
                    (fifos.packet(at).number(), time.as_ps()),
                    (taken[0], taken[0])
                );
                taken[0] += 1;
                push(&mut fifos, 2, Some(at));
                if length % 2 == 0 {
                    let (at, _) = fifos.pop(2);
                    assert_eq!(fifos.packet(at).number(), taken[2]);
                    taken[2] += 1;
                }
            }
            let sent = push(&mut fifos, 1, None);
            let back: Vec<u64> = fifos.latest_first(1).map(Time::as_ps).collect();
            assert_eq!(back, (0..sent).rev().collect::<Vec<_>>());
            assert_eq!(fifos.first(1), Some(Time::ZERO));
        }
        // No more blocks than the packets need, and one partly filled and one free per FIFO.
        let waiting: u32 = fifos.fifos.iter().map(|fifo| fifo.len).sum();
        assert!(fifos.next.len() as u32 <= waiting / BLOCK + 9 + 3);
    }
}

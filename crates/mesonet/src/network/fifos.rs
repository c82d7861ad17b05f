//! What is on its way from one element to the next, in order of arrival.
//!
//! All lines share one store of short pieces. A piece that has been read to its end is the next one to
//! be written, so that what is touched is little more than what is on its way. Times are kept apart from
//! packets: to know which line is next, they alone have to be at hand.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::packet::Packet;
use longhaul_engine::prefetch;

/// Packets per piece.
const PIECE: u32 = 16;
/// How far ahead of its use what is on a line is fetched.
const AHEAD: u32 = 6;

/// A first-in first-out line; positions are those of the store.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Line {
    /// Of the packet that arrives first.
    head: u32,
    /// Of the next packet to be put.
    tail: u32,
    len: u32,
}

/// All lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    times: Vec<Time>,
    packets: Vec<Packet>,
    /// The pieces after and before each, or after it in the list of free ones.
    next: Vec<u32>,
    previous: Vec<u32>,
    free: Vec<u32>,
}

impl Lines {
    /// Empty lines, filled with copies of a packet that nobody sees.
    pub(crate) fn new(count: usize, filler: Packet) -> Self {
        let mut lines = Self {
            lines: Vec::with_capacity(count),
            times: Vec::new(),
            packets: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            free: Vec::new(),
        };
        for _ in 0..count {
            let at = lines.add_piece(filler) * PIECE;
            lines.lines.push(Line {
                head: at,
                tail: at,
                len: 0,
            });
        }
        lines
    }

    /// Whether nothing is on a line.
    #[inline]
    pub(crate) fn is_empty(&self, line: usize) -> bool {
        self.lines[line].len == 0
    }

    /// When the packet that arrives first does so.
    #[inline]
    pub(crate) fn first(&self, line: usize) -> Option<Time> {
        let line = self.lines[line];
        (line.len > 0).then(|| self.times[line.head as usize])
    }

    /// The packet that arrives first.
    #[inline]
    pub(crate) fn peek(&self, line: usize) -> Option<&Packet> {
        let line = self.lines[line];
        (line.len > 0).then(|| &self.packets[line.head as usize])
    }

    /// Takes the packet that arrives first off a line that is not empty. Returns its position, where it
    /// stays until two packets more are put anywhere, and when it arrives.
    #[inline]
    pub(crate) fn take(&mut self, line: usize) -> (usize, Time) {
        let line = &mut self.lines[line];
        let at = line.head;
        line.len -= 1;
        let (piece, place) = (at / PIECE, at % PIECE);
        line.head = if place == PIECE - 1 {
            // It was given a successor when its last place was filled.
            self.free.push(piece);
            self.next[piece as usize] * PIECE
        } else {
            at + 1
        };
        let ahead = if place + AHEAD < PIECE {
            at + AHEAD
        } else {
            // Of the last piece, this is one that had the place before, and does no harm.
            self.next[piece as usize] * PIECE + (place + AHEAD - PIECE)
        };
        self.fetch(ahead as usize);
        (at as usize, self.times[at as usize])
    }

    /// Asks for what will be used soon.
    #[inline]
    fn fetch(&self, at: usize) {
        prefetch(&self.times[at]);
        prefetch(&self.packets[at]);
    }

    /// The packet at a position.
    #[inline]
    pub(crate) fn packet(&self, at: usize) -> &Packet {
        &self.packets[at]
    }

    /// Puts a packet behind all others of a line, and tells whether it is the only one.
    #[inline]
    pub(crate) fn put(&mut self, line: usize, time: Time, packet: Packet) -> bool {
        let at = self.next_place(line, time);
        (self.times[at], self.packets[at]) = (time, packet);
        self.lines[line].len == 1
    }

    /// The same with the packet at position `from`, which was taken last.
    #[inline]
    pub(crate) fn forward(&mut self, line: usize, time: Time, from: usize) -> bool {
        let at = self.next_place(line, time);
        (self.times[at], self.packets[at]) = (time, self.packets[from]);
        self.lines[line].len == 1
    }

    #[inline]
    fn next_place(&mut self, line: usize, time: Time) -> usize {
        debug_assert!(
            self.latest_first(line)
                .next()
                .is_none_or(|last| last <= time),
            "packets overtake each other"
        );
        let at = self.lines[line].tail;
        self.lines[line].len += 1;
        self.lines[line].tail = if at % PIECE == PIECE - 1 {
            self.follow(at)
        } else {
            at + 1
        };
        at as usize
    }

    /// The first place of a new piece after the one that ends at `at`.
    fn follow(&mut self, at: u32) -> u32 {
        let filler = self.packets[at as usize];
        let piece = match self.free.pop() {
            Some(piece) => piece,
            None => self.add_piece(filler),
        };
        self.next[(at / PIECE) as usize] = piece;
        self.previous[piece as usize] = at / PIECE;
        piece * PIECE
    }

    #[cold]
    fn add_piece(&mut self, filler: Packet) -> u32 {
        let piece = self.next.len() as u32;
        let all = self.times.len() + PIECE as usize;
        self.times.resize(all, Time::ZERO);
        self.packets.resize(all, filler);
        self.next.push(piece);
        self.previous.push(piece);
        piece
    }

    /// Times of arrival from the last to the first.
    pub(crate) fn latest_first(&self, line: usize) -> impl Iterator<Item = Time> {
        let Line { mut tail, len, .. } = self.lines[line];
        (0..len).map(move |_| {
            tail = if tail % PIECE == 0 {
                self.previous[(tail / PIECE) as usize] * PIECE + PIECE - 1
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
        let flow = FlowId { place: 0, life: 0 };
        Packet::new(Kind::Data, number, flow, 0, Time::ZERO)
    }

    /// Three lines of lengths that change, filled in turn and from one another.
    #[test]
    fn packets_leave_in_the_order_in_which_they_came() {
        let mut lines = Lines::new(3, packet(0));
        let (mut sent, mut taken) = ([0; 3], [0; 3]);
        let mut put = |lines: &mut Lines, line: usize, from: Option<usize>| {
            let time = Time::from_ps(sent[line]);
            let only = match from {
                // Carries its number; its time is that of the line.
                Some(from) => lines.forward(line, time, from),
                None => lines.put(line, time, packet(sent[line])),
            };
            sent[line] += 1;
            assert_eq!(only, lines.latest_first(line).count() == 1);
            sent[line]
        };
        for length in 1..150_u64 {
            for _ in 0..length {
                put(&mut lines, 0, None);
                put(&mut lines, 1, None);
            }
            for _ in 0..length - 1 {
                let (at, time) = lines.take(0);
                assert_eq!(
                    (lines.packet(at).number(), time.as_ps()),
                    (taken[0], taken[0])
                );
                taken[0] += 1;
                put(&mut lines, 2, Some(at));
                if length % 2 == 0 {
                    let (at, _) = lines.take(2);
                    assert_eq!(lines.packet(at).number(), taken[2]);
                    taken[2] += 1;
                }
            }
            let sent = put(&mut lines, 1, None);
            let back: Vec<u64> = lines.latest_first(1).map(Time::as_ps).collect();
            assert_eq!(back, (0..sent).rev().collect::<Vec<_>>());
            assert_eq!(lines.first(1), Some(Time::ZERO));
        }
        // No more pieces than what is on the lines needs, and one unfilled and one free per line.
        let waiting: u32 = lines.lines.iter().map(|line| line.len).sum();
        assert!(lines.next.len() as u32 <= waiting / PIECE + 9 + 3);
    }
}

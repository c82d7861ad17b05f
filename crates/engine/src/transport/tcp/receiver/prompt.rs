//! Acknowledgements that leave without the usual delay, as in the kernel (Linux 6.18, `net/ipv4/tcp_input.c`). These
//! are the first acknowledgements of a connection, those after duplicates and marks, and those of segments that enlarge
//! the receive window. Conversely, the kernel holds back duplicate acknowledgements for the same hole after the first
//! three, although RFC 5681 section 4.2 recommends to send them at once.
//!
//! The receive window opens from 64 KiB, by two segments for each segment that arrives (`tcp_grow_window`), up to the
//! free space of the buffer. The buffer grows with the amount of data that arrives in a round trip (dynamic
//! right-sizing, `tcp_rcv_space_adjust` and `tcp_rcvbuf_grow`). The application reads everything at once. This window
//! does not limit the sender: it is assumed to be larger than the sender's window.

use longhaul_units::{Span, Time};

/// Payload that the initial receive buffer holds: 160/256 (`scaling_ratio`) of 131,072 bytes of memory (`tcp_rmem`). A
/// packet of 1500 bytes takes 2304 bytes of memory.
const FIRST_BUFFER: u64 = 81_920;

/// The initial receive window: half of the buffer's 131,072 bytes of memory (`tcp_select_initial_window`).
const FIRST_WINDOW: u64 = 65_536;

/// Segments of the first round trip (`TCP_INIT_CWND`, `tcp_init_buffer_space`).
const FIRST_ROUND: u64 = 10;

/// Number of ACKs after the first mark that are not delayed (`__tcp_ecn_check_ce`).
const AFTER_MARK: u32 = 2;

/// Time from received data to sent data below which a connection is interactive (`TCP_ATO_MIN`,
/// `tcp_event_data_sent`).
const INTERACTIVE: Span = Span::from_millis(40);

/// Number of duplicate acknowledgements for a hole that leave at once (`TCP_FASTRETRANS_THRESH`).
const FIRST_DUPLICATES: u32 = 3;

/// Maximum delay of duplicate acknowledgements for a hole, except the first three (`tcp_comp_sack_delay_ns`). A
/// twentieth of the round-trip time is a further limit. At most 44 acknowledgements are held back (`tcp_comp_sack_nr`).
const HELD_BACK: Span = Span::from_millis(1);
const HELD_BACK_COUNT: u32 = 44;
const ROUND_TRIP_PARTS: u64 = 20;

/// State for the decision if an acknowledgement must leave without delay.
#[derive(Debug)]
pub(super) struct PromptAcks {
    /// Number of prompt acknowledgements at the beginning and after duplicates (`TCP_MAX_QUICKACKS`).
    most: u32,
    /// Number of prompt acknowledgements left (`icsk_ack.quick`).
    left: u32,
    /// True if data in the other direction carries the acknowledgements (`icsk_ack.pingpong`).
    interactive: bool,
    last_arrival: Time,
    /// The missing segment that the last duplicate acknowledgements request.
    hole: u64,
    /// Number of duplicate acknowledgements for `hole`, counted up to `FIRST_DUPLICATES`.
    duplicates: u32,
    /// Number of duplicate acknowledgements held back since the last acknowledgement that was sent.
    held_back: u32,
    window: Window,
}

impl PromptAcks {
    /// Creates the state of a receiver of segments of `segment_bytes` bytes. `most` is the number of prompt
    /// acknowledgements at the beginning, and `most_bytes` the maximum size of the receive buffer.
    pub(super) fn new(most: u32, segment_bytes: u64, most_bytes: u64) -> Self {
        Self {
            most,
            left: 0,
            interactive: false,
            last_arrival: Time::NEVER,
            hole: 0,
            duplicates: 0,
            held_back: 0,
            window: Window::new(segment_bytes, most_bytes),
        }
    }

    /// Records that the receiver answers the SYN at `now`.
    pub(super) fn on_handshake(&mut self, now: Time) {
        self.window.rtt.answered = Some(now);
    }

    /// Records that a segment sent at `stamp` has arrived in order. `waiting` later segments, all below `end`, have
    /// arrived out of order.
    pub(super) fn on_segment(
        &mut self,
        segment: u64,
        stamp: Time,
        (waiting, end): (u64, u64),
        now: Time,
    ) {
        if self.last_arrival == Time::NEVER {
            self.window.begin(segment, now);
            self.left = self.most;
        }
        self.last_arrival = now;
        self.window.rtt.sample(stamp, now);
        // The arriving segment also waits until the application reads it.
        self.open(waiting + 1);
        let next = segment + 1;
        self.window.follow(next, end.saturating_sub(next), now);
    }

    /// Records that a segment has arrived out of order; `waiting` other segments had arrived out of order before it.
    pub(super) fn on_out_of_order(&mut self, waiting: u64) {
        self.open(waiting);
    }

    fn open(&mut self, waiting: u64) {
        if self.window.open(waiting) {
            self.left |= 1;
        }
    }

    /// Records that a duplicate segment has arrived.
    pub(super) fn on_duplicate(&mut self) {
        self.hurry(self.most);
    }

    /// Records a mark that begins an echo: the receiver has not echoed congestion so far, or CWR has ended the echo.
    pub(super) fn on_mark(&mut self) {
        self.hurry(AFTER_MARK);
    }

    /// Makes at least the next `count` acknowledgements prompt, or the next `most` if this is less. The connection no
    /// longer counts as interactive (`tcp_enter_quickack_mode`).
    fn hurry(&mut self, count: u32) {
        self.left = self.left.max(count.min(self.most));
        self.interactive = false;
    }

    /// Records that the receiver's host sends a data segment, which also acknowledges the received data.
    pub(super) fn on_answer(&mut self, now: Time) {
        let soon = self.last_arrival != Time::NEVER && now.since(self.last_arrival) < INTERACTIVE;
        self.interactive |= soon;
        self.on_ack();
    }

    /// Records that an acknowledgement leaves.
    pub(super) fn on_ack(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.held_back = 0;
    }

    /// Returns the delay of a duplicate acknowledgement; `None` if it leaves at once. `hole` is the first missing
    /// segment. At the end of the delay, one acknowledgement is sent for all duplicates held back
    /// (`__tcp_ack_snd_check`).
    pub(super) fn holds_back(&mut self, hole: u64) -> Option<Span> {
        if self.at_once() || self.held_back >= HELD_BACK_COUNT {
            return None;
        }
        if self.hole != hole {
            (self.hole, self.duplicates) = (hole, 0);
        }
        if self.duplicates < FIRST_DUPLICATES {
            self.duplicates += 1;
            return None;
        }
        self.held_back += 1;
        Some(HELD_BACK.min(self.window.rtt.smoothed / ROUND_TRIP_PARTS))
    }

    /// Returns true if an acknowledgement is held back.
    pub(super) fn is_holding_back(&self) -> bool {
        self.held_back > 0
    }

    /// Returns true if acknowledgements are not delayed (`tcp_in_quickack_mode`).
    pub(super) fn at_once(&self) -> bool {
        self.left > 0 && !self.interactive
    }

    /// Returns a bound: segments below it cause no prompt acknowledgement and no change of the receive window if they
    /// arrive in order. (The window only grows when a round trip brings more data than any earlier round trip.) Returns
    /// zero while acknowledgements are still sent promptly, or while the window is smaller than the buffer allows.
    pub(super) fn settled_below(&self) -> u64 {
        let window = &self.window;
        if self.left > 0 || !window.is_open() {
            return 0;
        }
        window.first + window.round / window.segment
    }
}

/// The receive window, in bytes of payload.
#[derive(Debug)]
struct Window {
    segment: u64,
    /// Window that has been opened so far, in bytes (`rcv_ssthresh`).
    open: u64,
    /// Size of the buffer, which limits the window (`window_clamp`).
    buffer: u64,
    /// Maximum size of the buffer, in bytes.
    most: u64,
    /// Largest amount of data that has arrived in one round trip so far (`rcvq_space.space`).
    round: u64,
    /// First segment of the current round trip.
    first: u64,
    /// Beginning of the current round trip.
    since: Time,
    rtt: RoundTrip,
}

impl Window {
    fn new(segment: u64, most: u64) -> Self {
        Self {
            segment,
            open: FIRST_WINDOW.min(most),
            buffer: FIRST_BUFFER.min(most),
            most,
            round: FIRST_ROUND * segment,
            first: 0,
            since: Time::ZERO,
            rtt: RoundTrip {
                smoothed: Span::ZERO,
                answered: None,
                way_back: None,
                last_stamp: Time::NEVER,
            },
        }
    }

    fn begin(&mut self, first: u64, now: Time) {
        (self.first, self.since) = (first, now);
    }

    /// Returns the free space of the buffer when `waiting` segments are in it.
    fn free(&self, waiting: u64) -> u64 {
        self.buffer.saturating_sub(waiting * self.segment)
    }

    fn is_open(&self) -> bool {
        self.open >= self.free(1)
    }

    /// Opens the receive window by up to two segments, for a segment that has arrived. Returns true if it has grown: it
    /// was smaller than the free space of the buffer with `waiting` segments in it.
    fn open(&mut self, waiting: u64) -> bool {
        let room = self.free(waiting).saturating_sub(self.open);
        self.open += room.min(2 * self.segment);
        room > 0
    }

    /// Recomputes the buffer once per round trip. If more data arrived than in any earlier round trip, the buffer grows
    /// to twice this amount, plus an allowance for similar growth in the next round trips, plus `missing` segments, at
    /// most to its maximum. `next` is the first segment that has not arrived in order, and `missing` the number of
    /// segments from there to the last one that has arrived out of order.
    fn follow(&mut self, next: u64, missing: u64, now: Time) {
        let rtt = self.rtt.smoothed.as_ps().max(1);
        let rounds = now.since(self.since).as_ps() / rtt;
        if rounds == 0 {
            return;
        }
        // Several round trips may have passed, since segments on the fast path do not call this function.
        let arrived = (next - self.first) * self.segment / rounds;
        if arrived > self.round {
            let double = 2 * u128::from(arrived);
            let growth = 2 * double * u128::from(arrived - self.round) / u128::from(self.round);
            self.round = arrived;
            let wanted = double + growth + u128::from(missing * self.segment);
            let buffer = wanted.min(u128::from(self.most)) as u64;
            self.buffer = self.buffer.max(buffer);
        }
        self.begin(next, now);
    }
}

/// Round-trip time measured by a receiver (`tcp_rcv_rtt_measure_ts`): the transit time of a segment plus that of an
/// acknowledgement. The latter is the time from the departure of the SYN-ACK to that of the first segment. A side that
/// has sent no SYN-ACK assumes equal transit times in both directions.
#[derive(Debug)]
struct RoundTrip {
    /// Smoothed round-trip time; zero before the first sample.
    smoothed: Span,
    answered: Option<Time>,
    way_back: Option<Span>,
    last_stamp: Time,
}

impl RoundTrip {
    /// Takes a round-trip sample from a segment sent at `stamp`. Segments sent at the same time give one sample.
    fn sample(&mut self, stamp: Time, now: Time) {
        let transit = now.since(stamp);
        let answered = self.answered;
        let way_back = *self
            .way_back
            .get_or_insert_with(|| answered.map_or(transit, |answered| stamp.since(answered)));
        if stamp == self.last_stamp {
            return;
        }
        self.last_stamp = stamp;
        let sample = transit + way_back;
        self.smoothed = if self.smoothed == Span::ZERO || sample < self.smoothed {
            sample
        } else {
            self.smoothed * 7 / 8 + sample / 8
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1448;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn prompt() -> PromptAcks {
        PromptAcks::new(16, SEGMENT, 1 << 30)
    }

    /// Delivers `count` segments from `first` on at the time `at`. They were sent together 10 ms before. Returns the
    /// numbers of the segments that are acknowledged at once.
    fn burst(prompt: &mut PromptAcks, first: u64, count: u64, at: Time) -> Vec<u64> {
        let arrives = |segment| {
            prompt.on_segment(segment, at - Span::from_millis(10), (0, 0), at);
            let at_once = prompt.at_once();
            if at_once {
                prompt.on_ack();
            }
            at_once.then_some(segment)
        };
        (first..first + count).filter_map(arrives).collect()
    }

    /// The first 22 acknowledgements are not delayed: six while the window opens, then 16 prompt ones.
    #[test]
    fn the_first_ones_are_not_delayed_nor_those_that_open_the_window() {
        // From 65,536 bytes to 81,920 - 1448 bytes, the window opens in six steps of up to 2896 bytes.
        let mut prompt = prompt();
        let at_once = burst(&mut prompt, 1, 40, ms(20));
        assert_eq!(at_once, (1..=22).collect::<Vec<_>>());
        assert_eq!(prompt.window.open, 81_920 - 1448);
        assert_eq!(prompt.settled_below(), 11);
    }

    /// Checks that the buffer grows with the number of segments that arrive in a round trip.
    #[test]
    fn the_buffer_follows_what_arrives_in_a_round_trip() {
        let mut prompt = prompt();
        prompt.on_handshake(ms(0));
        let mut first = 1;
        let mut buffers = Vec::new();
        for (round, count) in [10, 20, 40, 40, 1].into_iter().enumerate() {
            let at = ms(20) + Span::from_millis(20) * round as u64;
            burst(&mut prompt, first, count, at);
            first += count;
            buffers.push(prompt.window.buffer / SEGMENT);
        }
        assert_eq!(prompt.window.rtt.smoothed, Span::from_millis(20));
        // In a round trip, 11 segments arrive (with one of the next round trip), then 20 and 40. The buffer grows from
        // 56 to 2 x 20 + 4 x 20 x (20 - 11)/11 = 105 segments, then to 2 x 40 + 4 x 40 x (40 - 20)/20 = 240.
        assert_eq!(buffers, [56, 56, 105, 240, 240]);
    }
    /// Acknowledgements of an interactive connection do not leave at once, since data packets carry them. After a
    /// duplicate segment, they leave at once (`tcp_enter_quickack_mode`).
    #[test]
    fn answers_carry_acknowledgements_until_a_duplicate_comes() {
        let mut prompt = prompt();
        burst(&mut prompt, 1, 1, ms(20));
        assert!(prompt.at_once());
        prompt.on_answer(ms(59));
        assert!(!prompt.at_once());
        prompt.on_duplicate();
        assert!(prompt.at_once());
        prompt.on_answer(ms(60));
        assert!(prompt.at_once(), "40 ms after the last arrival");
    }
}

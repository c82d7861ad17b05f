//! Accurate ECN (AccECN, RFC 9768): acknowledgements report the number of marked packets that have arrived, with three
//! bits in the ACE field and 16 bits in an option.
//!
//! Unlike in the RFC, the option counts marked packets, not the bytes of each codepoint. Senders read only the option,
//! even if three SACK blocks leave it no room on the wire; the ACE field appears only in captures. Both ends are
//! assumed to support AccECN.

/// Initial value of the counters: not zero, to be distinct from a header of zeros (section 3.2.1).
const INITIAL: u64 = 5;

/// Bytes of the option with three counters, padded (section 3.2.3).
pub(super) const OPTION_BYTES: u16 = 12;

/// Counter of marked packets at a data receiver (`r.cep`).
#[derive(Debug)]
pub(super) struct CeCounter {
    marked: u64,
    reported: u64,
    /// True if the last packet was marked.
    last_marked: bool,
}

impl CeCounter {
    /// Number of unreported marks that causes an immediate acknowledgement (section 3.2.2.5.1).
    const UNREPORTED: u64 = 2;

    pub(super) fn new() -> Self {
        Self {
            marked: INITIAL,
            reported: INITIAL,
            last_marked: false,
        }
    }

    /// Processes a data packet. Returns true if an acknowledgement has to leave at once: for the first marked packet
    /// after an unmarked one, and after several unreported marks.
    pub(super) fn on_packet(&mut self, marked: bool) -> bool {
        let first = marked && !self.last_marked;
        self.last_marked = marked;
        self.marked += u64::from(marked);
        first || marked && self.marked - self.reported >= Self::UNREPORTED
    }

    /// Returns an acknowledgement's ACE field and its option: the counter, which begins at 5, modulo 8 and modulo 2^16.
    /// All marks so far then count as reported.
    pub(super) fn report(&mut self) -> (u8, u16) {
        self.reported = self.marked;
        ((self.marked % 8) as u8, self.marked as u16)
    }
}

/// Counter of marked packets at a data sender (`s.cep`).
#[derive(Debug)]
pub(super) struct MarksReported(u64);

impl MarksReported {
    pub(super) fn new() -> Self {
        Self(INITIAL)
    }

    /// Processes the option of an acknowledgement. `count` is the receiver's counter modulo 2^16. Returns the number of
    /// marks not counted before. Acknowledgements may arrive out of order.
    pub(super) fn on_ack(&mut self, count: u16) -> u64 {
        let more = count.wrapping_sub(self.0 as u16).cast_signed();
        let marks = u64::try_from(more).unwrap_or(0);
        self.0 += marks;
        marks
    }

    /// Returns the total number of marks so far.
    pub(super) fn total(&self) -> u64 {
        self.0 - INITIAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of several marked packets is reported at once, then every second marked packet.
    #[test]
    fn marks_are_reported_before_the_field_wraps() {
        let mut counter = CeCounter::new();
        let mut answered = Vec::new();
        let packets = [false, true, true, true, false, true, false];
        for (number, marked) in packets.into_iter().enumerate() {
            if counter.on_packet(marked) {
                answered.push((number, counter.report()));
            }
        }
        assert_eq!(answered, [(1, (6, 6)), (3, (0, 8)), (5, (1, 9))]);
    }

    /// Section 3.2.2.5.1: a marked packet is reported at once if the packet before it was unmarked, or if there was
    /// none.
    #[test]
    fn a_first_packet_that_is_marked_is_answered_at_once() {
        let mut counter = CeCounter::new();
        assert!(counter.on_packet(true));
        counter.report();
        assert!(!counter.on_packet(true));
    }

    /// The total number of marks is right for any number of packets and marks per acknowledgement, with lost and
    /// reordered acknowledgements.
    #[test]
    fn each_mark_counts_once_whatever_acknowledgements_arrive_and_when() {
        let (mut counter, mut reported) = (CeCounter::new(), MarksReported::new());
        let (mut marks, mut late) = (0, counter.report().1);
        for round in 0..30_000u64 {
            for packet in 0..1 + round % 31 {
                let marked = (round + packet) % 3 == 0;
                marks += u64::from(marked);
                counter.on_packet(marked);
            }
            let count = counter.report().1;
            if round % 5 > 0 {
                reported.on_ack(count);
                reported.on_ack(late);
                assert_eq!(reported.total(), marks);
            }
            late = count;
        }
        assert!(marks > 1 << 16);
    }
}

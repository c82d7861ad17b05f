//! Accurate ECN (AccECN, RFC 9768): acknowledgements count the marked packets that have arrived, in three bits.
//!
//! Without the option that counts bytes, and without the codes of the handshake. Both ends are taken to support it.

/// What counters begin with, so that a header of zeros shows (section 3.2.1).
const INITIAL: u64 = 5;
/// Numbers that the ACE field holds.
const ACE: u64 = 8;

/// The counter of a data receiver, `r.cep`.
#[derive(Debug)]
pub(super) struct CeCounter {
    marked: u64,
    reported: u64,
    /// Whether the last packet was marked.
    last_marked: bool,
}

impl CeCounter {
    /// So many marks that no acknowledgement has reported are reported at once (section 3.2.2.5.1).
    const UNREPORTED: u64 = 2;

    pub(super) fn new() -> Self {
        Self {
            marked: INITIAL,
            reported: INITIAL,
            last_marked: false,
        }
    }

    /// A data packet arrives. Whether an acknowledgement has to leave at once: the first of marked ones, or several.
    pub(super) fn on_packet(&mut self, marked: bool) -> bool {
        let first = marked && !self.last_marked;
        self.last_marked = marked;
        self.marked += u64::from(marked);
        first || marked && self.marked - self.reported >= Self::UNREPORTED
    }

    /// The field of an acknowledgement that leaves.
    pub(super) fn report(&mut self) -> u8 {
        self.reported = self.marked;
        (self.marked % ACE) as u8
    }
}

/// The counter of a data sender, `s.cep`.
#[derive(Debug)]
pub(super) struct MarksReported(u64);

impl MarksReported {
    pub(super) fn new() -> Self {
        Self(INITIAL)
    }

    /// An acknowledgement of `delivered` packets more arrives. Returns how many marks it adds: if others before it may
    /// have been lost, the largest number that it may mean (section 3.2.2.5, *safest likely case*).
    pub(super) fn on_ack(&mut self, ace: u8, delivered: u64) -> u64 {
        let least = (u64::from(ace) + ACE - self.0 % ACE) % ACE;
        let marks = match delivered.checked_sub(least) {
            Some(others) => delivered - others % ACE,
            None => least,
        };
        self.0 += marks;
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of marked packets is reported at once, then every second.
    #[test]
    fn marks_are_reported_before_the_field_wraps() {
        let mut counter = CeCounter::new();
        let mut answered = Vec::new();
        for (number, marked) in [false, true, true, true, false, true, false]
            .into_iter()
            .enumerate()
        {
            if counter.on_packet(marked) {
                answered.push((number, counter.report()));
            }
        }
        assert_eq!(answered, [(1, 6), (3, 0), (5, 1)]);
    }

    /// Section 3.2.2.5.1: ACE, packets newly delivered, marks.
    #[test]
    fn a_field_that_may_have_wrapped_is_taken_for_the_largest_number() {
        for (ace, delivered, marks) in [
            (5, 2, 0),
            (6, 2, 1),
            (6, 1, 1),
            (5, 8, 8),
            (7, 10, 10),
            (7, 9, 2),
            (4, 15, 15),
            (0, 1, 3),
        ] {
            assert_eq!(
                MarksReported::new().on_ack(ace, delivered),
                marks,
                "{ace} {delivered}"
            );
        }
    }

    #[test]
    fn each_mark_counts_once_whatever_is_acknowledged_together() {
        let (mut counter, mut reported) = (CeCounter::new(), MarksReported::new());
        let (mut marks, mut found) = (0, 0);
        for round in 0..200u64 {
            // Up to seven packets an acknowledgement: no number is ambiguous.
            let packets = 1 + round % 7;
            for packet in 0..packets {
                let marked = (round * packets + packet) % 3 == 0;
                marks += u64::from(marked);
                counter.on_packet(marked);
            }
            found += reported.on_ack(counter.report(), packets);
        }
        assert_eq!(found, marks);
    }
}

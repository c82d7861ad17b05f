//! Procedures that run at intervals, without a timer: each ACK checks if a procedure is due.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Time of the last run of a periodic procedure. The procedure runs at the first acknowledgement that arrives a period
/// or more after its last run (NIST SP 500-282, chapter 5).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Periodic {
    since: Option<Time>,
}

impl Periodic {
    /// A procedure that has not run yet.
    pub(crate) const NEW: Self = Self { since: None };

    /// Returns the time since the last run of the procedure if at least `period` has passed, and records a run at
    /// `now`. Otherwise returns `None`. The first call begins the first period.
    pub(crate) fn elapsed(&mut self, now: Time, period: Span) -> Option<Span> {
        let elapsed = now.since(*self.since.get_or_insert(now));
        let due = elapsed >= period && elapsed > Span::ZERO;
        due.then(|| {
            self.since = Some(now);
            elapsed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_where_the_procedure_ran() {
        let mut periodic = Periodic::NEW;
        let ran: Vec<u64> = (0..100)
            .step_by(7)
            .filter(|&ms| {
                let now = Time::ZERO + Span::from_millis(ms);
                periodic.elapsed(now, Span::from_millis(20)).is_some()
            })
            .collect();
        assert_eq!(ran, [21, 42, 63, 84]);
    }
}

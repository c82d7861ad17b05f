//! Memory that a run may take: asked for before large structures grow, so that a run that needs more than is available
//! ends with its records so far.
//!
//! Rings of packets and segments double when they are full. Nothing else sees the size of the next one before it is
//! allocated, and its failure would abort the process. The budget belongs to a thread, as a run does.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Smaller allocations are not asked about.
const LARGE_BYTES: usize = 1 << 20;

type MayTake = Box<dyn Fn(u64) -> bool>;

thread_local! {
    static BUDGET: RefCell<Option<MayTake>> = const { RefCell::new(None) };
    static EXHAUSTED: Cell<bool> = const { Cell::new(false) };
}

/// A budget in force; dropping it ends it.
#[derive(Debug)]
pub struct Budget(());

impl Budget {
    /// Puts a budget in force in this thread: `may_take` returns true if that many more bytes may be allocated.
    pub fn begin(may_take: impl Fn(u64) -> bool + 'static) -> Self {
        BUDGET.set(Some(Box::new(may_take)));
        EXHAUSTED.set(false);
        Self(())
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        BUDGET.set(None);
        EXHAUSTED.set(false);
    }
}

/// An allocation that the budget refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAllocation {
    /// The elements of the structure that had to grow.
    pub what: &'static str,
    /// Bytes of the allocation.
    pub bytes: u64,
}

/// Asks for memory for `count` values, which are `what`; ends the run if the budget refuses it.
///
/// [`catch`] takes the unwinding that this begins.
#[inline]
pub fn claim<T>(what: &'static str, count: usize) {
    let bytes = count.saturating_mul(size_of::<T>());
    if bytes >= LARGE_BYTES {
        ask(what, bytes as u64);
    }
}

/// Asks for the memory that a full vector or ring takes when it doubles.
#[inline]
pub fn claim_growth<T>(what: &'static str, len: usize, capacity: usize) {
    if len == capacity {
        claim::<T>(what, 2 * capacity);
    }
}

/// Returns true from a refusal on until the budget ends.
pub fn is_exhausted() -> bool {
    EXHAUSTED.get()
}

#[cold]
#[inline(never)]
fn ask(what: &'static str, bytes: u64) {
    let refused =
        BUDGET.with_borrow(|budget| budget.as_ref().is_some_and(|may_take| !may_take(bytes)));
    if refused {
        EXHAUSTED.set(true);
        // Not a panic: no hook prints anything.
        resume_unwind(Box::new(RefusedAllocation { what, bytes }));
    }
}

/// Runs a function; the error is the refusal that ended it, if one did.
///
/// Data that the function worked on is left in the middle of an event: fit to be read, not to be continued.
pub fn catch<T>(function: impl FnOnce() -> T) -> Result<T, RefusedAllocation> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload: Box<dyn Any + Send>| {
        match payload.downcast::<RefusedAllocation>() {
            Ok(refused) => *refused,
            Err(other) => resume_unwind(other),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_claim_ends_the_function_and_names_itself() {
        claim::<u64>("anything", usize::MAX); // no budget
        let budget = Budget::begin(|bytes| bytes <= 16 << 20);
        assert_eq!(catch(|| claim::<u64>("words", 2 << 20)), Ok(()));
        let refused = RefusedAllocation {
            what: "words",
            bytes: (16 << 20) + 8,
        };
        assert_eq!(catch(|| claim::<u64>("words", (2 << 20) + 1)), Err(refused));
        assert!(catch(|| claim_growth::<u64>("words", 3, 4 << 20)).is_ok());
        assert!(catch(|| claim_growth::<u64>("words", 4 << 20, 4 << 20)).is_err());
        assert!(is_exhausted());
        drop(budget);
        assert!(!is_exhausted());
        claim::<u64>("words", usize::MAX);
    }

    #[test]
    fn small_allocations_are_not_asked_about() {
        let _budget = Budget::begin(|_| false);
        assert!(catch(|| claim::<u8>("bytes", LARGE_BYTES - 1)).is_ok());
        assert!(catch(|| claim::<u8>("bytes", LARGE_BYTES)).is_err());
    }
}

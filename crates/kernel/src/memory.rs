//! Memory budget of a run. Large structures ask the budget before they grow. If memory is short,
//! the run therefore ends and keeps its records so far.
//!
//! Rings of packets and segments double when they are full. Without the budget a failed allocation
//! would abort the process. A budget applies to one thread, since a run uses one thread.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Minimum size of checked allocations, in bytes.
const LARGE_BYTES: usize = 1 << 20;

type MayTake = Box<dyn Fn(u64) -> bool>;

thread_local! {
    static BUDGET: RefCell<Option<MayTake>> = const { RefCell::new(None) };
    static EXHAUSTED: Cell<bool> = const { Cell::new(false) };
}

/// A memory budget, which applies until it is dropped. A thread has only one budget: a second one
/// replaces the first, and ends when either is dropped.
#[derive(Debug)]
pub struct Budget(());

impl Budget {
    /// Starts a budget for this thread. `may_take` gets a number of bytes, and returns true if so
    /// many more may be allocated.
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
    /// Name of the values for which memory was asked, such as packets.
    pub what: &'static str,
    /// Size of the allocation in bytes.
    pub bytes: u64,
}

/// Asks the budget for the memory of `count` values of type `T`, called `what` in messages; ends
/// the run if the budget refuses.
///
/// The budget is not asked for less than 1 MiB. The run ends by unwinding, which [`catch`] stops.
#[inline]
pub fn claim<T>(what: &'static str, count: usize) {
    let bytes = count.saturating_mul(size_of::<T>());
    if bytes >= LARGE_BYTES {
        ask(what, bytes as u64);
    }
}

/// Asks the budget for twice the `capacity` of a vector or ring if `len` values fill it.
#[inline]
pub fn claim_growth<T>(what: &'static str, len: usize, capacity: usize) {
    if len == capacity {
        claim::<T>(what, 2 * capacity);
    }
}

/// Returns true if the thread's current budget has refused an allocation.
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
        // Unwinding without a panic: no panic hook prints anything.
        resume_unwind(Box::new(RefusedAllocation { what, bytes }));
    }
}

/// Calls `function` and returns its result, or the allocation that the budget refused. After a refusal, the data of the
/// run can be read, but the run cannot continue, since an event is unfinished.
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

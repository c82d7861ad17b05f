//! Threads that simulate several regions of a window at the same time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;

use super::locked;
use super::region::Step;

/// The threads, and the steps of the simulation that they execute.
pub(super) struct Crew {
    threads: usize,
    /// The regions in starting order: the region with the most work first, so that it is not the
    /// last to finish.
    regions: Vec<usize>,
    /// Number of steps begun so far. Changes only under the lock of `orders`.
    steps: AtomicU64,
    orders: Mutex<Orders>,
    ordered: Condvar,
    done: Condvar,
    /// Number of the current step (upper half) and number of regions started in this step (lower half). With both in
    /// one word, a late thread cannot start a region of a later step.
    next: AtomicU64,
    /// Number of regions with an unfinished step.
    unfinished: AtomicUsize,
}

struct Orders {
    step: Option<Step>,
    over: bool,
}

/// Number of times that a thread checks for a new step, or for the end of the current one, before
/// it sleeps. The checks take some tenths of a millisecond. Waking a thread can take as long, and
/// other threads mostly finish in this time.
const LOOKS: u32 = 20_000;

impl Crew {
    /// Returns a crew of at most `threads` threads, and no more threads than there are regions.
    pub(super) fn new(threads: usize, regions: Vec<usize>) -> Self {
        Self {
            threads: threads.min(regions.len()),
            regions,
            steps: AtomicU64::new(0),
            orders: Mutex::new(Orders {
                step: None,
                over: false,
            }),
            ordered: Condvar::new(),
            done: Condvar::new(),
            next: AtomicU64::new(0),
            unfinished: AtomicUsize::new(0),
        }
    }

    /// Calls the closure `lead` in this thread, and returns its result. The closure gets a function
    /// that advances all regions by a step, in parallel.
    pub(super) fn lead<R>(
        &self,
        advance: impl Fn(usize, &Step) + Sync,
        lead: impl FnOnce(&dyn Fn(Step)) -> R,
    ) -> R {
        if self.threads < 2 {
            let all = &self.regions;
            return lead(&|step| all.iter().for_each(|&region| advance(region, &step)));
        }
        thread::scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(|| self.work(&advance));
            }
            // This is dropped even after a panic, since the scope waits for the other threads.
            let _end = End(self);
            lead(&|step| {
                let number = self.order(step);
                self.advance_regions(&advance, number, &step);
                self.wait();
            })
        })
    }

    /// Gives the threads a step to execute, and returns the step's number.
    fn order(&self, step: Step) -> u64 {
        let mut orders = locked(&self.orders);
        orders.step = Some(step);
        let number = self.steps.load(Ordering::Relaxed) + 1;
        self.unfinished.store(self.regions.len(), Ordering::Release);
        self.next.store(number << 32, Ordering::Release);
        self.steps.store(number, Ordering::Release);
        self.ordered.notify_all();
        number
    }

    /// Returns the next region to simulate in step `number`; `None` if all have been started.
    fn take(&self, number: u64) -> Option<usize> {
        let next = |next: u64| {
            let of_step = next >> 32 == number && (next as u32 as usize) < self.regions.len();
            of_step.then_some(next + 1)
        };
        let (set, fetch) = (Ordering::AcqRel, Ordering::Acquire);
        let taken = self.next.fetch_update(set, fetch, next);
        taken.ok().map(|taken| self.regions[taken as u32 as usize])
    }

    /// Advances regions by the step, one after the other, until this thread and the others have
    /// taken all regions.
    fn advance_regions(&self, advance: &impl Fn(usize, &Step), number: u64, step: &Step) {
        while let Some(region) = self.take(number) {
            // This is dropped even after a panic: the leader then finds the region's lock poisoned.
            let _finished = FinishGuard(self);
            advance(region, step);
        }
    }

    /// Waits until all regions have completed the step.
    fn wait(&self) {
        let finished = || self.unfinished.load(Ordering::Acquire) == 0;
        if !looks(finished) {
            let mut orders = locked(&self.orders);
            while !finished() {
                orders = self.done.wait(orders).expect("no thread panics with it");
            }
        }
    }

    fn work(&self, advance: &impl Fn(usize, &Step)) {
        let mut seen = 0;
        loop {
            looks(|| self.steps.load(Ordering::Acquire) != seen);
            let mut orders = locked(&self.orders);
            while self.steps.load(Ordering::Acquire) == seen {
                orders = self.ordered.wait(orders).expect("no thread panics with it");
            }
            seen = self.steps.load(Ordering::Acquire);
            let (over, step) = (orders.over, orders.step);
            drop(orders);
            match step {
                Some(step) if !over => self.advance_regions(advance, seen, &step),
                _ => return,
            }
        }
    }
}

/// Returns true if the condition becomes true within [`LOOKS`] checks.
fn looks(condition: impl Fn() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        std::hint::spin_loop();
        condition()
    })
}

/// Guard that ends the other threads when it is dropped, also after a panic.
struct End<'a>(&'a Crew);

impl Drop for End<'_> {
    fn drop(&mut self) {
        if let Ok(mut orders) = self.0.orders.lock() {
            orders.over = true;
            self.0.steps.fetch_add(1, Ordering::Release);
            self.0.ordered.notify_all();
        }
    }
}

/// Guard that counts a region as finished when it is dropped, also after a panic.
struct FinishGuard<'a>(&'a Crew);

impl Drop for FinishGuard<'_> {
    fn drop(&mut self) {
        if self.0.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The leader checks the number under the lock before it sleeps.
            drop(self.0.orders.lock());
            self.0.done.notify_all();
        }
    }
}

//! Guard that keeps a run alive when a stack fails. If a stack panics, or needs endless calls at one simulated time,
//! its connection ends, and the simulation goes on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use longhaul_units::Time;

use crate::stack::Stack;

/// Maximum number of calls at one simulated time. A stack with more calls counts as stuck: even a window of packets
/// that leave at once needs fewer.
const MAX_CALLS_AT_ONCE: u64 = 1_000_000;

/// Guard of a stack: catches panics, and does not call a stack that has failed.
#[derive(Debug)]
pub(super) struct Guard {
    stack: Box<dyn Stack>,
    failure: Option<String>,
    /// Simulated time of the latest call of the stack.
    last: Time,
    /// Number of calls at the simulated time of the last call.
    calls: u64,
}

impl Guard {
    pub(super) fn new(stack: Box<dyn Stack>) -> Self {
        Self {
            stack,
            failure: None,
            last: Time::ZERO,
            calls: 0,
        }
    }

    /// Calls the stack at the simulated time `now`. Returns `None` if the stack has failed before, or fails in this
    /// call.
    #[inline]
    pub(super) fn call<T>(
        &mut self,
        now: Time,
        act: impl FnOnce(&mut dyn Stack) -> T,
    ) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        self.calls = if now == self.last { self.calls + 1 } else { 0 };
        self.last = now;
        if self.calls > MAX_CALLS_AT_ONCE {
            self.failure = Some("asks to be called again and again at the same time".to_string());
            return None;
        }
        // The stack's state is not read again after a panic.
        match catch_unwind(AssertUnwindSafe(|| act(&mut *self.stack))) {
            Ok(value) => Some(value),
            Err(payload) => {
                self.failure = Some(format!("panicked: {}", message(&*payload)));
                None
            }
        }
    }

    /// Reads the stack's state. Returns `None` if the stack has failed before, or panics in this call. Such a panic
    /// does not count as a failure.
    pub(super) fn read<T>(&self, act: impl FnOnce(&dyn Stack) -> T) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| act(&*self.stack))).ok()
    }

    /// Returns the failure as a predicate that follows "the stack", such as "panicked: ...".
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message")
}

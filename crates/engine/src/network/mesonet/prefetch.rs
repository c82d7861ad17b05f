//! Asks for memory ahead of its use.

/// Has the processor fetch the cache line of `place`, without waiting for it. Does nothing to what is
/// there, and nothing at all on processors for which it is not written down here.
#[inline]
#[allow(
    unsafe_code,
    reason = "the instruction has no effect that could be unsafe"
)]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching reads nothing into the program and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

//! Asks for memory ahead of its use.

/// Bytes that a processor fetches at once.
const CACHE_LINE_BYTES: usize = 64;

/// Has the processor fetch the cache line of `place`, without waiting for it. Does nothing to what is
/// there, and nothing at all on processors for which it is not written down here.
#[inline]
pub(crate) fn prefetch<T>(place: &T) {
    prefetch_lines::<1, T>(place);
}

/// The same for so many lines, beginning with that of `place`.
#[inline]
#[allow(
    unsafe_code,
    reason = "the instruction has no effect that could be unsafe"
)]
pub(crate) fn prefetch_lines<const LINES: usize, T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(place).cast::<i8>();
        for line in 0..LINES {
            let place = first.wrapping_add(line * CACHE_LINE_BYTES);
            // SAFETY: prefetching reads nothing into the program and cannot fault.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, CACHE_LINE_BYTES);
}

//! Prefetching of cache lines.

/// Number of bytes in a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// Prefetches the cache line of `place`. Does nothing on processors other than x86-64.
#[inline]
pub fn prefetch<T>(place: &T) {
    prefetch_lines::<1, T>(place);
}

/// Prefetches `LINES` cache lines, starting with that of the byte `offset` bytes after the beginning
/// of `place`. Prefetches even if `place` is `None`, which is useless but harmless.
#[inline]
pub fn prefetch_within<const LINES: usize, T>(place: &Option<T>, offset: usize) {
    let first = std::ptr::from_ref(place).cast::<u8>();
    prefetch_from::<LINES>(first.wrapping_add(offset));
}

/// Prefetches `LINES` cache lines from the beginning of `place`.
#[inline]
pub fn prefetch_lines<const LINES: usize, T>(place: &T) {
    prefetch_from::<LINES>(std::ptr::from_ref(place).cast());
}

/// Prefetches `LINES` cache lines, starting with that of `first`.
#[inline]
#[allow(
    unsafe_code,
    reason = "the instruction has no effect that could be unsafe"
)]
fn prefetch_from<const LINES: usize>(first: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for line in 0..LINES {
            let place = first.wrapping_add(line * CACHE_LINE_BYTES);
            // SAFETY: prefetching reads nothing into the program and cannot fault.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (first, CACHE_LINE_BYTES);
}

//! The fast path for regular acknowledgements and segments: they need no special treatment. An acknowledgement is
//! regular if it covers new data, but not the last segment in flight, and no loss, mark, limit or timeout needs
//! attention. With a large window, most acknowledgements are regular.
//!
//! The functions that process acknowledgements are compiled twice. If their parameter `REGULAR` is true, they process
//! only regular acknowledgements. Van Jacobson's header prediction is the same idea (Linux, `tcp_rcv_established` of
//! `net/ipv4/tcp_input.c`).

/// Returns `is_so`, a condition that is false for all regular acknowledgements and segments. With `REGULAR`, the result
/// is a constant: the compiler removes the code for the other cases.
#[inline(always)]
pub(super) fn unusual<const REGULAR: bool>(is_so: bool) -> bool {
    debug_assert!(!(REGULAR && is_so), "out of the ordinary");
    !REGULAR && is_so
}

/// Returns `is_so`, a condition that is true for all regular acknowledgements and segments. With `REGULAR`, the result
/// is a constant: the compiler removes the code for the other cases.
#[inline(always)]
pub(super) fn usual<const REGULAR: bool>(is_so: bool) -> bool {
    debug_assert!(!REGULAR || is_so, "out of the ordinary");
    REGULAR || is_so
}

//! Regular acknowledgements: they acknowledge new data, but not the last segment, while the
//! connection is in its plain state. With a large window, most acknowledgements are regular.
//!
//! They are processed by the same functions as all others, compiled twice: for any acknowledgement, and, with
//! `REGULAR`, without the cases that cannot occur for regular ones. Van Jacobson's header prediction is the same
//! idea (Linux, `tcp_rcv_established` of `net/ipv4/tcp_input.c`).

/// Returns the value of a condition that is always false if `REGULAR`.
#[inline(always)]
pub(super) fn unusual<const REGULAR: bool>(is_so: bool) -> bool {
    debug_assert!(!(REGULAR && is_so), "out of the ordinary");
    !REGULAR && is_so
}

/// Returns the value of a condition that is always true if `REGULAR`.
#[inline(always)]
pub(super) fn usual<const REGULAR: bool>(is_so: bool) -> bool {
    debug_assert!(!REGULAR || is_so, "out of the ordinary");
    REGULAR || is_so
}

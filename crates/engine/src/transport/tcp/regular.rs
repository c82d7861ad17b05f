//! Regular acknowledgements: of new data that is not the last, while nothing is out of the ordinary. Of a connection
//! with a large window most are.
//!
//! They are processed like all others, by the same functions, which are compiled twice: for any acknowledgement, and,
//! with `REGULAR`, without what cannot be so for these. Van Jacobson's header prediction is the same idea (Linux,
//! `tcp_rcv_established` of `net/ipv4/tcp_input.c`).

/// Whether something is so that never is where `REGULAR`.
#[inline(always)]
pub(super) fn unusual<const REGULAR: bool>(is_so: bool) -> bool {
    debug_assert!(!(REGULAR && is_so), "out of the ordinary");
    !REGULAR && is_so
}

/// Whether something is so that always is where `REGULAR`.
#[inline(always)]
pub(super) fn usual<const REGULAR: bool>(is_so: bool) -> bool {
    debug_assert!(!REGULAR || is_so, "out of the ordinary");
    REGULAR || is_so
}

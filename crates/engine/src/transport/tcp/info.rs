//! A view of the sender's state for tests.

/// State of a sender by the names of Linux's `TCP_INFO` (`tcp_get_info` of `net/ipv4/tcp.c`), in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Info {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: f64,
    pub(crate) ca_state: &'static str,
    pub(crate) unacked: u64,
    pub(crate) sacked: u64,
    pub(crate) lost: u64,
    pub(crate) retrans: u64,
    pub(crate) reordering: u64,
}

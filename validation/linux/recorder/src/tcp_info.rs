//! What the kernel says of a connection (`struct tcp_info` of `include/uapi/linux/tcp.h`).

/// As far as the windows of both ends.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct TcpInfo {
    pub(crate) state: u8,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub(crate) ca_state: u8,
    flags: [u8; 6],
    pub(crate) rto_us: u32,
    ato_us: u32,
    mss: [u32; 2],
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    retrans: u32,
    fackets: u32,
    last: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    pub(crate) rtt_us: u32,
    pub(crate) rttvar_us: u32,
    pub(crate) ssthresh: u32,
    pub(crate) cwnd: u32,
    advmss: u32,
    pub(crate) reordering: u32,
    received: [u32; 2],
    pub(crate) total_retrans: u32,
    pub(crate) pacing_rate: u64,
    max_pacing_rate: u64,
    pub(crate) bytes_acked: u64,
    bytes_received: u64,
    segments: [u32; 2],
    notsent: u32,
    pub(crate) min_rtt_us: u32,
    data_segments: [u32; 2],
    delivery_rate: u64,
    times: [u64; 3],
    delivered: u32,
    delivered_ce: u32,
    bytes: [u64; 2],
    pub(crate) dsack_dups: u32,
    pub(crate) reord_seen: u32,
    out_of_order: u32,
    /// The peer's window.
    pub(crate) snd_wnd: u32,
}

/// Of BBR (`struct tcp_bbr_info` of `include/uapi/linux/inet_diag.h`).
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct BbrInfo {
    bandwidth: [u32; 2],
    pub(crate) min_rtt_us: u32,
    pacing_gain: u32,
    cwnd_gain: u32,
}

impl BbrInfo {
    /// Bytes a second.
    pub(crate) fn bandwidth(&self) -> u64 {
        u64::from(self.bandwidth[1]) << 32 | u64::from(self.bandwidth[0])
    }

    pub(crate) fn pacing_gain(&self) -> f64 {
        f64::from(self.pacing_gain) / 256.0
    }
}

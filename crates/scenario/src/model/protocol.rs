//! Protocols of flows: TCP, UDP, or QUIC.

use longhaul_keys::words;

words! {
    /// Protocol of a flow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Protocol {
        /// TCP connections.
        Tcp = "tcp",
        /// UDP datagrams.
        Udp = "udp",
        /// Connections of a QUIC stack.
        Quic = "quic",
    }
}

//! Protocols of flows: connections or datagrams.

use longhaul_keys::words;

words! {
    /// Protocol of a flow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Protocol {
        /// Connections.
        Tcp = "tcp",
        /// Datagrams.
        Udp = "udp",
        /// Connections of a QUIC stack.
        Quic = "quic",
    }
}

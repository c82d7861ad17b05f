//! Ports of connections in packet captures.
//!
//! The end that opens a connection takes the next dynamic port of its node (RFC 6335 section 6). The other end listens
//! at one port until the node has used all its dynamic ports, and then at the next port. No two connections of a
//! capture have the same addresses and ports. A connection that is still in use after its node has opened 16,384 newer
//! ones gets new ports.

use std::collections::{HashMap, VecDeque};

const FIRST_DYNAMIC: u32 = 49_152;
const DYNAMIC: u32 = 65_536 - FIRST_DYNAMIC;
const FIRST_LISTENING: u32 = 5201;
const LISTENING: u32 = FIRST_DYNAMIC - FIRST_LISTENING;

/// The two ports of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Port of the end that opened the connection.
    pub(crate) opener: u16,
    pub(crate) listener: u16,
}

impl Ports {
    /// Returns the ports of the next connection of a node which has been given `others` pairs of
    /// ports before.
    fn after(others: u32) -> Self {
        let round = others / DYNAMIC % LISTENING;
        Self {
            opener: (FIRST_DYNAMIC + others % DYNAMIC) as u16,
            listener: (FIRST_LISTENING + round) as u16,
        }
    }
}

/// Identity of a connection: its flow, its number in the flow, and true if the flow's receiving
/// node has opened it.
pub(crate) type Name = (u32, u32, bool);

/// Ports of the newest connections that each node has opened. The number of connections for each
/// node is limited to the number of its dynamic ports.
#[derive(Debug, Default)]
pub(crate) struct PortTable {
    ports: HashMap<Name, Ports>,
    openers: HashMap<u32, Opener>,
}

#[derive(Debug, Default)]
struct Opener {
    opened: u32,
    newest: VecDeque<Name>,
}

impl PortTable {
    /// Returns the ports of a connection that `node` has opened. A connection that is not in the
    /// table gets the node's next ports.
    pub(crate) fn of(&mut self, name: Name, node: u32) -> Ports {
        if let Some(&known) = self.ports.get(&name) {
            return known;
        }
        let opener = self.openers.entry(node).or_default();
        let ports = Ports::after(opener.opened);
        opener.opened = opener.opened.wrapping_add(1);
        opener.newest.push_back(name);
        if opener.newest.len() > DYNAMIC as usize
            && let Some(oldest) = opener.newest.pop_front()
        {
            self.ports.remove(&oldest);
        }
        self.ports.insert(name, ports);
        ports
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_connections_of_a_node_have_the_same_ports() {
        let mut table = PortTable::default();
        let mut seen = HashSet::new();
        for connection in 0..40_000 {
            let ports = table.of((7, connection, false), 3);
            assert!(ports.opener >= 49_152 && (5201..5210).contains(&ports.listener));
            assert!(seen.insert((ports.opener, ports.listener)));
            assert_eq!(table.of((7, connection, false), 3), ports);
        }
        assert_eq!(table.ports.len(), DYNAMIC as usize);
        assert_eq!(table.of((8, 0, false), 4), Ports::after(0));
    }
}

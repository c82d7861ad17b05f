//! All connections of foreign stacks in a run, found by the numbers that their packets carry.

use super::StackConnection;

/// All connections of foreign stacks. The connections are numbered after the UDP streams: fair queues and delay boxes
/// use one range of numbers for both.
#[derive(Debug, Default)]
pub(crate) struct StackConnections {
    first: u32,
    all: Vec<StackConnection>,
}

impl StackConnections {
    /// Creates an empty list. Its connections will have the numbers after those of `streams` UDP streams.
    pub(crate) fn after(streams: usize) -> Self {
        Self {
            first: streams as u32,
            all: Vec::new(),
        }
    }

    /// Returns the number of the next connection.
    pub(crate) fn next_number(&self) -> u32 {
        self.first + self.all.len() as u32
    }

    /// Adds the connection with the next number; returns its index.
    pub(crate) fn push(&mut self, connection: StackConnection) -> usize {
        debug_assert_eq!(connection.number(), self.next_number());
        self.all.push(connection);
        self.all.len() - 1
    }

    /// Returns a mutable reference to the connection with this number.
    pub(crate) fn numbered(&mut self, number: u32) -> &mut StackConnection {
        &mut self.all[(number - self.first) as usize]
    }

    /// Returns a reference to the connection with this number.
    pub(crate) fn get(&self, number: u32) -> &StackConnection {
        &self.all[(number - self.first) as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &StackConnection> {
        self.all.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut StackConnection> {
        self.all.iter_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

impl std::ops::Index<usize> for StackConnections {
    type Output = StackConnection;

    fn index(&self, index: usize) -> &StackConnection {
        &self.all[index]
    }
}

impl std::ops::IndexMut<usize> for StackConnections {
    fn index_mut(&mut self, index: usize) -> &mut StackConnection {
        &mut self.all[index]
    }
}

//! Connections of foreign stacks ([`crate::stack`]): their datagrams, timers and records.

mod connection;
mod connections;
mod guard;

pub(crate) use self::connection::StackConnection;
pub(crate) use self::connections::StackConnections;

//! Connections of stacks from outside the engine ([`crate::stack`]): their datagrams, their timers, what is recorded of them.

mod connection;
mod connections;
mod guard;

pub(crate) use self::connection::StackConnection;
pub(crate) use self::connections::StackConnections;

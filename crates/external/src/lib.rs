//! Congestion control in another process, which listens on a socket: each event is a line of JSON, and so is
//! its answer. `docs/external-controllers.md` has the protocol.
//!
//! The flows of one entry of `flows` share a connection, so that a controller can be one loop that reads and
//! writes.

mod answer;
mod connection;
mod controller;
mod report;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_congestion::{CongestionControl, Factory};

pub use connection::Address;
use connection::{Connection, Problem};
use controller::Controller;

/// Time without an answer after which a controller has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Reactions of the program to a controller that fails or lets it wait.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Function called with the reason for the failure of a controller. The controller is not called again, and the run
    /// should end.
    pub failed: fn(String),
    /// Function that returns true to stop waiting; asked ten times a second while an answer is awaited.
    pub stops_waiting: fn() -> bool,
    /// Longest wait for an answer.
    pub patience: Duration,
}

/// A process that controls windows. It is connected to when the first flow has something to tell.
#[derive(Debug)]
pub struct External {
    peer: Arc<Peer>,
}

/// State shared by the flows of a controller.
#[derive(Debug)]
struct Peer {
    address: Address,
    program: Program,
    connection: Mutex<Option<Connection>>,
}

impl External {
    /// Creates the controller at `address`.
    pub fn new(address: Address, program: Program) -> Self {
        let connection = Mutex::new(None);
        let peer = Arc::new(Peer {
            address,
            program,
            connection,
        });
        Self { peer }
    }
}

/// Checks that a controller listens at `address` and answers as it should; the error gives the reason.
pub fn check(address: &Address, program: Program) -> Result<(), String> {
    match Connection::open(address, program) {
        Ok(_) => Ok(()),
        Err(Problem::Failed(what)) => Err(format!("{address}: {what}")),
        Err(Problem::Stopped) => Err(format!("{address}: interrupted")),
    }
}

impl Factory for External {
    fn make(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller::new(Arc::clone(&self.peer)))
    }
}

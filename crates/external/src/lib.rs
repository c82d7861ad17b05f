//! Congestion control in another process. The process listens on a socket; each event and each
//! answer is a line of JSON (`docs/external-controllers.md`).
//!
//! All flows of one entry of `flows` share a connection, so a controller can be a simple loop that
//! reads and writes.

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

/// Maximum time that a run waits for a controller's answer. A slower controller is considered failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Callbacks and time limit for a controller that fails or does not answer. The program that
/// contains the simulation sets them.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Function called with the reason why a controller failed. The flow does not call the controller
    /// again, and the run should end. Other flows may still call the controller.
    pub failed: fn(String),
    /// Function that returns true to stop waiting; called ten times a second while an answer is
    /// awaited.
    pub stops_waiting: fn() -> bool,
    /// Longest time to wait for an answer.
    pub patience: Duration,
}

/// Congestion control by another process. The connection to it is opened at the first report of a
/// flow.
#[derive(Debug)]
pub struct External {
    peer: Arc<Peer>,
}

/// State that all flows of a controller share.
#[derive(Debug)]
struct Peer {
    address: Address,
    program: Program,
    connection: Mutex<Option<Connection>>,
}

impl External {
    /// Creates congestion control by the controller that listens at `address`. Does not connect to it.
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

/// Checks that a controller listens at `address` and speaks the protocol. The error is a message
/// with the reason of the failure.
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

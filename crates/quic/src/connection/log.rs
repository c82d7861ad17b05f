//! Buffer for the log (qlog) that a stack writes about a connection.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex};

/// A log that a connection shares with the stack that writes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedLog(Arc<Mutex<Vec<u8>>>);

impl SharedLog {
    /// Returns the bytes of the log since the last call.
    pub(super) fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().expect("no holder of the lock panics"))
    }
}

impl Write for SharedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().expect("no holder of the lock panics");
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! The applications at the two ends: one writes zeros to a stream as fast as possible, the other
//! reads them as soon as they arrive.

use std::sync::LazyLock;

use super::dialect::{proto, write};
use bytes::Bytes;
use proto::{Chunks, Connection, Dir, ReadableError, StreamId};

/// Smallest and largest size of a chunk of data, in bytes.
const CHUNK: [usize; 2] = [1 << 14, 1 << 20];

/// Number of chunks into which the send buffer is divided, as far as the bounds [`CHUNK`] of their
/// size permit. For each packet the stack searches the chunks linearly, so there should be few; and
/// it frees a chunk only as a whole, so a chunk should be a small fraction of the buffer.
const CHUNKS: u64 = 64;

/// Zeros to send, used repeatedly. They are only read. The system therefore maps all pages of their
/// memory to one page of zeros, which stays in the cache.
static ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; CHUNK[1]]);

/// The application that sends.
#[derive(Debug)]
pub(super) struct Writer {
    stream: Option<StreamId>,
    /// Size of a chunk in bytes.
    chunk: u64,
    /// Bytes that are not written yet; `None` for an unlimited source.
    left: Option<u64>,
    /// True if the stream has been finished, or will be finished as soon as it is opened.
    finished: bool,
}

impl Writer {
    /// Creates the application, which writes `transfer` bytes (`None`: unlimited). `buffer` is the
    /// size of the send buffer in bytes.
    pub(super) fn new(transfer: Option<u64>, buffer: u64) -> Self {
        let [smallest, largest] = CHUNK.map(|bytes| bytes as u64);
        Self {
            stream: None,
            chunk: (buffer / CHUNKS).clamp(smallest, largest),
            left: transfer,
            finished: false,
        }
    }

    /// Opens the stream of an established connection.
    pub(super) fn open(&mut self, connection: &mut Connection) {
        self.stream = connection.streams().open(Dir::Uni);
        if self.finished {
            self.finish(connection);
        } else {
            self.write(connection);
        }
    }

    /// Writes as much data as the connection accepts. Finishes the stream after the last byte.
    pub(super) fn write(&mut self, connection: &mut Connection) {
        let Some(stream) = self.stream.filter(|_| !self.finished) else {
            return;
        };
        while self.left != Some(0) {
            let len = self.left.unwrap_or(u64::MAX).min(self.chunk);
            let chunk = Bytes::from_static(&ZEROS[..len as usize]);
            let Some(written) = write(&mut connection.send_stream(stream), chunk) else {
                return;
            };
            self.left = self.left.map(|left| left - written as u64);
        }
        self.finish(connection);
    }

    /// Finishes the stream: no more data will be written.
    pub(super) fn finish(&mut self, connection: &mut Connection) {
        self.finished = true;
        if let Some(stream) = self.stream {
            // A stream that the peer has stopped cannot be finished.
            let _ = connection.send_stream(stream).finish();
        }
    }

    /// Ends the transfer before the connection exists.
    pub(super) fn finish_early(&mut self) {
        self.finished = true;
    }
}

/// The application that receives.
#[derive(Debug)]
pub(super) struct Reader {
    /// True if data is read in order, false if it is read in any order.
    ordered: bool,
    /// Bytes read so far.
    read: u64,
}

impl Reader {
    pub(super) fn new(ordered: bool) -> Self {
        Self { ordered, read: 0 }
    }

    /// Returns the bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.read
    }

    /// Accepts the streams that the peer has opened, and reads their data.
    pub(super) fn accept(&mut self, connection: &mut Connection) {
        while let Some(stream) = connection.streams().accept(Dir::Uni) {
            self.read(connection, stream);
        }
    }

    /// Reads all data that a stream has received.
    pub(super) fn read(&mut self, connection: &mut Connection, stream: StreamId) {
        let mut stream = connection.recv_stream(stream);
        let chunks: Result<Chunks<'_>, ReadableError> = stream.read(self.ordered);
        let Ok(mut chunks) = chunks else {
            return;
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.read += chunk.bytes.len() as u64;
        }
        // Reading may free flow control credit. The caller polls the stack for datagrams anyway,
        // and the next ones carry the credit.
        let _ = chunks.finalize();
    }
}

//! The applications at both ends: one writes zeros to a stream as fast as it may, the other reads them at once.

use std::sync::LazyLock;

use super::dialect::{proto, write};
use bytes::Bytes;
use proto::{Chunks, Connection, Dir, ReadableError, StreamId};

/// Smallest and largest chunk of data that is written at once, in bytes.
const CHUNK: [usize; 2] = [1 << 14, 1 << 20];

/// Chunks of a full send buffer. For each packet the stack searches them one after the other for the packet's data; and
/// it frees them as a whole, so that a part of the buffer is that of one chunk.
const CHUNKS: u64 = 64;

/// Data that is sent, again and again: never copied before it is put into packets. Nobody writes it, so that all of its
/// pages are one of the machine's, which stays in a cache.
static ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; CHUNK[1]]);

/// The application that sends.
#[derive(Debug)]
pub(super) struct Writer {
    stream: Option<StreamId>,
    /// Bytes written at once.
    chunk: u64,
    /// Bytes still to write; none of an unlimited source.
    left: Option<u64>,
    /// True if the stream is finished, or will be as soon as it is opened.
    finished: bool,
}

impl Writer {
    /// Creates the application, which writes `transfer` bytes; `buffer` is the size of the send buffer.
    pub(super) fn new(transfer: Option<u64>, buffer: u64) -> Self {
        let [smallest, largest] = CHUNK.map(|bytes| bytes as u64);
        Self {
            stream: None,
            chunk: (buffer / CHUNKS).clamp(smallest, largest),
            left: transfer,
            finished: false,
        }
    }

    /// Opens the stream, once there is a connection.
    pub(super) fn open(&mut self, connection: &mut Connection) {
        self.stream = connection.streams().open(Dir::Uni);
        if self.finished {
            self.finish(connection);
        } else {
            self.write(connection);
        }
    }

    /// Writes as much as the connection takes.
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

    /// Finishes the stream: there is nothing more to write.
    pub(super) fn finish(&mut self, connection: &mut Connection) {
        self.finished = true;
        if let Some(stream) = self.stream {
            // A stream that the peer has stopped cannot be finished.
            let _ = connection.send_stream(stream).finish();
        }
    }

    /// Finishes the transfer before there is a connection.
    pub(super) fn finish_early(&mut self) {
        self.finished = true;
    }
}

/// The application that receives.
#[derive(Debug)]
pub(super) struct Reader {
    /// True if it reads in order.
    ordered: bool,
    /// Bytes that it has read.
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

    /// Reads everything that a stream has.
    pub(super) fn read(&mut self, connection: &mut Connection, stream: StreamId) {
        let mut stream = connection.recv_stream(stream);
        let chunks: Result<Chunks<'_>, ReadableError> = stream.read(self.ordered);
        let Ok(mut chunks) = chunks else {
            return;
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.read += chunk.bytes.len() as u64;
        }
        // The flow control credit that this frees is sent with the next datagrams, for which the stack is asked
        // anyway.
        let _ = chunks.finalize();
    }
}

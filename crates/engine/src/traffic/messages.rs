//! An application that sends messages in bursts over one connection (ns-2's on/off traffic over TCP). The application
//! never waits: the buffer for data that the connection cannot send yet has no limit.

use crate::config::Messages;
use crate::random::Stream;
use crate::schedule::Event;
use crate::transport::tcp::Sender;
use crate::transport::{Bursts, Env};

/// An application that sends messages in bursts.
#[derive(Debug)]
pub(crate) struct MessageSource {
    /// Index among the applications.
    index: u32,
    /// Index of the application's connection.
    pub(crate) connection: usize,
    clock: Bursts,
    /// Size of each message in bytes.
    bytes: u64,
    running: bool,
}

impl MessageSource {
    /// Creates the application of a connection with segments of `mss_bytes`. The interval between messages follows from
    /// their size before it is rounded up to whole segments.
    pub(crate) fn new(
        index: u32,
        connection: usize,
        config: &Messages,
        mss_bytes: u32,
        stream: Stream,
    ) -> Self {
        let bytes = config.message_bytes;
        let mss = u64::from(mss_bytes);
        let interval = config.rate.transmission(bytes).0;
        Self {
            index,
            connection,
            clock: Bursts::new(config.bursts.clone(), interval, stream),
            bytes: if config.whole_segments {
                bytes.div_ceil(mss) * mss
            } else {
                bytes
            },
            running: false,
        }
    }

    pub(crate) fn start(&mut self, env: &mut Env) {
        self.running = true;
        self.await_next(env);
    }

    pub(crate) fn stop(&mut self) {
        self.running = false;
    }

    fn await_next(&mut self, env: &mut Env) {
        let next = env.network.now + self.clock.next_gap();
        let event = Event::Message(self.index);
        env.network.schedule.push_timer(next, event);
    }

    /// Sends the next message, which is due now, and schedules the following one. Does nothing if the application has
    /// stopped.
    pub(crate) fn on_message_event(&mut self, sender: &mut Sender, env: &mut Env) {
        if self.running {
            sender.append(self.bytes, env);
            self.await_next(env);
        }
    }
}

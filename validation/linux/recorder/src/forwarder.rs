//! The loop that takes packets from one namespace and gives them to the other.

use std::io::Result;

use crate::case::Case;
use crate::lateness::Lateness;
use crate::link::{Fate, Link};
use crate::machine::{self, Machine};
use crate::packet::{Header, LARGEST};
use crate::system::{nanoseconds, now, wait};
use crate::tun::Tun;

/// Before a packet is due the loop stops sleeping: waking up takes some microseconds.
const WAKE_UP: i64 = 10_000;

/// After the last byte of all flows was acknowledged.
const LINGER: i64 = 300_000_000;

/// What happened.
pub(crate) struct Log {
    /// The zero of the recording's clock.
    pub(crate) start: i64,
    pub(crate) lateness: Lateness,
    /// Packets on their way to the receivers: all, or those that were lost, marked or held back.
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) flows: Vec<Connection>,
}

/// A data packet at the queue.
pub(crate) struct Arrival {
    pub(crate) time: i64,
    pub(crate) flow: usize,
    /// Bytes from the first one of the connection.
    pub(crate) offset: u32,
    pub(crate) payload: usize,
    pub(crate) waiting: usize,
    pub(crate) fate: Fate,
}

/// What the loop sees of a connection.
#[derive(Clone, Copy, Default)]
pub(crate) struct Connection {
    /// When the SYN came, and its number.
    syn: Option<(i64, u32)>,
    size: Option<u64>,
    /// When the ACK of the last byte was at the sender.
    completed: Option<i64>,
}

impl Connection {
    /// Nanoseconds from the SYN to the ACK of the last byte.
    pub(crate) fn completion(&self) -> Option<i64> {
        Some(self.completed? - self.syn?.0)
    }

    fn acknowledged(&mut self, header: &Header, now: i64) {
        let (Some(size), Some((_, first))) = (self.size, self.syn) else {
            return;
        };
        // The SYN takes a number, and a FIN may be acknowledged, too.
        let acknowledged = u64::from(header.acknowledged.wrapping_sub(first));
        if self.completed.is_none() && acknowledged > size {
            self.completed = Some(now);
        }
    }
}

/// Both links between the two namespaces.
pub(crate) struct Forwarder<'a> {
    machine: &'a Machine,
    forward: Link,
    reverse: Link,
    /// When the recording ends.
    end: i64,
    all_arrivals: bool,
    log: Log,
    buffer: Box<[u8; LARGEST]>,
}

impl<'a> Forwarder<'a> {
    pub(crate) fn new(case: &Case, machine: &'a Machine, start: i64) -> Self {
        let flow = |flow: &crate::case::Flow| Connection {
            size: flow.size_bytes,
            ..Connection::default()
        };
        Self {
            machine,
            forward: Link::forward(case, start),
            reverse: Link::reverse(case),
            end: start + nanoseconds(case.duration_s),
            all_arrivals: case.packets,
            log: Log {
                start,
                lateness: Lateness::default(),
                arrivals: Vec::with_capacity(1 << 20),
                flows: case.flows.iter().map(flow).collect(),
            },
            buffer: Box::new([0; LARGEST]),
        }
    }

    /// Until the end, or until all flows that end have.
    pub(crate) fn run(mut self) -> Result<Log> {
        let descriptors = [
            self.machine.senders.descriptor(),
            self.machine.receivers.descriptor(),
        ];
        while now() < self.end {
            self.take()?;
            self.take_acknowledgements()?;
            self.forward.release(now());
            if self.give()? {
                self.end_early();
                continue;
            }
            let next = self.forward.next().min(self.reverse.next()).min(self.end);
            let sleep = next - now() - WAKE_UP;
            if sleep > 0 {
                wait(descriptors, sleep);
            }
        }
        Ok(self.log)
    }

    /// Everything that the senders have sent.
    fn take(&mut self) -> Result<()> {
        while let Some(length) = self.machine.senders.read(&mut self.buffer[..])? {
            let packet = &self.buffer[..length];
            let Some(header) = Header::read(packet) else {
                continue;
            };
            let Some(flow) = machine::flow_of(header.destination_port, self.log.flows.len()) else {
                continue;
            };
            let (time, is_data) = (now(), header.payload > 0);
            let syn = self.log.flows[flow]
                .syn
                .get_or_insert((time, header.sequence));
            let offset = header.sequence.wrapping_sub(syn.1 + 1);
            let waiting = self.forward.waiting(time);
            let fate = self.forward.arrive(packet, is_data, time);
            if is_data && (self.all_arrivals || fate != Fate::Forwarded) {
                self.log.arrivals.push(Arrival {
                    time,
                    flow,
                    offset,
                    payload: header.payload,
                    waiting,
                    fate,
                });
            }
        }
        Ok(())
    }

    fn take_acknowledgements(&mut self) -> Result<()> {
        while let Some(length) = self.machine.receivers.read(&mut self.buffer[..])? {
            let packet = &self.buffer[..length];
            if Header::read(packet).is_some() {
                self.reverse.arrive(packet, false, now());
            }
        }
        Ok(())
    }

    /// Gives what is due; whether anything was. What a packet causes at once is taken at once.
    fn give(&mut self) -> Result<bool> {
        let mut any = false;
        while let Some(packet) = self.forward.leave(now()) {
            any = true;
            self.give_to(
                |machine| &machine.receivers,
                &packet.bytes[..packet.length],
                packet.due,
            )?;
            self.forward.recycle(packet);
            self.take_acknowledgements()?;
        }
        while let Some(packet) = self.reverse.leave(now()) {
            any = true;
            let bytes = &packet.bytes[..packet.length];
            self.give_to(|machine| &machine.senders, bytes, packet.due)?;
            if let Some(header) = Header::read(bytes) {
                let flow = machine::flow_of(header.source_port, self.log.flows.len());
                if let Some(flow) = flow {
                    self.log.flows[flow].acknowledged(&header, now());
                }
            }
            self.reverse.recycle(packet);
            self.take()?;
        }
        Ok(any)
    }

    fn give_to(&mut self, end: fn(&Machine) -> &Tun, packet: &[u8], due: i64) -> Result<()> {
        self.log.lateness.note(due, now());
        end(self.machine).write(packet)
    }

    fn end_early(&mut self) {
        let over = |flow: &Connection| flow.completed.is_some();
        if self.log.flows.iter().all(over) {
            self.end = self.end.min(now() + LINGER);
        }
    }
}

//! Interface between the emulation's loop and the hosts: it exchanges packets, reads the clock, and records flows.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use longhaul_engine::emulation::{Ends, Entering, Leaving, Outside, OutsideDrops};
use longhaul_engine::measure::Recorder;
use longhaul_units::Time;

use crate::flow::{Flow, name_of};
use crate::host::Port;
use crate::lateness::Lateness;
use crate::packet::{self, FiveTuple, Header};
use crate::socket_info::SocketInfo;
use crate::system;
use crate::tap::Tap;
use crate::tun::MTU;

/// Number of nanoseconds before a packet is due at which the loop stops sleeping, because waking up
/// takes some microseconds.
const WAKE_UP_NS: u64 = 10_000;

/// Latest state of the connected TCP sockets of all hosts; empty after a sample has used it.
pub(crate) type Sockets = Arc<Mutex<Vec<SocketInfo>>>;

/// The hosts, their packets and their flows.
pub(crate) struct Forwarder {
    ports: Vec<Port>,
    /// Index of the port with each address.
    addresses: HashMap<Ipv4Addr, usize>,
    /// Value of the monotonic clock at the start of the emulation, in nanoseconds.
    start_ns: u64,
    polled: Vec<libc::pollfd>,
    /// Indices of ports that may have packets to read.
    readable: Vec<usize>,
    buffer: Box<[u8; MTU]>,
    numbers: HashMap<FiveTuple, u32>,
    pub(crate) flows: Vec<Flow>,
    /// For each flow, the number of the flow in the opposite direction; `None` if there is none
    /// yet.
    reverse: Vec<Option<u32>>,
    /// Indices in `flows` of the flows that have carried data, in the order of their numbers in records.
    pub(crate) recorded: Vec<u32>,
    /// Flow number, in the records, of the first flow of a program; simulated flows have smaller numbers.
    first_record: u32,
    pub(crate) lateness: Lateness,
    /// Number of packets that were ignored: not IPv4, not for another host, or not with the address of
    /// the sending host.
    pub(crate) stray_pkts: u64,
    sockets: Sockets,
    tap: Option<Tap>,
}

impl Forwarder {
    pub(crate) fn new(
        ports: Vec<Port>,
        first_record: usize,
        sockets: Sockets,
        tap: Option<Tap>,
        start_ns: u64,
    ) -> Self {
        let addresses = ports.iter().enumerate();
        let addresses = addresses.map(|(number, port)| (port.address, number));
        let polled = ports.iter().map(|port| libc::pollfd {
            fd: port.tun.descriptor(),
            events: libc::POLLIN,
            revents: 0,
        });
        Self {
            addresses: addresses.collect(),
            start_ns,
            polled: polled.collect(),
            readable: Vec::with_capacity(ports.len()),
            buffer: Box::new([0; MTU]),
            numbers: HashMap::new(),
            flows: Vec::new(),
            reverse: Vec::new(),
            recorded: Vec::new(),
            first_record: first_record as u32,
            lateness: Lateness::default(),
            stray_pkts: 0,
            sockets,
            tap,
            ports,
        }
    }

    /// Returns the name of one end of a flow: host and port.
    fn end_name(&self, address: Ipv4Addr, port: u16) -> String {
        let known = self.addresses.get(&address);
        let host = known.map_or(String::new(), |&number| self.ports[number].name.clone());
        match port {
            0 => host,
            port => format!("{host}:{port}"),
        }
    }

    /// Returns the name of a flow, with both of its ends.
    pub(crate) fn name(&self, flow: &Flow) -> String {
        let tuple = flow.tuple;
        let from = self.end_name(tuple.source, tuple.source_port);
        let to = self.end_name(tuple.destination, tuple.destination_port);
        format!("{}-{}/{}", from, to, name_of(tuple.protocol))
    }

    /// Returns the number of packets that the capture does not contain.
    pub(crate) fn missed_pkts(&self) -> u64 {
        self.tap.as_ref().map_or(0, Tap::missed)
    }

    /// Returns the number of data packets that hosts have sent so far.
    pub(crate) fn data_packets(&self) -> u64 {
        self.flows.iter().map(Flow::sent_pkts).sum()
    }

    /// Returns the number of the flow with the five values `tuple`; creates the flow if it is new.
    /// Returns `None` for a new flow if no other host has the destination address, or if the source
    /// address is not that of the sending host `from`.
    fn number(&mut self, tuple: FiveTuple, from: usize, now: Time) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&tuple) {
            return Some(number);
        }
        let to = *self.addresses.get(&tuple.destination)?;
        // Packets whose source address is not the sender's own are ignored.
        self.addresses
            .get(&tuple.source)
            .filter(|&&port| port == from)?;
        if to == from {
            return None;
        }
        let number = self.flows.len() as u32;
        let ends = (self.ports[from].node, self.ports[to].node);
        self.flows.push(Flow::new(tuple, ends, now));
        self.numbers.insert(tuple, number);
        let reverse = self.numbers.get(&tuple.reversed()).copied();
        self.reverse.push(reverse);
        if let Some(other) = reverse {
            self.reverse[other as usize] = Some(number);
        }
        Some(number)
    }

    /// Counts the packet in the first `length` bytes of the buffer, sent by the host at `port`.
    /// Returns the packet's description for the engine; `None` if the packet belongs to no flow.
    fn take(&mut self, port: usize, length: usize, now: Time) -> Option<Entering> {
        let header = Header::read(&self.buffer[..length])?;
        let flow = self.number(header.flow, port, now)?;
        let of_flow = &mut self.flows[flow as usize];
        if of_flow.enter(&header, length, now) && of_flow.record.is_none() {
            of_flow.record = Some(self.recorded.len() as u32);
            self.recorded.push(flow);
        }
        let is_pure_ack = header.tcp.is_some_and(|segment| segment.is_pure_ack);
        let answered = self.reverse[flow as usize].filter(|_| is_pure_ack);
        let number = answered.zip(header.tcp).map_or(0, |(data, segment)| {
            self.flows[data as usize].acknowledgement_number(&segment)
        });
        if let Some(tap) = &mut self.tap {
            tap.packet(port, now, &self.buffer[..length]);
        }
        Some(Entering {
            flow,
            number,
            is_pure_ack,
            ecn: header.ecn,
        })
    }
}

impl Outside for Forwarder {
    fn now(&mut self) -> Time {
        Time::from_ps((system::now_ns() - self.start_ns) * 1000)
    }

    fn wait(&mut self, until: Time) {
        if !self.readable.is_empty() {
            return;
        }
        let left_ns = until.since(self.now()).as_ps() / 1000;
        if left_ns > WAKE_UP_NS {
            // If the wait is interrupted, it is just shorter.
            let _ = system::poll(&mut self.polled, left_ns - WAKE_UP_NS);
        }
    }

    fn enter(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Entering> {
        if self.readable.is_empty() {
            system::poll(&mut self.polled, 0).ok()?;
            let polled = self.polled.iter().enumerate();
            let readable = polled.filter(|(_, one)| one.revents & libc::POLLIN != 0);
            self.readable.extend(readable.map(|(number, _)| number));
        }
        while let Some(port) = self.readable.pop() {
            // A host that has more packets is served again after the other hosts.
            let read = self.ports[port].tun.read(&mut self.buffer[..]);
            let Ok(Some(length)) = read else { continue };
            self.readable.insert(0, port);
            if let Some(entering) = self.take(port, length, now) {
                bytes.extend_from_slice(&self.buffer[..length]);
                return Some(entering);
            }
            self.stray_pkts += 1;
        }
        None
    }

    fn ends(&self, flow: u32) -> Ends {
        let flow = &self.flows[flow as usize];
        let (from, to) = flow.ends;
        Ends {
            from,
            to,
            name: self.name(flow),
        }
    }

    fn leave(&mut self, packet: Leaving<'_>) {
        let length = packet.bytes.len();
        let bytes = &mut self.buffer[..length];
        bytes.copy_from_slice(packet.bytes);
        let Some(header) = Header::read(bytes) else {
            return;
        };
        if packet.is_marked {
            packet::mark(bytes);
        }
        let port = self.addresses[&header.flow.destination];
        let now = self.now();
        self.lateness.record(packet.due, now);
        // If the host accepts no more, the packet is lost, as at a receiver whose queue is full.
        let _ = self.ports[port].tun.write(&self.buffer[..length]);
        if let Some(tap) = &mut self.tap {
            tap.packet(port, packet.due, &self.buffer[..length]);
        }
        self.flows[packet.flow as usize].leave(&header, packet.entered, packet.due);
        if let Some(data) = self.reverse[packet.flow as usize]
            && let Some(segment) = header.tcp
        {
            self.flows[data as usize].acknowledge(&segment, packet.due);
        }
    }

    fn open_window(&mut self, _: Time, drops: &[OutsideDrops]) {
        note_drops(&mut self.flows, drops);
        self.flows.iter_mut().for_each(Flow::open_window);
    }

    fn sample(&mut self, now: Time, recorder: &mut dyn Recorder) {
        if let Ok(mut sockets) = self.sockets.try_lock() {
            for info in sockets.drain(..) {
                if let Some(&flow) = self.numbers.get(&info.flow) {
                    self.flows[flow as usize].note_info(info, now);
                }
            }
        }
        for &flow in &self.recorded {
            if let Some(sample) = self.flows[flow as usize].sample(now, self.first_record) {
                recorder.flow_sample(&sample);
            }
        }
    }

    fn finish(&mut self, _: Time, drops: &[OutsideDrops]) {
        note_drops(&mut self.flows, drops);
    }
}

fn note_drops(flows: &mut [Flow], drops: &[OutsideDrops]) {
    for (flow, &drops) in flows.iter_mut().zip(drops) {
        flow.note_drops(drops);
    }
}

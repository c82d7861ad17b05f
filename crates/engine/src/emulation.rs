//! Emulation: a simulation at the pace of the wall clock, through which packets of real programs travel.
//!
//! [`crate::simulation::emulate`] runs the event loop of a simulation, but processes no event
//! before its time on the clock of [`Outside`]. Packets that hosts outside have sent enter the
//! network of the configuration between two events, and are handed back when they have reached the
//! far end of their last link. Links, queue disciplines and impairments are those of any
//! simulation, and so are flows of the configuration, which share the links.
//!
//! Times of arrivals are exact as long as the loop keeps up: a packet's transit through the network
//! is computed from the time at which it was taken from its host. If the loop is late, the packet
//! leaves late ([`Leaving::due`]).

use longhaul_units::Time;

use crate::measure::Recorder;
use crate::stack::EcnCodepoint;

/// A packet that a host outside has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entering {
    /// Number of its flow: packets one way between the same two ends. Numbers are given in order, from zero.
    pub flow: u32,
    /// Number that distinguishes the packet from the others of the flow; of a cumulative acknowledgement, the next
    /// byte expected.
    pub number: u64,
    /// True for a cumulative acknowledgement of TCP without any other information, which a later one can replace
    /// (RFC 3449, section 5.2.1).
    pub is_pure_ack: bool,
    /// ECN field of its IP header.
    pub ecn: EcnCodepoint,
}

/// A packet that leaves the network for a host outside.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Number of its flow.
    pub flow: u32,
    /// Time at which it entered the network.
    pub entered: Time,
    /// Time at which it has reached the far end of its last link.
    pub due: Time,
    /// True if a link has marked it: its ECN field has become congestion experienced.
    pub is_marked: bool,
    /// Bytes of the packet, as they entered.
    pub bytes: &'a [u8],
}

/// Nodes between which the packets of a flow outside travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Node of the sending host.
    pub from: usize,
    /// Node of the receiving host. The configuration has a path to it.
    pub to: usize,
    /// Unique name of the flow, from which delay boxes draw its values.
    pub name: String,
}

/// Drops and marks of one flow outside, by all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideDrops {
    /// Packets dropped.
    pub dropped_pkts: u64,
    /// Packets marked.
    pub marked_pkts: u64,
}

/// The hosts outside the network, and the clock.
pub trait Outside {
    /// Returns the time since the beginning of the emulation, which never goes back.
    fn now(&mut self) -> Time;
    /// Waits until a time, or until a host has sent a packet.
    fn wait(&mut self, until: Time);
    /// Takes the next packet that a host has sent, at `now`, and writes its bytes to the empty `bytes`; none if there
    /// is no packet.
    fn enter(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Entering>;
    /// Returns the ends of a flow whose first packet has entered.
    fn ends(&self, flow: u32) -> Ends;
    /// Hands a packet to its host.
    fn leave(&mut self, packet: Leaving<'_>);
    /// Begins the measurement window. `drops` holds the drops and marks so far by flow, up to the
    /// last flow with any.
    fn open_window(&mut self, now: Time, drops: &[OutsideDrops]);
    /// Samples the flows outside.
    fn sample(&mut self, now: Time, recorder: &mut dyn Recorder);
    /// Ends the emulation. `drops` holds all drops and marks by flow, up to the last flow with any.
    fn finish(&mut self, now: Time, drops: &[OutsideDrops]);
}

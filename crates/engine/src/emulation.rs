//! Emulation: a simulation at the pace of the wall clock. Packets of real programs travel through its network.
//!
//! [`crate::simulation::emulate`] runs the event loop of a simulation, but waits for the time of each event on the
//! clock of [`Outside`]. Between two events, packets of outside hosts enter the configured network. They are handed
//! back at the far end of their last link. Links, queue disciplines and impairments are those of any simulation; flows
//! of the configuration share the links.
//!
//! Times of arrivals are exact as long as the loop is not late: the transit of a packet begins when the packet is taken
//! from its host. If the loop is late, the packet leaves late ([`Leaving::due`]).

use longhaul_units::Time;

use crate::measure::Recorder;
use crate::stack::EcnCodepoint;

/// A packet that an outside host has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entering {
    /// Number of the packet's flow, which consists of all packets from one host to another. Flows are numbered from
    /// zero in order of appearance.
    pub flow: u32,
    /// Number that distinguishes the packet from others of the flow. In a cumulative acknowledgement, the next byte
    /// expected.
    pub number: u64,
    /// True for a cumulative acknowledgement of TCP without any other information. A later acknowledgement can replace
    /// such an acknowledgement (RFC 3449, section 5.2.1).
    pub is_pure_ack: bool,
    /// ECN field of the packet's IP header.
    pub ecn: EcnCodepoint,
}

/// A packet that leaves the network for an outside host.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Number of the packet's flow.
    pub flow: u32,
    /// Time at which the packet entered the network.
    pub entered: Time,
    /// Time at which the packet reached the far end of its last link.
    pub due: Time,
    /// True if a link has marked the packet: its ECN field must be set to CE (congestion experienced).
    pub is_marked: bool,
    /// Bytes of the packet, as they entered.
    pub bytes: &'a [u8],
}

/// Nodes at the ends of an outside flow (all packets from one outside host to another), and the flow's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Node of the sending host.
    pub from: usize,
    /// Node of the receiving host. The configuration must have a path to it.
    pub to: usize,
    /// Unique name of the flow. Delay boxes derive the flow's random values from it.
    pub name: String,
}

/// Drops and marks of one outside flow, on all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideDrops {
    /// Number of packets dropped.
    pub dropped_pkts: u64,
    /// Number of packets marked.
    pub marked_pkts: u64,
}

/// The hosts outside the network, with the clock of the emulation.
pub trait Outside {
    /// Returns the time since the beginning of the emulation. The time never goes back.
    fn now(&mut self) -> Time;
    /// Waits, at most until the time `until`. May return earlier, and does so if a host sends a packet.
    fn wait(&mut self, until: Time);
    /// Takes the next packet that a host has sent, at `now`, and writes the packet's bytes to the empty buffer `bytes`.
    /// Returns `None` if there is no packet.
    fn enter(&mut self, now: Time, bytes: &mut Vec<u8>) -> Option<Entering>;
    /// Returns the end nodes and the name of a flow whose first packet has entered.
    fn ends(&self, flow: u32) -> Ends;
    /// Hands a packet to the host that receives it.
    fn leave(&mut self, packet: Leaving<'_>);
    /// Records that the measurement window begins. `drops` contains the drops and marks so far by flow, up to the last
    /// flow that has any.
    fn open_window(&mut self, now: Time, drops: &[OutsideDrops]);
    /// Passes the state of all flows between outside hosts to the recorder, at a sampling point.
    fn sample(&mut self, now: Time, recorder: &mut dyn Recorder);
    /// Records the end of the emulation. `drops` contains all drops and marks by flow, up to the last flow with any.
    fn finish(&mut self, now: Time, drops: &[OutsideDrops]);
}

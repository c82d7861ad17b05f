//! The sending end of a flow: its handshake, its window, and what it still has to send.

mod epochs;
mod trace;

pub(crate) use self::trace::Marks;

use longhaul_congestion::CongestionState;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::rtt::RoundTrips;
use super::{Env, Timer};
use crate::network::{FlowId, Kind, Packet};
use longhaul_engine::prefetch;

/// Wait after the first SYN (spec 004a B.5.3): it doubles with each.
const SYN_WAIT: Span = Span::from_secs(3);
/// SYNs sent before a source gives up.
const SYNS: u8 = 3;

/// How far a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Connecting,
    Transferring,
    Over,
}

/// Where a flow's ends are, and what its source's host can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoints {
    pub(crate) access: u16,
    pub(crate) receiver_access: u16,
    pub(crate) speed: u16,
    /// Propagation delay of the path, both ways.
    pub(crate) propagation: Span,
    /// What the first smoothed round-trip time has beyond it.
    pub(crate) allowance: Span,
}

/// What a timer has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// The flow goes on.
    No,
    /// The SYN was sent again.
    Again,
    /// No connection came about.
    Failed,
}

/// What happened to a flow since the last interval ended.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) naks: u32,
    pub(crate) timeouts: u32,
    pub(crate) increases: u32,
}

/// The sending end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SendingEnd {
    flow: FlowId,
    phase: Phase,
    /// Whether it has a turn coming: then it does not send before.
    paced: bool,
    /// Whether it is in its first slow start.
    initial_slow_start: bool,
    speed: u16,
    syns: u8,
    access: u16,
    receiver_access: u16,
    /// Number of the next data packet; one less were sent.
    next: u64,
    /// Highest number that the receiver expects.
    highest: u64,
    /// Answers until the file is delivered.
    left: u64,
    /// Answers with lower numbers tell of packets sent before the last loss or timeout.
    recover: u64,
    /// The answer that ends the current round trip, counted in `round`.
    round_end: u64,
    round: u64,
    size: u64,
    trips: RoundTrips,
    last_sent: Time,
    /// When the entry that is valid of those in the timers comes up.
    timer: Time,
    pub(crate) connected: Time,
    pub(crate) interval: Interval,
    naks: u64,
    timeouts: u64,
    congestion: CongestionState,
}

impl SendingEnd {
    /// A flow that is not connected yet, with `congestion` that no flow has used.
    pub(crate) fn new(flow: FlowId, ends: &Endpoints, congestion: CongestionState) -> Self {
        Self {
            flow,
            phase: Phase::Connecting,
            paced: false,
            initial_slow_start: true,
            speed: ends.speed,
            syns: 0,
            access: ends.access,
            receiver_access: ends.receiver_access,
            next: 1,
            highest: 1,
            left: 0,
            recover: 0,
            round_end: 1,
            round: 0,
            size: 0,
            trips: RoundTrips::new(ends.propagation, ends.allowance),
            last_sent: Time::ZERO,
            timer: Time::NEVER,
            connected: Time::NEVER,
            interval: Interval::default(),
            naks: 0,
            timeouts: 0,
            congestion,
        }
    }

    /// Whether it is of this flow, and not of one that has its place now.
    #[inline]
    pub(crate) fn is_of(&self, flow: FlowId) -> bool {
        self.flow == flow
    }

    /// Asks for the memory that the next answer will be about, which may be anywhere.
    #[inline]
    pub(crate) fn expect_answer(&self) {
        prefetch(&self.flow);
        prefetch(&self.next);
        prefetch(&self.trips);
        prefetch(&self.interval);
        prefetch(&self.congestion);
        prefetch(&self.congestion.window);
    }

    /// Sends a SYN, and waits for the answer.
    pub(crate) fn connect(&mut self, env: &mut Env) {
        let now = env.network.now;
        let syn = Packet::new(Kind::Syn, 0, self.flow, self.receiver_access, now);
        env.network.send(self.access, syn);
        self.trips.deadline = now + SYN_WAIT * (1 << self.syns);
        self.syns += 1;
        self.set_timer(env);
    }

    /// Whether it waits to be connected.
    pub(crate) fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// Whether it transfers data.
    pub(crate) fn is_active(&self) -> bool {
        self.phase == Phase::Transferring
    }

    /// Starts to send a file of `size` packets.
    pub(crate) fn begin(&mut self, size: u64, env: &mut Env) {
        self.phase = Phase::Transferring;
        (self.size, self.left) = (size, size);
        self.connected = env.network.now;
        self.trips.restart(self.connected);
        self.set_timer(env);
        self.send(env);
    }

    /// The flow sends no more, and listens no more.
    pub(crate) fn stop(&mut self) {
        self.phase = Phase::Over;
    }

    /// The flow is over, and its place waits for the `next` one. Packets and timers that are still on
    /// their way find that out.
    pub(crate) fn close(&mut self, next: FlowId) {
        self.stop();
        self.flow = next;
    }

    /// An entry of its timers has come up.
    pub(crate) fn on_expiry(&mut self, env: &mut Env) -> Expired {
        let now = env.network.now;
        if self.timer != now || self.phase == Phase::Over {
            return Expired::No;
        }
        self.timer = Time::NEVER;
        if now < self.trips.deadline {
            self.set_timer(env);
        } else if self.phase == Phase::Transferring {
            self.on_timeout(env);
        } else if self.syns < SYNS {
            self.connect(env);
            return Expired::Again;
        } else {
            return Expired::Failed;
        }
        Expired::No
    }

    /// The turn of its host has come.
    #[inline]
    pub(crate) fn on_pace(&mut self, env: &mut Env) {
        self.paced = false;
        if self.phase == Phase::Transferring {
            self.send(env);
        }
    }

    /// Sends one data packet if the window and the host allow it (spec 004a B.5.5); if they allow
    /// another one, its turn comes when the host has taken its time.
    #[inline]
    fn send(&mut self, env: &mut Env) {
        if self.paced || !self.may_send() {
            return;
        }
        let network = &mut env.network;
        let now = network.now;
        let free = self.last_sent + network.gap(self.speed);
        if self.next > 1 && now < free {
            // Rarely: answers come faster than the host sends.
            self.paced = true;
            env.timers.push(free, Timer::Pace(self.flow));
            return;
        }
        let data = Packet::new(Kind::Data, self.next, self.flow, self.receiver_access, now);
        network.send(self.access, data);
        env.packets_in += 1;
        self.next += 1;
        self.last_sent = now;
        if self.may_send() {
            self.paced = true;
            env.network.pace(self.speed, self.flow);
        }
    }

    /// Whether the window, and what is left of the file, have a packet more than is under way (spec
    /// 004b equations 41 and 42).
    #[inline]
    fn may_send(&self) -> bool {
        let flying = self.next - self.highest;
        // Of a positive number the conversion takes the whole part.
        flying < (self.congestion.window.cwnd() as u64).min(self.left)
    }

    /// Sees to it that an entry in the timers comes up by the deadline.
    #[inline]
    fn set_timer(&mut self, env: &mut Env) {
        if self.trips.deadline < self.timer {
            self.timer = self.trips.deadline;
            env.timers.push(self.timer, Timer::Expiry(self.flow));
        }
    }

    /// Packets of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Data packets sent.
    pub(crate) fn sent(&self) -> u64 {
        self.next - 1
    }

    /// SYNs sent.
    pub(crate) fn syns(&self) -> u64 {
        u64::from(self.syns)
    }

    /// Negative acknowledgements and timeouts so far.
    pub(crate) fn signals(&self) -> (u64, u64) {
        (self.naks, self.timeouts)
    }

    /// Smoothed round-trip time.
    pub(crate) fn srtt(&self) -> Span {
        self.trips.srtt
    }

    /// [`CongestionState::share_tables`].
    pub(crate) fn share_tables(&mut self, like: &CongestionState) {
        self.congestion.share_tables(like);
    }

    /// Its congestion control.
    pub(crate) fn congestion(&self) -> &CongestionState {
        &self.congestion
    }

    /// Whether it is in its first slow start.
    pub(crate) fn in_initial_slow_start(&self) -> bool {
        self.initial_slow_start
    }
}

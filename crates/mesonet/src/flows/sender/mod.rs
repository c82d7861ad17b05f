//! The sender of a flow: handshake, window, timers, and pacing at the speed of its host.

mod epochs;
mod feedback;
mod trace;

pub(crate) use self::trace::TraceMarks;

use longhaul_congestion::CongestionState;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::feedback::Feedback;
use super::rtt::RttEstimator;
use super::{Env, Timer};
use crate::network::{FlowId, Kind, Packet};
use longhaul_kernel::prefetch::prefetch;

/// Size of a packet in bytes, for algorithms that need one (NIST SP 500-282, chapter 3).
const SEGMENT_BYTES: u64 = 1500;
/// Wait after the first SYN; it doubles with each further SYN (NIST SP 500-282, equations 1 to 3).
const SYN_WAIT: Span = Span::from_secs(3);
/// Number of SYNs that a source sends before it gives up.
const SYNS: u8 = 3;

/// Phase of a flow at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// The flow is open, but its start time has not been reached.
    Opened,
    Connecting,
    Transferring,
    Over,
}

/// Location and speed of a sender, and its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderSetup {
    pub(crate) access: u16,
    pub(crate) receiver_access: u16,
    pub(crate) receiver: FlowId,
    pub(crate) speed: u16,
    /// Round-trip propagation delay of the path.
    pub(crate) propagation: Span,
    /// Difference between the initial smoothed round-trip time and the propagation delay.
    pub(crate) allowance: Span,
}

/// Outcome of a timer entry that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerOutcome {
    Continue,
    /// The SYN was sent again.
    SynRetransmitted,
    /// The source has given up: the flow cannot be connected.
    Failed,
}

/// Counters of a flow in the current measurement interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) naks: u32,
    pub(crate) timeouts: u32,
    pub(crate) increases: u32,
    /// Total growth of the window by acknowledgements, in packets.
    pub(crate) growth: f64,
}

/// The sending end of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    flow: FlowId,
    /// The flow's id at the receiver, the destination of data packets.
    receiver: FlowId,
    phase: Phase,
    /// True while a pacing timer is pending; the flow sends nothing before it expires.
    pacing: bool,
    /// True while the flow is in initial slow start.
    initial_slow_start: bool,
    speed: u16,
    syns: u8,
    access: u16,
    receiver_access: u16,
    /// Next sequence number; the number of packets sent is one less.
    next: u64,
    /// Highest acknowledgement number received; `next` at a later timeout. Packets from this number on are in flight.
    highest: u64,
    /// Number of acknowledgements until the file is delivered.
    remaining: u64,
    /// Next sequence number at the last loss or timeout; zero before the first one. Acknowledgements
    /// with lower numbers belong to an earlier loss epoch. The acknowledgement of the last packet sent
    /// before the loss or timeout has this number, so it belongs to the new epoch.
    epoch_start: u64,
    /// Smallest acknowledgement number that ends the current round trip.
    round_end: u64,
    round: u64,
    size: u64,
    rtt: RttEstimator,
    last_sent: Time,
    /// Time of the flow's only valid [`Timer::Expiry`] entry in the timer list; [`Time::NEVER`] without
    /// one. All its other entries of this kind are stale.
    timer: Time,
    pub(crate) connected: Time,
    pub(crate) interval: Interval,
    naks: u64,
    timeouts: u64,
    /// Feedback for algorithms that measure delivery rates or pace; `None` for other algorithms.
    feedback: Option<Box<Feedback>>,
    congestion: CongestionState,
}

impl Sender {
    /// Returns a flow that is not connected yet, with the initial state of its congestion control.
    pub(crate) fn new(flow: FlowId, ends: &SenderSetup, congestion: CongestionState) -> Self {
        Self {
            flow,
            receiver: ends.receiver,
            phase: Phase::Opened,
            pacing: false,
            initial_slow_start: true,
            speed: ends.speed,
            syns: 0,
            access: ends.access,
            receiver_access: ends.receiver_access,
            next: 1,
            highest: 1,
            remaining: 0,
            epoch_start: 0,
            round_end: 1,
            round: 0,
            size: 0,
            rtt: RttEstimator::new(ends.propagation, ends.allowance),
            last_sent: Time::ZERO,
            timer: Time::NEVER,
            connected: Time::NEVER,
            interval: Interval::default(),
            naks: 0,
            timeouts: 0,
            feedback: Feedback::new(&congestion),
            congestion,
        }
    }

    /// Returns true if this entry of the table belongs to `flow`; false after the sender of `flow` is closed.
    #[inline]
    pub(crate) fn is_of(&self, flow: FlowId) -> bool {
        self.flow == flow
    }

    /// Prefetches the fields that an acknowledgement reads and writes.
    #[inline]
    pub(crate) fn prefetch_for_ack(&self) {
        prefetch(&self.flow);
        prefetch(&self.next);
        prefetch(&self.rtt);
        prefetch(&self.interval);
        prefetch(&self.congestion);
        prefetch(&self.congestion.window);
    }

    /// Sends a SYN and sets its timer.
    pub(crate) fn connect(&mut self, env: &mut Env) {
        let now = env.network.now;
        let syn = Packet::new(Kind::Syn, 0, self.receiver, self.receiver_access, now);
        env.network.send(self.access, syn);
        self.phase = Phase::Connecting;
        self.rtt.deadline = now + SYN_WAIT * (1 << self.syns);
        self.syns += 1;
        self.set_timer(env);
    }

    pub(crate) fn receiver(&self) -> FlowId {
        self.receiver
    }

    pub(crate) fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// Returns true if the flow transfers data.
    pub(crate) fn is_active(&self) -> bool {
        self.phase == Phase::Transferring
    }

    /// Processes the answer to a SYN: starts the transfer of a file of `size` packets.
    pub(crate) fn on_syn_ack(&mut self, packet: &Packet, size: u64, env: &mut Env) {
        if env.handshake_rtt {
            let rtt = env.network.now.since(packet.created) + env.rtt_excess;
            self.rtt.on_handshake(rtt);
        }
        self.begin(size, env);
    }

    /// Starts the transfer of a file of `size` packets.
    pub(crate) fn begin(&mut self, size: u64, env: &mut Env) {
        self.phase = Phase::Transferring;
        (self.size, self.remaining) = (size, size);
        self.connected = env.network.now;
        self.rtt.restart(self.connected);
        self.set_timer(env);
        self.send(env);
    }

    /// Stops the flow: it sends nothing and ignores all arrivals.
    pub(crate) fn stop(&mut self) {
        self.phase = Phase::Over;
    }

    /// Closes the flow; its slot is free for the flow `next`. Stale packets and timers of the
    /// closed flow are ignored.
    pub(crate) fn close(&mut self, next: FlowId) {
        self.stop();
        self.flow = next;
    }

    /// Postpones a timer entry, due at `time`, to the retransmission deadline if the deadline is after the end of the
    /// simulation window. Returns the entry's due time; [`Time::NEVER`] if the entry is no longer valid.
    pub(crate) fn postpone_timer(&mut self, time: Time, window_end: Time) -> Time {
        if self.timer != time || self.phase == Phase::Over {
            return Time::NEVER;
        }
        if self.rtt.deadline > window_end {
            self.timer = self.rtt.deadline;
        }
        self.timer
    }

    /// Processes a timer entry that is due.
    pub(crate) fn on_timer_expired(&mut self, env: &mut Env) -> TimerOutcome {
        let now = env.network.now;
        if self.timer != now || self.phase == Phase::Over {
            return TimerOutcome::Continue;
        }
        self.timer = Time::NEVER;
        if now < self.rtt.deadline {
            self.set_timer(env);
        } else if self.phase == Phase::Transferring {
            self.on_timeout(env);
        } else if self.syns < SYNS {
            self.connect(env);
            return TimerOutcome::SynRetransmitted;
        } else {
            return TimerOutcome::Failed;
        }
        TimerOutcome::Continue
    }

    /// Continues to send after the time between two packets ([`Self::pace`]) has elapsed.
    #[inline]
    pub(crate) fn on_pace(&mut self, env: &mut Env) {
        self.pacing = false;
        if self.phase == Phase::Transferring {
            self.send(env);
        }
    }

    /// Sends one data packet if the window and the pace ([`Self::pace`]) allow it. Sets the pacing timer
    /// if the packet has to wait, or if the window allows another one (NIST SP 500-282, chapter 3).
    #[inline]
    fn send(&mut self, env: &mut Env) {
        if self.pacing || !self.may_send() {
            return;
        }
        let network = &mut env.network;
        let now = network.now;
        let free = self.last_sent + self.pace(network.packet_interval(self.speed));
        if self.next > 1 && now < free {
            // This is rare: acknowledgements arrive faster than the host sends, or the algorithm
            // paces.
            self.pacing = true;
            env.timers.push(free, Timer::Pace, self.flow);
            return;
        }
        let (to, number) = (self.receiver, self.next);
        let data = Packet::new(Kind::Data, number, to, self.receiver_access, now);
        network.send(self.access, data);
        env.packets_in += 1;
        self.next += 1;
        self.last_sent = now;
        if let Some(feedback) = &mut self.feedback {
            feedback.on_sent(number, self.size - self.remaining, now);
        }
        if self.may_send() {
            self.pacing = true;
            let interval = env.network.packet_interval(self.speed);
            let paced = self.pace(interval);
            if paced == interval {
                env.network.pace(self.speed, self.flow);
            } else {
                env.timers.push(now + paced, Timer::Pace, self.flow);
            }
        }
    }

    /// Returns the time from one packet to the next: the `interval` of the host, or longer if the
    /// algorithm paces.
    #[inline]
    fn pace(&self, interval: Span) -> Span {
        if self.feedback.is_none() {
            return interval;
        }
        let paced = self.congestion.pacing_rate();
        paced.map_or(interval, |rate| {
            interval.max(Span::from_secs_f64(1.0 / rate.packets_per_s(SEGMENT_BYTES)))
        })
    }

    /// Returns true if the number of packets in flight is less than the window, and less than the number of packets of
    /// the file that have not been acknowledged (NIST SP 500-282, equations 41 and 42).
    #[inline]
    fn may_send(&self) -> bool {
        let in_flight = self.next - self.highest;
        // The conversion truncates.
        in_flight < (self.congestion.window.cwnd() as u64).min(self.remaining)
    }

    /// Adds an entry for the retransmission deadline to the timer list, unless the flow has an earlier entry there.
    #[inline]
    fn set_timer(&mut self, env: &mut Env) {
        if self.rtt.deadline < self.timer {
            self.timer = self.rtt.deadline;
            env.timers.push(self.timer, Timer::Expiry, self.flow);
        }
    }

    /// Returns the size of the file in packets; zero until the flow is connected, and `u64::MAX` for a long-lived flow.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the number of data packets sent.
    pub(crate) fn sent(&self) -> u64 {
        self.next - 1
    }

    pub(crate) fn syns(&self) -> u64 {
        u64::from(self.syns)
    }

    /// Returns the numbers of negative acknowledgements and of timeouts so far.
    pub(crate) fn signals(&self) -> (u64, u64) {
        (self.naks, self.timeouts)
    }

    pub(crate) fn srtt(&self) -> Span {
        self.rtt.srtt
    }

    /// Replaces the lookup tables of the flow's congestion control by the equal tables of `like`, so
    /// that flows share the memory.
    pub(crate) fn share_tables(&mut self, like: &CongestionState) {
        self.congestion.share_tables(like);
    }

    /// Returns the flow's congestion control.
    pub(crate) fn congestion(&self) -> &CongestionState {
        &self.congestion
    }

    pub(crate) fn in_initial_slow_start(&self) -> bool {
        self.initial_slow_start
    }
}

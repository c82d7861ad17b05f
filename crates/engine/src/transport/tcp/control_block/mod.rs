//! The state of a connection's sending end (in RFC 9293, the transmission control block) and operations on it. All loss
//! recovery algorithms share it.

mod accounting;
mod acknowledgements;
mod messages;
mod plain;
mod reductions;
mod round_trips;
mod sending;

use std::sync::Arc;

use longhaul_congestion::{
    CongestionControl, CongestionState, Controller, Idle, Limit, Phases, Window,
};
use longhaul_units::{Span, Time};

use self::messages::ShortSegments;
use self::plain::Plain;
use self::sending::Pace;
use super::ack::Ack;
use super::extras::Extras;
use super::round_trips::RoundTrips;
use super::rto::{RttEstimator, Timing};
use super::window_usage::FlightPeaks;
use super::wire::Wire;
use crate::config::{RttClock, Tcp};
use crate::measure::FlowCounters;
use crate::network::Path;
use crate::prefetch::{prefetch, prefetch_lines};
use crate::random::Stream;
use crate::schedule::timers::Timer;
use crate::transport::Environment;

/// Cause of the last reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastReduction {
    None,
    Loss,
    Ecn,
    Timeout,
    /// A reduction that was undone or, with ns-2's `Reno` and `Newreno`, a loss whose recovery has ended. Other
    /// recoveries leave `Loss` at their end.
    Recovered,
}

/// Restriction on the departure of segments, apart from the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Segments leave at once, in any number.
    Freely,
    /// No segment waits for a send event. Pacing, jitter or the limit on bursts may delay the next segments.
    AtOnce,
    /// Segments leave two at a time.
    InPairs,
    /// Segments leave at the pending send event, after a random delay or a pacing gap.
    Later,
}

impl Sending {
    /// Returns the state of a new connection: `Freely` if only the window can ever delay its segments.
    fn new(congestion: &CongestionState, config: &Tcp) -> Self {
        let unbounded = config.max_burst.is_none() && config.send_jitter == Span::ZERO;
        match Self::after_wait(congestion) {
            Self::AtOnce if unbounded && config.pacing.is_none() && !congestion.may_pace() => {
                Self::Freely
            }
            sending => sending,
        }
    }

    /// Returns the state in which no segment waits: `InPairs` if the algorithm needs packet pairs, otherwise `AtOnce`.
    fn after_wait(congestion: &CongestionState) -> Self {
        if congestion.needs().pairs {
            Self::InPairs
        } else {
            Self::AtOnce
        }
    }
}

/// State that all loss recovery algorithms share, laid out for cache locality. With a thousand connections, the state
/// of each is usually not in the L1 and L2 caches. The fields used for every acknowledgement and every segment are
/// therefore in few cache lines (tested): the fields up to `short`, and the beginnings of `congestion` and its
/// algorithm.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct ControlBlock {
    pub(super) config: Arc<Tcp>,
    /// Index among the TCP connections.
    pub(super) index: u32,
    pub(super) path: Path,
    full_bytes: u16,
    /// True with ns-2's recoveries (`Recovery::is_ns2`); some rules of ns-2 then replace those of the RFCs.
    ns2: bool,
    /// True if the algorithm controls the window at all times; the transport's own rules then do not apply.
    pub(super) controls_cwnd: bool,
    pub(super) established: bool,
    pub(super) sending: Sending,
    pub(super) limit: Limit,
    pub(super) last_reduction: LastReduction,
    /// The oldest segment not acknowledged.
    pub(super) una: u64,
    /// The next segment to send. It goes back to `una` after a timeout or Tahoe's fast retransmit, and is then below
    /// `max_sent`; with the recoveries `Sack` and `Rack`, it never goes back.
    pub(super) nxt: u64,
    /// One past the highest segment sent.
    pub(super) max_sent: u64,
    /// One past the last segment that the application has to send.
    pub(super) end: u64,
    /// Number of the last segment, which has the FIN; `u64::MAX` while the application may send more data, since the
    /// last segment is not known yet.
    pub(super) fin: u64,
    /// Maximum number of segments in flight that the receive window and the send buffer allow.
    pub(super) peer_window: u64,
    /// Number of segments above the cumulative acknowledgement that are known to be delivered: selectively acknowledged
    /// segments or, without SACK, one for each duplicate acknowledgement.
    pub(super) sacked_or_dupacked: u64,
    /// State that only some algorithms and configurations need; `None` if this connection needs none of it.
    extras: Option<Box<Extras>>,
    /// Data segments known to be delivered so far.
    pub(super) delivered: u64,
    /// The segment being timed. Used on connections without timestamps and, if all segments are timed, for the SYN.
    timed: u64,
    /// Time at which the timed segment was sent; [`Time::NEVER`] while no segment is timed.
    timed_since: Time,
    round_end: u64,
    pub(super) rtt: RttEstimator,
    pub(super) timer: Timer,
    pub(super) cwnd_since: Time,
    /// Integral of the congestion window over time, in segments times picoseconds.
    pub(super) cwnd_integral_ps: f64,
    /// Time since which all data is acknowledged and the application has closed the connection; [`Time::NEVER`] before.
    pub(super) finish: Time,
    /// Round-trip samples so far.
    pub(super) trips: RoundTrips,
    pub(super) dupacks: u32,
    /// True if the next ECN-capable segment has to carry CWR; always false without ECN.
    cwr_pending: bool,
    syn_lost: bool,
    plain: Plain,
    /// True if a round trip has begun that has not been reported to the algorithm.
    new_round: bool,
    short: ShortSegments,
    /// The flow's id in records.
    pub(super) flow: u32,
    round: u64,
    pub(super) limit_since: Time,
    pub(super) congestion: CongestionState,
    /// Send time of the last segment. Only exact once all data is sent: segments on the fast path do not update this
    /// time, but the last segment of the data never takes the fast path ([`Self::leaves_plainly`]).
    last_sent: Time,
    /// Time since which nothing is outstanding; meaningless while segments are outstanding.
    idle_since: Time,
    /// Round-trip time of the handshake; zero if the handshake gave none.
    handshake_rtt: Span,
    /// Largest numbers of segments in flight in recent round trips. Recorded only while something other than the window
    /// may limit the sender, and when a mark is echoed.
    peaks: FlightPeaks,
    /// One past the highest segment sent before the last reduction of the window, or before the last mark that the
    /// algorithm ignored. It is 1 at first, and again after a recovery of `Ns2Sack`.
    pub(super) recover: u64,
    /// Data segments considered lost so far.
    pub(super) lost: u64,
    /// True if congestion control has tolerated the losses of the current recovery so far: the window was not reduced.
    tolerates_losses: bool,
    pace: Pace,
    pub(super) stream: Stream,
    /// Payload of retransmitted packets.
    pub(super) retransmitted_bytes: u64,
    /// Counters of the flow. [`Self::counters`] fills in those that follow from other fields.
    pub(super) counters: FlowCounters,
}

impl ControlBlock {
    /// Number of cache lines from the beginning of the structure to the first number in its field `short`, inclusive.
    const FIRST_LINES: usize = 4;

    #[inline(always)]
    pub(super) fn new(
        index: u32,
        flow: u32,
        path: Path,
        config: Arc<Tcp>,
        controller: &Controller,
        mut stream: Stream,
    ) -> Self {
        let peer_window = config
            .receive_window
            .min(config.send_buffer.unwrap_or(u64::MAX));
        let ssthresh = config
            .initial_ssthresh
            .unwrap_or(config.receive_window as f64);
        let window = Window::new(
            config.initial_window,
            config.slow_start.initial_ssthresh(ssthresh),
            f64::INFINITY,
            config.rounding,
        )
        .with_min_cwnd(config.min_cwnd);
        let controls_cwnd = controller.phases() == Phases::All;
        let congestion =
            CongestionState::new(window, config.slow_start.clone(), controller.clone());
        let sending = Sending::new(&congestion, &config);
        let rtt = RttEstimator::new(&config.rto, tick_phase(&config, &mut stream))
            .timed_by(Timing::new(&config));
        let wire = Wire::new(&config);
        let (end, short) = (wire.end(), ShortSegments::last_of(&wire));
        let full_bytes =
            config.mss_bytes + config.header_bytes + config.timestamps.bytes().unwrap_or(0);
        Self {
            index,
            flow,
            path,
            full_bytes: full_bytes as u16,
            ns2: config.recovery.is_ns2(),
            una: 0,
            nxt: 0,
            max_sent: 0,
            end,
            fin: end - 1,
            short,
            peer_window,
            controls_cwnd,
            sacked_or_dupacked: 0,
            delivered: 0,
            lost: 0,
            extras: Extras::new(&congestion, &config),
            congestion,
            recover: 1,
            dupacks: 0,
            last_reduction: LastReduction::None,
            cwr_pending: false,
            tolerates_losses: false,
            plain: Plain::Nothing,
            syn_lost: false,
            new_round: false,
            established: false,
            rtt,
            timer: Timer::IDLE,
            timed: 0,
            timed_since: Time::NEVER,
            round: 0,
            round_end: 1,
            sending,
            pace: Pace::default(),
            stream,
            retransmitted_bytes: 0,
            counters: FlowCounters::default(),
            limit: Limit::Application,
            limit_since: Time::ZERO,
            last_sent: Time::ZERO,
            idle_since: Time::ZERO,
            handshake_rtt: Span::ZERO,
            peaks: FlightPeaks::default(),
            cwnd_since: Time::ZERO,
            cwnd_integral_ps: 0.0,
            finish: Time::NEVER,
            trips: RoundTrips::default(),
            config,
        }
    }

    /// Resets the round-trip time estimator, with a new phase of the clock: ns-2 resets all agents when a run begins.
    pub(super) fn reset_clock(&mut self) {
        let phase = tick_phase(&self.config, &mut self.stream);
        self.rtt = RttEstimator::new(&self.config.rto, phase).timed_by(self.rtt.timing);
    }

    /// Establishes the connection: the SYN is acknowledged. The window opens to its initial size or, if a SYN was lost,
    /// to one segment. It does not grow for this acknowledgement (RFC 5681 section 3.1).
    #[cold]
    pub(super) fn establish(&mut self, ack: Ack, env: &mut impl Environment) {
        self.established = true;
        self.process_cumulative_ack::<false>(ack, env);
        self.on_handshake(ack, env.now());
        self.note_handshake();
        let initial = if self.syn_lost {
            if !self.ns2 {
                self.rtt.reinitialize(&self.config.rto);
            }
            1.0
        } else {
            self.config.initial_window
        };
        self.congestion.open_window(initial);
        self.begin_dummies(env);
    }

    /// Begins in the established state, since the other side has opened the connection. The other side's SYN was
    /// answered at the time `answered`, and this answer was acknowledged at the time `acknowledged`.
    #[cold]
    pub(super) fn join(&mut self, (answered, acknowledged): (Time, Time)) {
        self.established = true;
        (self.una, self.nxt, self.max_sent) = (1, 1, 1);
        self.rtt.sample(&self.config.rto, answered, acknowledged);
        self.note_handshake();
    }

    /// Stores the handshake's round-trip time, and lets the next sample replace it as the minimum. A SYN is shorter
    /// than a data segment: its round-trip time would be too small a minimum for data.
    fn note_handshake(&mut self) {
        self.handshake_rtt = self.rtt.min_rtt();
        self.rtt.replace_min_rtt();
    }

    /// Returns the shortest round-trip time so far, of the SYN or of data. The SYN is included because all samples of
    /// data may contain the ACK delay, while a later segment, such as a probe, may be acknowledged without this delay.
    pub(super) fn shortest_rtt(&self) -> Span {
        let of_data = self.rtt.min_rtt();
        if self.handshake_rtt == Span::ZERO {
            of_data
        } else {
            of_data.min(self.handshake_rtt)
        }
    }

    /// Returns the smoothed round-trip time, zero before the first sample.
    #[inline]
    pub(super) fn srtt(&self) -> Span {
        self.rtt.srtt(&self.config.rto)
    }

    /// Returns the idle time that ends now. Only valid while nothing is outstanding.
    pub(super) fn idle(&self, now: Time) -> Idle {
        Idle {
            now,
            time: now.since(self.idle_since),
            since_sent: now.since(self.last_sent),
        }
    }

    /// Prefetches the memory that an acknowledgement uses.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_lines::<{ Self::FIRST_LINES }, _>(self);
        prefetch(&self.congestion);
        prefetch(self.congestion.controller());
    }

    /// Prefetches the memory that a sample reads.
    #[inline]
    pub(super) fn prefetch_for_sample(&self) {
        prefetch(self);
        prefetch(&self.rtt);
        prefetch(&self.flow);
        prefetch(&self.congestion);
        prefetch(&self.counters);
    }

    /// Returns true if the congestion window allows one more segment than `in_flight`.
    #[inline]
    pub(super) fn cwnd_allows(&self, in_flight: u64) -> bool {
        // The conversion is from a signed integer, since processors have an instruction for signed integers only.
        (in_flight + 1) as i64 as f64 <= self.congestion.window.cwnd()
    }

    /// Returns true if the congestion window and the receive window allow one more segment than `in_flight`.
    #[inline]
    pub(super) fn allows(&self, in_flight: u64) -> bool {
        in_flight < self.peer_window && self.cwnd_allows(in_flight)
    }

    /// Returns true if there is a new segment to send, and the receive window allows this segment.
    #[inline]
    pub(super) fn has_new(&self) -> bool {
        self.nxt < self.end && self.nxt < self.una + self.peer_window
    }

    /// Returns the number of whole segments that the congestion window and the peer allow in flight.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        (self.congestion.window.cwnd() as i64 as u64).min(self.peer_window)
    }
}

/// Draws the phase of a connection's clock: its position within a tick at the beginning.
fn tick_phase(config: &Tcp, stream: &mut Stream) -> Span {
    match config.rto.clock {
        RttClock::Exact { .. } => Span::ZERO,
        RttClock::Ns2Ticks { tick } => stream.span(tick),
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    const LINE: usize = 64;

    /// The fields that acknowledgements use begin and end at the bounds of the prefetched cache lines.
    #[test]
    fn what_acknowledgements_touch_fills_few_cache_lines() {
        let end_of_first = offset_of!(ControlBlock, short) + size_of::<u64>();
        assert_eq!(end_of_first, ControlBlock::FIRST_LINES * LINE);
        assert_eq!(offset_of!(ControlBlock, congestion) % LINE, 0);
    }
}

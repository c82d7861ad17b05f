//! Algorithms of Longhaul in place of a stack's own congestion controllers.
//!
//! A stack reports less to a controller than the engine's TCP does. It also reports losses later,
//! after the acknowledgement that reveals them. Pacing is up to the stack. [`check`] refuses
//! algorithms that need more than a stack reports. It returns warnings for algorithms that can run
//! with less than they need.

mod delivery_rate;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, CongestionState, Limit, Phase, Phases,
    Rounding, Timeout, Window, registry,
};
use longhaul_scenario::{OwnAlgorithm, StackError};
use longhaul_units::{Bytes, Span, Time};

use self::delivery_rate::DeliveryRate;

/// Initial window in packets (RFC 9002 section 7.2).
const INITIAL_WINDOW: f64 = 10.0;

/// Smallest window in packets (RFC 9002 section 7.2).
const MIN_WINDOW: u64 = 2;

/// Value, in packets, of a window or a threshold that is not limited.
const UNLIMITED: f64 = 1e12;

/// Number of bytes of IPv4 and UDP headers of a packet, which count towards its pacing rate.
const HEADERS: u64 = longhaul_engine::stack::HEADER_BYTES as u64;

/// Properties of a stack that matter to congestion control algorithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackTraits {
    pub(crate) name: &'static str,
    /// True if the stack paces at the rate that its controller returns.
    pub(crate) uses_pacing_rate: bool,
    /// True if the stack can write a qlog.
    pub(crate) writes_qlog: bool,
}

/// Refuses an algorithm if the stack does not satisfy its essential needs. Returns warnings about
/// other needs that the stack does not satisfy.
pub(crate) fn check(own: &OwnAlgorithm, stack: &StackTraits) -> Result<Vec<String>, StackError> {
    let (kind, name) = (&own.controller.kind, stack.name);
    let refuse = |message: String| StackError {
        key: "congestion",
        message,
    };
    let controller = own.controller.build();
    let controller = controller.map_err(|error| refuse(error.to_string()))?;
    let needs = controller.needs();
    let missing = [
        (needs.one_way_delay, "one-way transit times"),
        (needs.dummies, "low-priority packets"),
        (
            needs.every_mark || needs.l4s,
            "the number of marked packets",
        ),
        (needs.pairs, "packet pairs"),
        (asks_routers(kind), "answers of routers"),
    ];
    if let Some((_, what)) = missing.iter().find(|(needed, _)| *needed) {
        let message = format!("`{kind}` needs {what}, of which {name}'s controllers are not told");
        return Err(refuse(message));
    }
    let mut warnings = Vec::new();
    if needs.paces && !stack.uses_pacing_rate {
        warnings.push(format!(
            "`{kind}` paces, but {name} paces by 1.25 x window / smoothed round trip whatever its controller: the pacing rate \
             is not used"
        ));
    }
    if needs.no_ecn {
        warnings.push(format!(
            "`{kind}` does not respond to marks, but {name}'s packets are ECN-capable"
        ));
    }
    Ok(warnings)
}

/// Returns true for algorithms that are made for a special kind of queue in routers, such as XCP.
fn asks_routers(kind: &str) -> bool {
    registry::find_algorithm(kind).is_ok_and(|entry| entry.needs_path.queue.is_some())
}

/// An algorithm of Longhaul as the congestion controller of a stack.
#[derive(Debug)]
pub(crate) struct OwnController {
    progress: Progress,
    /// Initial window in packets.
    initial: f64,
    /// State of the algorithm. The lock is never contended: a controller may move to another
    /// thread, but is not used by two threads at a time.
    state: Mutex<CongestionState>,
}

/// Counter that converts bytes to whole packets of the path's MTU.
#[derive(Clone, Copy, Debug, Default)]
struct Packets {
    whole: u64,
    /// Number of bytes that do not fill a whole packet yet.
    rest: u64,
}

impl Packets {
    /// Adds `bytes` to the counter. Returns the number of packets of `mtu` bytes that have become complete.
    fn add(&mut self, bytes: u64, mtu: u64) -> u64 {
        self.rest += bytes;
        let packets = self.rest / mtu;
        self.whole += packets;
        self.rest %= mtu;
        packets
    }
}

/// Counts of a connection so far, from which the algorithm's inputs are computed.
#[derive(Clone, Debug)]
struct Progress {
    /// Start of the algorithm's clock.
    zero: Instant,
    mtu: u64,
    delivered_bytes: u64,
    delivered: Packets,
    lost: Packets,
    sent: Packets,
    /// Bytes in flight after the last acknowledgement, plus the bytes sent since then. Packets
    /// declared lost since then still count.
    in_flight: u64,
    /// Bytes that the acknowledgement in progress acknowledges.
    acked_bytes: u64,
    /// Send time of the newest packet that the acknowledgement in progress acknowledges; `None`
    /// between acknowledgements.
    newest: Option<Instant>,
    srtt: Duration,
    min_rtt: Duration,
    /// Number of round trips so far.
    round: u64,
    /// Start of the current round trip.
    round_began: Instant,
    /// Time of the last reduction; `None` before the first, and after persistent congestion. Losses and
    /// marks of packets sent up to this time cause no further reduction (RFC 9002 section B.6).
    reduced: Option<Instant>,
    /// True from a reduction until a packet sent after it is acknowledged.
    recovers: bool,
    /// Number of reductions so far, without persistent congestion.
    reductions: u64,
    has_sample: bool,
    rate: DeliveryRate,
    /// Congestion window in packets after the algorithm's last call.
    window: f64,
    /// Slow start threshold in packets after the algorithm's last call.
    ssthresh: f64,
    pacing_bps: Option<u64>,
}

impl Progress {
    fn new(now: Instant, mtu: u64) -> Self {
        Self {
            zero: now,
            mtu,
            delivered_bytes: 0,
            delivered: Packets::default(),
            lost: Packets::default(),
            sent: Packets::default(),
            in_flight: 0,
            acked_bytes: 0,
            newest: None,
            srtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            round: 0,
            round_began: now,
            reduced: None,
            recovers: false,
            reductions: 0,
            has_sample: false,
            rate: DeliveryRate::new(now),
            window: 0.0,
            ssthresh: 0.0,
            pacing_bps: None,
        }
    }

    fn time(&self, at: Instant) -> Time {
        Time::ZERO + span(at.saturating_duration_since(self.zero))
    }

    /// Returns the sample of the acknowledgement in progress.
    fn sample(&mut self, now: Instant, newest: Instant, app_limited: bool) -> AckSample {
        let acked = self.delivered.add(self.acked_bytes, self.mtu);
        let round_start = newest >= self.round_began;
        if round_start {
            self.round += 1;
            self.round_began = now;
        }
        if app_limited {
            self.rate.note_limit(self.delivered_bytes + self.in_flight);
        }
        let rate = self
            .rate
            .sample(newest, self.delivered_bytes, self.min_rtt, now);
        AckSample {
            now: self.time(now),
            acked,
            delivered: self.delivered.whole,
            lost: self.lost.whole,
            credit: self.acked_bytes as f64 / self.mtu as f64,
            rtt: Some(span(now - newest)),
            srtt: span(self.srtt),
            min_rtt: span(self.min_rtt),
            in_flight: self.in_flight / self.mtu,
            delivery_rate: rate.map(|(rate, _)| rate.in_packets_of(self.mtu)),
            limit: match rate {
                Some((_, limit)) => limit,
                None if app_limited => Limit::Application,
                None => Limit::Network,
            },
            round: self.round,
            round_start,
            segment_bytes: self.mtu + HEADERS,
            ..AckSample::ONE_SEGMENT
        }
    }

    /// Copies the window, the threshold and the pacing rate from the algorithm's state.
    fn adopt(&mut self, state: &CongestionState) {
        self.window = state.window.cwnd();
        self.ssthresh = state.window.ssthresh();
        self.pacing_bps = state.pacing_rate().map(|rate| rate.as_bps());
    }
}

impl Clone for OwnController {
    fn clone(&self) -> Self {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            progress: self.progress.clone(),
            initial: self.initial,
            state: Mutex::new(state.clone()),
        }
    }
}

impl OwnController {
    /// Creates the algorithm for a path with the MTU `mtu`. `initial_window` in bytes replaces the
    /// initial window of RFC 9002 unless it is `None`.
    pub(crate) fn new(
        algorithm: &OwnAlgorithm,
        initial_window: Option<Bytes>,
        now: Instant,
        mtu: u16,
    ) -> Self {
        let mtu = u64::from(mtu);
        let given = initial_window.map(|bytes| bytes.0 as f64 / mtu as f64);
        let initial = given.unwrap_or(INITIAL_WINDOW).max(MIN_WINDOW as f64);
        let window = Window::new(initial, UNLIMITED, UNLIMITED, Rounding::Real);
        let controller = algorithm.controller.build();
        let controller = controller.expect("checked when the stack was found");
        let state = CongestionState::new(window, algorithm.slow_start.clone(), controller);
        Self {
            progress: Progress {
                window: initial,
                ssthresh: UNLIMITED,
                ..Progress::new(now, mtu)
            },
            initial,
            state: Mutex::new(state),
        }
    }

    /// Returns the algorithm's state and the progress of the connection, both mutable.
    fn parts(&mut self) -> (&mut CongestionState, &mut Progress) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        (state, &mut self.progress)
    }

    /// Notes that a packet of `bytes` bytes is sent.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        let progress = &mut self.progress;
        let alone = progress.in_flight == 0;
        progress.sent.add(bytes, progress.mtu);
        progress.in_flight += bytes;
        progress.rate.on_sent(progress.delivered_bytes, alone, now);
    }

    /// Notes that a packet sent at `sent` is acknowledged. `srtt` and `min_rtt` do not include the
    /// RTT sample of this packet yet; before the first sample, both are the stack's initial RTT.
    pub(crate) fn on_ack(&mut self, sent: Instant, bytes: u64, srtt: Duration, min_rtt: Duration) {
        let progress = &mut self.progress;
        progress.acked_bytes += bytes;
        progress.delivered_bytes += bytes;
        progress.newest = progress.newest.max(Some(sent));
        progress.srtt = srtt;
        progress.min_rtt = min_rtt;
    }

    /// Processes an acknowledgement after all its packets have been noted.
    pub(crate) fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        let (state, progress) = self.parts();
        progress.in_flight = in_flight;
        let Some(newest) = progress.newest.take() else {
            return;
        };
        if progress.recovers && progress.reduced.is_none_or(|at| newest > at) {
            progress.recovers = false;
            state.on_recovery_exit(progress.time(now));
        }
        if !progress.has_sample {
            // The stack's estimates do not include this packet yet.
            progress.srtt = now - newest;
            progress.min_rtt = progress.srtt;
        }
        let sample = progress.sample(now, newest, app_limited);
        progress.acked_bytes = 0;
        if !std::mem::replace(&mut progress.has_sample, true) {
            state.on_handshake(&AckSample { acked: 0, ..sample });
        }
        let controls_window = state.controller().phases() == Phases::All;
        match (progress.recovers, controls_window) {
            (true, _) => state.on_ack_in(&sample, Phase::Recovery),
            (false, true) => state.on_ack_in(&sample, Phase::Avoidance),
            (false, false) if app_limited => state.on_ack_in(&sample, Phase::NoGrowth),
            (false, false) => state.on_ack(&sample),
        }
        progress.adopt(state);
    }

    /// Processes a loss of packets or, if `lost_bytes` is 0, an echoed ECN mark. `sent` is the send
    /// time of the last lost packet or, for a mark, of the newest acknowledged packet.
    pub(crate) fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let (state, progress) = self.parts();
        progress.lost.add(lost_bytes, progress.mtu);
        if is_persistent_congestion {
            progress.reduced = None;
            progress.recovers = true;
            state.on_timeout(&Timeout {
                now: progress.time(now),
                base: state.window.cwnd(),
                keep_ssthresh: false,
                sent: progress.sent.whole,
            });
            return progress.adopt(state);
        }
        if progress.reduced.is_some_and(|at| sent <= at) {
            return;
        }
        let cause = if lost_bytes == 0 {
            Cause::Ecn
        } else {
            Cause::Loss
        };
        let (delivered, lost) = (progress.delivered.whole, progress.lost.whole);
        if cause == Cause::Loss && !state.answers_losses(delivered, lost) {
            return;
        }
        progress.reduced = Some(now);
        progress.recovers = true;
        state.on_congestion(&Congestion {
            now: progress.time(now),
            cause,
            base: state.window.cwnd(),
            in_flight: progress.in_flight / progress.mtu,
            in_slow_start: state.window.in_slow_start(),
            first: progress.reductions == 0,
        });
        progress.reductions += 1;
        progress.adopt(state);
    }

    /// Sets a new MTU. The window keeps its number of packets, so its bytes change: the initial
    /// window, too, depends on the packet size (RFC 9002 section 7.2).
    pub(crate) fn on_mtu_update(&mut self, new_mtu: u16) {
        self.progress.mtu = new_mtu.into();
    }

    /// Returns the congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        let progress = &self.progress;
        let bytes = (progress.window * progress.mtu as f64) as u64;
        bytes.max(MIN_WINDOW * progress.mtu)
    }

    /// Returns the slow start threshold in bytes; `None` if there is none.
    pub(crate) fn ssthresh(&self) -> Option<u64> {
        let progress = &self.progress;
        (progress.ssthresh < UNLIMITED).then_some((progress.ssthresh * progress.mtu as f64) as u64)
    }

    /// Returns the pacing rate in bit/s, headers included; `None` without pacing.
    pub(crate) fn pacing_bps(&self) -> Option<u64> {
        self.progress.pacing_bps
    }

    /// Returns the initial window in bytes.
    pub(crate) fn initial_window(&self) -> u64 {
        (self.initial * self.progress.mtu as f64) as u64
    }
}

fn span(duration: Duration) -> Span {
    Span::from_ps(duration.as_nanos() as u64 * 1000)
}

#[cfg(test)]
mod tests {
    use longhaul_congestion::{ControllerSpec, SlowStart};

    use super::*;

    const MTU: u64 = 1200;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Losses of packets sent before a reduction cause no second one, also after the recovery (RFC 9002 section B.6).
    #[test]
    fn one_flight_is_answered_once() {
        let algorithm = OwnAlgorithm {
            controller: ControllerSpec {
                kind: "reno".to_string(),
                ..ControllerSpec::default()
            },
            slow_start: SlowStart::Standard,
        };
        let zero = Instant::now();
        let mut controller = OwnController::new(&algorithm, None, zero, MTU as u16);
        let mut windows = Vec::new();
        (0..10).for_each(|at| controller.on_sent(zero + ms(at), MTU));
        for (now, sent) in [(25, 5), (60, 9)] {
            controller.on_congestion_event(zero + ms(now), zero + ms(sent), false, MTU);
            windows.push(controller.window());
            controller.on_sent(zero + ms(now + 1), MTU);
            controller.on_ack(zero + ms(now + 1), MTU, ms(20), ms(20));
            controller.on_end_acks(zero + ms(now + 21), 0, true);
        }
        assert_eq!(windows, [5 * MTU, 5 * MTU]);
    }
}

//! Options of a TCP connection (sender and receiver), with the keys of `[tcp]` that set them.

use longhaul_congestion::{ControllerSpec, MinCwnd, Rounding, SlowStart};
use longhaul_keys::{
    COUNT_MAX, Key, Kind, Profile, Range, Read, SIZE, TIME, Table, Value, keys, words,
};
use longhaul_units::Span;

const SEGMENTS: Kind = Kind::Whole {
    min: 1,
    max: COUNT_MAX,
};
const WINDOW: Kind = Kind::OneOf(&[Kind::Word(&["auto"]), SEGMENTS, Kind::Positive(SIZE)]);
const FACTOR: Kind = Kind::Number(Range::closed(1.0, 100.0));

keys! {
    /// A TCP connection, sender and receiver.
    #[derive(Clone, Debug)]
    pub struct Tcp {
        /// Initial congestion window.
        pub initial_window: f64 = Kind::Number(Range::closed(1.0, 1e6)).key()
            .default("10").in_ns2("2").unit("segments").source("RFC 6928; Linux: TCP_INIT_CWND; ns-2: windowInit_"),
        /// The receiver's window: a number of segments, or a size in bytes. `auto`: twice the sum of the path's
        /// bandwidth-delay product and queues (six times with the profile `linux`), at least 64 segments. The automatic
        /// window limits the sender only in a recovery that takes longer than a round trip.
        pub receive_window: u64 = WINDOW.key().default("auto").in_ns2("100000")
            .source("ns-2: window_; Linux: tcp_rcvbuf_grow"),
        /// The sender's socket buffer: a number of segments, or a size in bytes.
        pub send_buffer: Option<u64> = Kind::OneOf(&[
            Kind::Word(&["unlimited"]), SEGMENTS, Kind::Positive(SIZE),
        ]).key().default("unlimited"),
        /// Initial slow start threshold in segments; `auto`: the receive window or, with a module of Linux, 2^31 - 1.
        pub initial_ssthresh: Option<f64> = Kind::OneOf(&[
            Kind::Word(&["auto"]), Kind::Number(Range::closed(2.0, 1e12)),
        ]).key().default("auto").in_profile(Profile::Linux, "2147483647")
            .source("RFC 5681 section 3.1; Linux: TCP_INFINITE_SSTHRESH"),
        /// Number of duplicate ACKs that signal a loss.
        pub dupack_threshold: u32 = Kind::Whole { min: 1, max: 1000 }.key()
            .default("3").source("RFC 5681 section 3.2; Linux: tcp_reordering; ns-2: numdupacks_"),
        /// True if each of the first duplicate ACKs releases a new segment. Of the recoveries with SACK blocks, only
        /// `ns2-sack` uses this key; in the others, each SACKed segment makes room for a new one.
        pub limited_transmit: bool = Kind::Flag.key().default("true").source("RFC 3042; ns-2: singledup_"),
        /// Number of segments by which one ACK lets the window grow. `per-ack`: 1. `{ per_segment = L }`: the segments
        /// that the ACK covers, in slow start at most L. `delivered`: the segments that the ACK is the first to report,
        /// cumulatively or in SACK blocks; no limit.
        pub ack_counting: AckCounting = Kind::OneOf(&[
            Kind::Word(&["per-ack", "delivered"]), Kind::Table(PerSegment::KEYS),
        ]).key()
            .default("{ per_segment = 2 }").in_profile(Profile::Linux, "delivered").in_ns2("per-ack")
            .source("RFC 3465, L = 2; Linux: acked_sacked of tcp_cong_control; ns-2: opencwnd"),
        /// ECN at both ends; queues also have to mark. `dctcp`: the receiver echoes the mark of each segment (RFC
        /// 8257); `accecn`: it counts marks (RFC 9768).
        pub ecn: Ecn = Kind::OneOf(&[Kind::Flag, Kind::Word(&["dctcp", "accecn"])]).key()
            .default("true").in_profile(Profile::Linux, "false").in_profile(Profile::Ns2_35, "false")
            .source("RFC 3168; Linux: tcp_ecn, only if the peer asks for it; ns-2: ecn_; LBNL-52549 table 5.2"),
        /// Delayed ACKs.
        pub delayed_ack: Option<DelayedAck> = Kind::OneOf(&[Kind::Flag, Kind::Table(DelayedAck::KEYS)]).key()
            .default("true").in_ns2("false").source("RFC 5681 section 4.2"),
        /// Variant of proportional rate reduction, for recoveries that use it.
        pub prr: PrrRule = Kind::Word(PrrRule::WORDS).key()
            .default("rfc6937").in_profile(Profile::Linux, "linux-6.18")
            .source("RFC 6937, RFC 9937; Linux: tcp_cwnd_reduction, tcp_enter_cwr"),
        /// Round-trip time sample of an ACK. `echo`: from the timestamp that the ACK echoes. `last`: from the last
        /// segment that the ACK newly acknowledges. `reported`: as `last`, less the ACK delay that the receiver
        /// reports, as in QUIC.
        pub rtt_sample: RttSample = Kind::Word(RttSample::WORDS).key()
            .default("echo").in_profile(Profile::Linux, "last")
            .source("RFC 7323 section 4; Linux: seq_rtt_us and ca_rtt_us of tcp_clean_rtx_queue; RFC 9002 section 5.3"),
        /// ACK delay that a tail loss probe allows for a single segment in flight; `auto`: the maximum ACK delay
        /// of `delayed_ack`.
        pub probe_ack_delay: Option<Span> = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(TIME)]).key()
            .default("auto").in_profile(Profile::Linux, "200 ms")
            .source("RFC 8985 section 7.2, TLP.max_ack_delay; Linux: tcp_schedule_loss_probe, tcp_rto_min"),
        /// The retransmission timer.
        pub rto: Rto = Kind::Table(Rto::KEYS).key().default("{}").source("RFC 6298"),
        /// True if cwnd may grow while something else limits the sender. Condition: the largest flight of the latest
        /// round trip filled cwnd or, in slow start, exceeded half of it.
        pub growth_beyond_use: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("Linux: tcp_is_cwnd_limited; RFC 7661 section 4.3"),
        /// Base of a multiplicative decrease: flight size or cwnd.
        pub reductions: ReductionRule = Kind::Word(ReductionRule::WORDS).key()
            .default("rfc5681").in_profile(Profile::Linux, "linux-6.18")
            .source("RFC 5681 equation 4; Linux: tcp_init_cwnd_reduction, tcp_enter_loss"),
        /// True if reductions that prove unnecessary are undone. The proof is by timestamps, by reports of duplicates
        /// (`dsack`) or, after a timeout, by F-RTO. Reports of duplicates also lengthen RACK's reordering window.
        /// Recoveries `rack-tlp` and `rack-tlp-prr` only.
        pub undo: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("RFC 3522, RFC 3708, RFC 5682; Linux: tcp_may_undo, tcp_process_loss, tcp_rack_update_reo_wnd"),
        /// Restart of cwnd if nothing was sent for a retransmission timeout. Received data makes no difference.
        /// Algorithms that control cwnd at all times keep it, as Linux modules with `cong_control` do.
        pub idle_restart: IdleRestart = Kind::Word(IdleRestart::WORDS).key()
            .default("initial-window").in_profile(Profile::Linux, "halved").in_ns2("none")
            .source("RFC 5681 section 4.1; Linux: tcp_cwnd_restart, tcp_slow_start_after_idle_check"),
        /// Maximum of a random delay before a burst of segments, uniform from 0.
        pub send_jitter: Span = Kind::Quantity(TIME).key().default("0 s").source("ns-2: overhead_"),
        /// Maximum number of segments sent for one ACK.
        pub max_burst: Option<u32> = Kind::OneOf(&[
            Kind::Word(&["unlimited"]), Kind::Whole { min: 1, max: 1_000_000 },
        ]).key().default("unlimited").source("ns-2: maxburst_"),
        /// Pacing of segments, at cwnd / srtt times a factor. Algorithms that set a pacing rate always pace.
        pub pacing: Option<Pacing> = Kind::OneOf(&[Kind::Flag, Kind::Table(Pacing::KEYS)]).key()
            .default("false").source("Linux: without the fq discipline"),
        /// Rule for paced segments. It decides if they leave in bursts or one by one, and if a jump of the pacing rate
        /// shortens the wait of a segment.
        pub paced_bursts: PacedBursts = Kind::Word(PacedBursts::WORDS).key()
            .default("early").in_profile(Profile::Linux, "linux-6.18")
            .source("Linux: tcp_pacing_check, tcp_update_skb_after_send"),
        /// Rounding of ssthresh, or of cwnd and ssthresh, to whole segments in reductions.
        pub rounding: Rounding = Kind::Word(Rounding::WORDS).key()
            .default("real").in_profile(Profile::Ns2_35, "integer-ssthresh")
            .in_profile(Profile::Ns2_2003, "integer-both")
            .source("ns-2: slowdown; real reductions of cwnd came in 2006"),
        /// Lower bounds of cwnd after a reduction; after a timeout cwnd is one segment in any case.
        pub min_cwnd: MinCwnd = Kind::Table(MinCwnd::KEYS).key().default("{}"),
        /// Size of the IP and TCP headers of a data segment, without options.
        pub header_bytes as "header": u32 = Kind::Positive(SIZE).key()
            .default("40 B").source("IPv4 and TCP; ns-2: tcpip_base_hdr_size_"),
        /// Size of a pure ACK, SYN or FIN on the wire, without options.
        pub ack_bytes as "ack_size": u32 = Kind::Positive(SIZE).key().default("40 B"),
        /// Time at which a connection of requests and responses sends its FIN.
        pub fin: Fin = Kind::Word(Fin::WORDS).key().default("with-data").in_ns2("when-quiet")
            .source("RFC 9293 figure 12; ns-2: close_on_empty_ of FullTcp"),
        /// True if the receiver reports out-of-order segments in SACK blocks. Recoveries that use SACK blocks are
        /// refused without them. Exception: `ns2-sack` then repairs every loss by timeout, as ns-2's `Sack1` does with
        /// a plain `TCPSink`.
        pub sack_blocks: bool = Kind::Flag.key().default("true").source("RFC 2018 section 4"),
        /// True if the receiver reports duplicate segments in the first SACK block (D-SACK).
        pub dsack: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("RFC 2883; Linux: tcp_dsack"),
        /// Size of a SACK option on the wire, without its blocks.
        pub sack_option_bytes as "sack_option": u32 = Kind::Quantity(SIZE).key()
            .default("4 B").in_ns2("0 B").source("RFC 2018: 2 bytes and padding; Linux: TCPOLEN_SACK_BASE_ALIGNED"),
        /// Size of each SACK block on the wire.
        pub sack_block_bytes as "sack_block": u32 = Kind::Quantity(SIZE).key()
            .default("8 B").source("RFC 2018 section 3"),
    }
    flattened {
        /// Timestamps that segments carry.
        pub timestamps: Timestamps,
    }
    beside {
        /// Number of bytes to transfer. Without this key, the source is unlimited (greedy).
        pub transfer: Option<u64>,
        /// Payload bytes of a full segment.
        pub mss_bytes: u32,
        /// The congestion control algorithm.
        pub congestion: ControllerSpec,
        /// The slow start.
        pub slow_start: SlowStart,
        /// Loss detection and retransmission.
        pub recovery: Recovery,
    }
}

keys! {
    /// Pacing of segments. Default rates exceed one window per smoothed round trip: otherwise the segments in flight
    /// would never fill the window.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pacing {
        /// Pacing rate in windows per smoothed round trip while cwnd is below half of ssthresh.
        pub slow_start: f64 = FACTOR.key().default("1.25").in_profile(Profile::Linux, "2")
            .source("RFC 9002 section 7.7; Linux: tcp_pacing_ss_ratio"),
        /// Pacing rate in windows per smoothed round trip while cwnd is at least half of ssthresh.
        pub avoidance: f64 = FACTOR.key().default("1.25").in_profile(Profile::Linux, "1.2")
            .source("RFC 9002 section 7.7; Linux: tcp_pacing_ca_ratio"),
        /// Number of segments that may leave together at any pacing rate.
        pub min_burst: u32 = Kind::Whole { min: 1, max: 1000 }.key().default("1").in_profile(Profile::Linux, "2")
            .unit("segments").source("Linux: tcp_min_tso_segs"),
        /// Duration of a burst at high rates: segments that together take at most this time at the
        /// pacing rate may leave together.
        pub burst_time: Span = Kind::Quantity(TIME).key().default("0 s").in_profile(Profile::Linux, "1 ms")
            .source("Linux: tcp_tso_autosize, sk_pacing_shift"),
        /// Number of segments that a connection sends before pacing begins.
        pub after: u32 = Kind::Whole { min: 0, max: 1_000_000 }.key().default("0").in_profile(Profile::Linux, "10")
            .unit("segments").source("Linux: tcp_update_skb_after_send"),
    }
}

words! {
    /// Rule for the departure of paced segments if several may leave together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PacedBursts {
        /// A segment may leave before its pacing interval begins: with bursts of n segments, up to n - 1 intervals
        /// earlier. A waiting segment is rescheduled if the pacing rate becomes at least twice the former rate.
        Early = "early",
        /// A burst begins when the pacing intervals of all earlier segments are over. A change of the pacing rate does
        /// not move the departure of a waiting segment. After a pause, intervals are shortened by up to half.
        Linux = "linux-6.18",
    }
}

words! {
    /// Rule for the departure of a connection's FIN, once the application has given all its data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fin {
        /// The last data segment carries the FIN.
        WithData = "with-data",
        /// The last data segment carries the FIN if no other segment is in flight when the last one leaves. Otherwise,
        /// the FIN leaves in a separate segment when all data is acknowledged.
        WhenQuiet = "when-quiet",
        /// The FIN leaves in a separate segment when all data is acknowledged.
        Alone = "alone",
    }
}

words! {
    /// Variant of proportional rate reduction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PrrRule {
        /// The ratio of sent to delivered segments is the new window divided by the flight size at the start of
        /// recovery. Once the flight is below the new window, one more segment may leave than was delivered (RFC 6937).
        Rfc6937 = "rfc6937",
        /// Linux's rule: in recovery, the ratio of sent to delivered segments is the new window divided by cwnd at the
        /// start. Once the flight is below the new window, one more segment may leave than was delivered, but only on
        /// an ACK that advances and reports no loss (RFC 9937). The rule also applies to reductions for ECN marks.
        Linux = "linux-6.18",
    }
}

words! {
    /// Value that a multiplicative decrease multiplies. ns-2's recoveries always use cwnd, at most the receive window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReductionRule {
        /// The smaller of flight size and cwnd.
        Rfc5681 = "rfc5681",
        /// A multiplicative decrease multiplies cwnd, even if less data is in flight. A timeout does not reduce
        /// ssthresh again until all data sent before the last reduction is acknowledged.
        Linux = "linux-6.18",
    }
}

words! {
    /// Restart of cwnd after an idle time as long as a retransmission timeout.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IdleRestart {
        /// cwnd is kept.
        None = "none",
        /// cwnd is reduced to the initial window (RFC 5681).
        InitialWindow = "initial-window",
        /// cwnd is halved each time that nothing is sent for a retransmission timeout, down to the initial window.
        /// ssthresh becomes three quarters of the former cwnd, unless it is larger (RFC 2861).
        Halved = "halved",
    }
}

words! {
    /// Rule for the round-trip time sample of an ACK.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RttSample {
        /// The time since the timestamp that the ACK echoes. A delayed ACK echoes the timestamp of its first segment,
        /// and the sample then includes the ACK delay. Without timestamps, one segment is timed per round trip.
        Echo = "echo",
        /// Two samples: the round-trip times of the first and of the last segment that an ACK newly acknowledges,
        /// cumulatively or selectively. srtt and the timers use the first segment's sample. Congestion control and the
        /// minimum round-trip time use that of the last segment. If the cumulative acknowledgement covers a
        /// retransmitted segment, the echoed timestamp gives both samples, in whole milliseconds.
        Last = "last",
        /// One sample for all uses, as in QUIC: the round-trip time of the last segment, less the ACK delay that the
        /// receiver reports. The delay is not subtracted if the result would be below the minimum round-trip time.
        Reported = "reported",
    }
}

words! {
    /// Loss detection and retransmission.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Recovery {
        /// Fast retransmit, then slow start (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast recovery that ends with the first new ACK (RFC 2581).
        Reno = "reno",
        /// Fast recovery that continues through partial ACKs (RFC 6582).
        NewReno = "newreno",
        /// Selective acknowledgements with the pipe of RFC 6675.
        Sack = "sack",
        /// Like `sack`, with proportional rate reduction (RFC 6937).
        SackPrr = "sack-prr",
        /// Forward acknowledgement (Mathis and Mahdavi 1996).
        Fack = "fack",
        /// Time-based loss detection and tail loss probes, RACK-TLP (RFC 8985).
        RackTlp = "rack-tlp",
        /// Like `rack-tlp`, with proportional rate reduction (RFC 6937).
        RackTlpPrr = "rack-tlp-prr",
        /// ns-2's Reno.
        Ns2Reno = "ns2-reno",
        /// ns-2's NewReno.
        Ns2NewReno = "ns2-newreno",
        /// ns-2's `Sack1`: each ACK decrements the pipe, and segments known to be lost are not subtracted.
        Ns2Sack = "ns2-sack",
    }
}

impl Tcp {
    /// Returns true if acknowledgements carry SACK blocks.
    pub fn reports_sack(&self) -> bool {
        self.sack_blocks && self.recovery.uses_sack()
    }
}

impl Recovery {
    /// Returns true if the algorithm uses selective acknowledgements.
    pub fn uses_sack(self) -> bool {
        match self {
            Self::Sack
            | Self::SackPrr
            | Self::Fack
            | Self::RackTlp
            | Self::RackTlpPrr
            | Self::Ns2Sack => true,
            Self::Tahoe | Self::Reno | Self::NewReno | Self::Ns2Reno | Self::Ns2NewReno => false,
        }
    }

    /// Returns true for ns-2's variants.
    pub(crate) fn is_ns2(self) -> bool {
        matches!(self, Self::Ns2Reno | Self::Ns2NewReno | Self::Ns2Sack)
    }
}

/// Explicit congestion notification of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// No ECN.
    Off,
    /// The receiver echoes a mark until the sender reports that it has reduced its window (RFC 3168).
    Classic,
    /// Every ACK echoes the marks of the segments that it acknowledges (RFC 8257 section 3.2).
    Dctcp,
    /// Every ACK has a count of all marks so far, modulo 8 (AccECN, RFC 9768).
    Accurate,
}

impl Ecn {
    /// Returns true if segments are sent as ECN-capable.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

impl Read for Ecn {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Flag(false) => Some(Self::Off),
            Value::Flag(true) => Some(Self::Classic),
            Value::Text(word) if word == "dctcp" => Some(Self::Dctcp),
            Value::Text(_) => Some(Self::Accurate),
            _ => None,
        }
    }
}

/// Number of segments by which an ACK lets the window grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckCounting {
    /// One segment, however many segments the ACK acknowledges (ns-2; RFC 2581).
    PerAck,
    /// The number of segments that the ACK acknowledges, but in slow start at most a limit (RFC 3465).
    PerSegment {
        /// The limit `L` of RFC 3465 in slow start; 1 in slow start after a timeout.
        slow_start_limit: f64,
    },
    /// The number of segments that the ACK is the first to report, cumulatively or selectively (Linux).
    Delivered,
}

keys! {
    /// Table `{ per_segment = L }` for [`AckCounting::PerSegment`].
    struct PerSegment {
        /// Maximum growth of the window per ACK in slow start (L), in segments; 1 after a timeout.
        per_segment: f64 = Kind::Number(Range::closed(1.0, 1e6)).key().required()
            .source("RFC 3465 sections 2.2 and 2.3"),
    }
}

impl Read for AckCounting {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Text(word) if word == "delivered" => Some(Self::Delivered),
            Value::Text(_) => Some(Self::PerAck),
            Value::Table(table) => Some(Self::PerSegment {
                slow_start_limit: PerSegment::of(table).per_segment,
            }),
            _ => None,
        }
    }
}

keys! {
    /// Parameters of delayed ACKs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DelayedAck {
        /// Maximum ACK delay.
        pub timeout: Span = Kind::Positive(TIME).key().default("100 ms").in_profile(Profile::Linux, "40 ms")
            .source("RFC 5681 section 4.2: below 500 ms; Linux: TCP_DELACK_MIN; ns-2: interval_"),
        /// Number of in-order segments that are acknowledged together.
        pub segments: u32 = Kind::Whole { min: 1, max: 1000 }.key().default("2").source("RFC 5681 section 4.2"),
        /// True if the answer to the SYN is delayed, too, as by ns-2's delaying sinks.
        pub delays_syn: bool = Kind::Flag.key().default("false"),
        /// Number of ACKs sent without delay at the beginning and after a duplicate segment. Above 0, three other rules
        /// of the kernel apply, too: no ACK is delayed while the receive window opens; two ACKs are not delayed after a
        /// mark; duplicate ACKs after the third are held back for up to a millisecond, and sent as one. `0`: none of
        /// these rules applies.
        pub quick: u32 = Kind::Whole { min: 0, max: 1_000_000 }.key()
            .default("0").in_profile(Profile::Linux, "16").unit("ACKs")
            .source("Linux: TCP_MAX_QUICKACKS, tcp_incr_quickack, tcp_grow_window, tcp_rcv_space_adjust, tcp_comp_sack_delay_ns"),
        /// True if the last segment of the data, which has PSH, is acknowledged without delay.
        pub push: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("Linux: ICSK_ACK_PUSHED, tcp_cleanup_rbuf"),
    }
}

keys! {
    /// The retransmission timer (RFC 6298).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Rto {
        /// Retransmission timeout before the first round-trip sample.
        pub initial: Span = Kind::Positive(TIME).key()
            .default("1 s").in_profile(Profile::Ns2_35, "3 s").in_profile(Profile::Ns2_2003, "6 s")
            .source("RFC 6298 section 2; Linux: TCP_TIMEOUT_INIT; ns-2: rtxcur_init_, 6 s before October 2004"),
        /// Lower bound of the timeout.
        pub min: Span = Kind::Positive(TIME).key()
            .default("1 s").in_profile(Profile::Linux, "200 ms").in_profile(Profile::Ns2_35, "200 ms")
            .source("RFC 6298 section 2.4; Linux: TCP_RTO_MIN; ns-2: minrto_, 1 s before October 2004"),
        /// Upper bound of the timeout.
        pub max: Span = Kind::Positive(TIME).key().default("60 s").in_profile(Profile::Linux, "120 s")
            .source("RFC 6298 section 2.5; Linux: TCP_RTO_MAX; ns-2: maxrto_, 60 s since 2007"),
    }
    flattened {
        /// Clock that measures round-trip times.
        pub clock: RttClock,
    }
}

/// Clock that measures round-trip times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttClock {
    /// Exact time; only the timeout depends on the granularity (RFC 6298 section 2).
    Exact {
        /// The granularity, `G` of RFC 6298.
        granularity: Span,
    },
    /// Clock in whole ticks with a random phase, as in ns-2. The smoothed round-trip time is in eighths of a tick, its
    /// variation in quarters.
    Ns2Ticks {
        /// Length of a tick of the clock.
        tick: Span,
    },
}

keys! {
    /// Keys of the clock that measures round-trip times; only one of them applies.
    pub struct RttClockKeys {
        // The kernel keeps four times the variation at or above 200 ms; this granularity is its equivalent.
        /// Minimum margin of the timeout over the smoothed round-trip time (G of RFC 6298). Measurements are exact.
        pub granularity: Option<Span> = Kind::Positive(TIME).key()
            .in_profile(Profile::Rfc, "1 ms").in_profile(Profile::Linux, "200 ms")
            .source("RFC 6298 section 2; Linux: tcp_rto_min bounds the variation"),
        /// Unit of round-trip time measurements, as in ns-2: they are whole numbers of ticks.
        pub tick: Option<Span> = Kind::Positive(TIME).key().in_ns2("10 ms").source("ns-2: tcpTick_"),
    }
}

impl RttClock {
    /// Keys of the clock that measures round-trip times.
    pub const KEYS: &'static [Key] = RttClockKeys::KEYS;

    fn of(table: &Table) -> Self {
        match table.read(RttClockKeys::tick) {
            Some(tick) => Self::Ns2Ticks { tick },
            None => Self::Exact {
                granularity: table.read(RttClockKeys::granularity.seen_as()),
            },
        }
    }
}

/// Timestamp option of segments. The number is the size of the option in bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// No timestamps.
    Off,
    /// The option of RFC 7323.
    Standard(u32),
    /// Sync-TCP's option. ACKs also report the transit time of the last data segment (Weigle 2003, chapter 3),
    /// measured with the error of the receiver's clock ([`ClockError`](super::ClockError)).
    OneWay(u32),
}

keys! {
    /// Keys of the timestamp option.
    pub struct TimestampKeys {
        /// Timestamp option: none, RFC 7323's, or Sync-TCP's (`one-way`). With Sync-TCP's, receivers also report the
        /// one-way delay of each data segment.
        pub timestamps: TimestampKind = Kind::OneOf(&[Kind::Flag, Kind::Word(&["one-way"])]).key()
            .default("true").in_ns2("false")
            .source("RFC 7323; Linux: tcp_timestamps; ns-2: timestamps_; Weigle 2003, chapter 3"),
        /// Size of the timestamp option on the wire; 14 B by default with `one-way`.
        pub timestamp_option: u32 = Kind::Quantity(SIZE).key().default("12 B").in_ns2("10 B")
            .source("RFC 7323 appendix A: 10 bytes and padding; Linux: TCPOLEN_TSTAMP_ALIGNED; ns-2: ts_option_size_"),
    }
}

/// Kind of timestamp option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampKind {
    /// No timestamps.
    Off,
    /// The option of RFC 7323.
    Standard,
    /// Sync-TCP's option, which also reports transit times.
    OneWay,
}

impl Read for TimestampKind {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Flag(false) => Some(Self::Off),
            Value::Flag(true) => Some(Self::Standard),
            Value::Text(_) => Some(Self::OneWay),
            _ => None,
        }
    }
}

impl Timestamps {
    /// Keys of the timestamp option.
    pub const KEYS: &'static [Key] = TimestampKeys::KEYS;

    /// Reads the timestamp option from a checked table.
    pub fn of(table: &Table) -> Self {
        let bytes = || table.read(TimestampKeys::timestamp_option);
        match table.read(TimestampKeys::timestamps) {
            TimestampKind::Off => Self::Off,
            TimestampKind::Standard => Self::Standard(bytes()),
            TimestampKind::OneWay => Self::OneWay(bytes()),
        }
    }

    /// Returns the size of the option on the wire, in bytes; `None` if segments do not carry it.
    pub fn bytes(self) -> Option<u32> {
        match self {
            Self::Off => None,
            Self::Standard(bytes) | Self::OneWay(bytes) => Some(bytes),
        }
    }

    /// Returns true if ACKs report transit times.
    pub fn is_one_way(self) -> bool {
        matches!(self, Self::OneWay(_))
    }
}

//! A TCP connection, sender and receiver: its options, with the keys of `[tcp]` that say them.

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
        /// Initial window.
        pub initial_window: f64 = Kind::Number(Range::closed(1.0, 1e6)).key()
            .default("10").in_ns2("2").unit("segments").source("RFC 6928; Linux: TCP_INIT_CWND; ns-2: windowInit_"),
        /// The receiver's window in segments, or in bytes. `auto`: twice the path's bandwidth-delay product and
        /// queues, with the profile `linux` six times, at least 64 segments: it limits only while a recovery takes
        /// longer than a round trip.
        pub receive_window: u64 = WINDOW.key().default("auto").in_ns2("100000")
            .source("ns-2: window_; Linux: tcp_rcvbuf_grow"),
        /// The sender's socket buffer in segments, or in bytes.
        pub send_buffer: Option<u64> = Kind::OneOf(&[
            Kind::Word(&["unlimited"]), SEGMENTS, Kind::Positive(SIZE),
        ]).key().default("unlimited"),
        /// Initial slow start threshold in segments; `auto`: the receive window.
        pub initial_ssthresh: Option<f64> = Kind::OneOf(&[
            Kind::Word(&["auto"]), Kind::Number(Range::closed(2.0, 1e12)),
        ]).key().default("auto").in_profile(Profile::Linux, "2147483647")
            .source("RFC 5681 section 3.1; Linux: TCP_INFINITE_SSTHRESH"),
        /// Duplicate ACKs that signal a loss.
        pub dupack_threshold: u32 = Kind::Whole { min: 1, max: 1000 }.key()
            .default("3").source("RFC 5681 section 3.2; Linux: tcp_reordering; ns-2: numdupacks_"),
        /// Whether the first duplicate ACKs each release a new segment.
        pub limited_transmit: bool = Kind::Flag.key().default("true").source("RFC 3042; ns-2: singledup_"),
        /// What one ACK counts for in growth: `per-ack`: 1; `{ per_segment = L }`: the segments that it covers, at
        /// most L in slow start; `delivered`: of these, those that no SACK block reported before, without a limit.
        pub ack_counting: AckCounting = Kind::OneOf(&[
            Kind::Word(&["per-ack", "delivered"]), Kind::Table(PerSegment::KEYS),
        ]).key()
            .default("{ per_segment = 2 }").in_profile(Profile::Linux, "delivered").in_ns2("per-ack")
            .source("RFC 3465, L = 2; Linux: acked_sacked of tcp_cong_control; ns-2: opencwnd"),
        /// Whether both ends use ECN; queues mark only if they do, too. `dctcp`: the receiver echoes the mark of each
        /// segment (RFC 8257); `accecn`: it counts marks (RFC 9768).
        pub ecn: Ecn = Kind::OneOf(&[Kind::Flag, Kind::Word(&["dctcp", "accecn"])]).key()
            .default("true").in_profile(Profile::Linux, "false").in_profile(Profile::Ns2_35, "false")
            .source("RFC 3168; Linux: tcp_ecn, only if the peer asks for it; ns-2: ecn_; LBNL-52549 table 5.2"),
        /// Delayed ACKs.
        pub delayed_ack: Option<DelayedAck> = Kind::OneOf(&[Kind::Flag, Kind::Table(DelayedAck::KEYS)]).key()
            .default("true").in_ns2("false").source("RFC 5681 section 4.2"),
        /// How recoveries with proportional rate reduction count.
        pub prr: PrrRule = Kind::Word(PrrRule::WORDS).key()
            .default("rfc6937").in_profile(Profile::Linux, "linux-6.18")
            .source("RFC 6937, RFC 9937; Linux: tcp_cwnd_reduction, tcp_enter_cwr"),
        /// The round-trip times that ACKs tell: `echo`, of the time that they echo; `last`, of the last segment that they
        /// newly acknowledge; `reported`, that less the delay that the receiver reports, as in QUIC.
        pub rtt_sample: RttSample = Kind::Word(RttSample::WORDS).key()
            .default("echo").in_profile(Profile::Linux, "last")
            .source("RFC 7323 section 4; Linux: seq_rtt_us and ca_rtt_us of tcp_clean_rtx_queue; RFC 9002 section 5.3"),
        /// How long a tail loss probe allows the ACK of a single segment to be delayed; `auto`: as long as `delayed_ack` has
        /// it.
        pub probe_ack_delay: Option<Span> = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(TIME)]).key()
            .default("auto").in_profile(Profile::Linux, "200 ms")
            .source("RFC 8985 section 7.2, TLP.max_ack_delay; Linux: tcp_schedule_loss_probe, tcp_rto_min"),
        /// The retransmission timer.
        pub rto: Rto = Kind::Table(Rto::KEYS).key().default("{}").source("RFC 6298"),
        /// Whether slow start goes on although something else limits the sender, while cwnd is below twice what was in
        /// flight.
        pub growth_beyond_use: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("Linux: tcp_is_cwnd_limited; RFC 7661 section 4.3"),
        /// What reductions start from.
        pub reductions: ReductionRule = Kind::Word(ReductionRule::WORDS).key()
            .default("rfc5681").in_profile(Profile::Linux, "linux-6.18")
            .source("RFC 5681 equation 4; Linux: tcp_init_cwnd_reduction, tcp_enter_loss"),
        /// Whether a reduction is undone when timestamps, duplicates (`dsack`) or, after a timeout, F-RTO show that nothing
        /// was lost, and duplicates make RACK wait longer for what was overtaken. Recoveries `rack-tlp` and
        /// `rack-tlp-prr` only.
        pub undo: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("RFC 3522, RFC 3708, RFC 5682; Linux: tcp_may_undo, tcp_process_loss, tcp_rack_update_reo_wnd"),
        /// What is left of a window of which nothing was sent for a retransmission timeout, whatever was received. Algorithms
        /// that control the window at all times keep theirs, as modules of Linux with `cong_control` do.
        pub idle_restart: IdleRestart = Kind::Word(IdleRestart::WORDS).key()
            .default("initial-window").in_profile(Profile::Linux, "halved").in_ns2("none")
            .source("RFC 5681 section 4.1; Linux: tcp_cwnd_restart, tcp_slow_start_after_idle_check"),
        /// Maximum of a random delay before a burst of segments, uniform from 0.
        pub send_jitter: Span = Kind::Quantity(TIME).key().default("0 s").source("ns-2: overhead_"),
        /// Maximum number of segments sent for one ACK.
        pub max_burst: Option<u32> = Kind::OneOf(&[
            Kind::Word(&["unlimited"]), Kind::Whole { min: 1, max: 1_000_000 },
        ]).key().default("unlimited").source("ns-2: maxburst_"),
        /// Whether segments are paced, at cwnd / srtt times a factor. Algorithms that set a pacing rate pace at it in
        /// any case.
        pub pacing: Option<Pacing> = Kind::OneOf(&[Kind::Flag, Kind::Table(Pacing::KEYS)]).key()
            .default("false").source("Linux: without the fq discipline"),
        /// How segments that are paced leave, where several may together, and whether one that waits follows a rate that
        /// jumps.
        pub paced_bursts: PacedBursts = Kind::Word(PacedBursts::WORDS).key()
            .default("early").in_profile(Profile::Linux, "linux-6.18")
            .source("Linux: tcp_pacing_check, tcp_update_skb_after_send"),
        /// Whether reductions round ssthresh, or cwnd and ssthresh, down to whole segments.
        pub rounding: Rounding = Kind::Word(Rounding::WORDS).key()
            .default("real").in_profile(Profile::Ns2_35, "integer-ssthresh")
            .in_profile(Profile::Ns2_2003, "integer-both")
            .source("ns-2: slowdown; real reductions of cwnd came in 2006"),
        /// Smallest windows that reductions leave; after a timeout it is one segment in any case.
        pub min_cwnd: MinCwnd = Kind::Table(MinCwnd::KEYS).key().default("{}"),
        /// IP and TCP headers of a data segment, without options.
        pub header_bytes as "header": u32 = Kind::Positive(SIZE).key()
            .default("40 B").source("IPv4 and TCP; ns-2: tcpip_base_hdr_size_"),
        /// A pure ACK, SYN or FIN on the wire, without options.
        pub ack_bytes as "ack_size": u32 = Kind::Positive(SIZE).key().default("40 B"),
        /// When the FIN of a connection of requests and responses leaves.
        pub fin: Fin = Kind::Word(Fin::WORDS).key().default("with-data").in_ns2("when-quiet")
            .source("RFC 9293 figure 12; ns-2: close_on_empty_ of FullTcp"),
        /// Whether the receiver reports what it holds out of order. `false` is a plain `TCPSink` behind a sender
        /// `Sack1`, which then repairs every loss by timeout; other senders without SACK recover as `newreno` does.
        pub sack_blocks: bool = Kind::Flag.key().default("true").source("RFC 2018 section 4"),
        /// Whether the receiver reports segments that had arrived before, as a first block.
        pub dsack: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("RFC 2883; Linux: tcp_dsack"),
        /// A SACK option on the wire, without its blocks.
        pub sack_option_bytes as "sack_option": u32 = Kind::Quantity(SIZE).key()
            .default("4 B").in_ns2("0 B").source("RFC 2018: 2 bytes and padding; Linux: TCPOLEN_SACK_BASE_ALIGNED"),
        /// Each SACK block on the wire.
        pub sack_block_bytes as "sack_block": u32 = Kind::Quantity(SIZE).key()
            .default("8 B").source("RFC 2018 section 3"),
    }
    flattened {
        /// Timestamps that segments carry.
        pub timestamps: Timestamps,
    }
    beside {
        /// Bytes to transfer; an unlimited (greedy) source without it.
        pub transfer: Option<u64>,
        /// Payload bytes of a full segment.
        pub mss_bytes: u32,
        /// The congestion control algorithm.
        pub congestion: ControllerSpec,
        /// The slow start.
        pub slow_start: SlowStart,
        /// How losses are detected and retransmitted.
        pub recovery: Recovery,
    }
}

keys! {
    /// Pacing rates in windows per smoothed round trip: more than one, or the flight falls short of what the window
    /// allows.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pacing {
        /// Factor while cwnd is below half of ssthresh.
        pub slow_start: f64 = FACTOR.key().default("1.25").in_profile(Profile::Linux, "2")
            .source("RFC 9002 section 7.7; Linux: tcp_pacing_ss_ratio"),
        /// Factor above that.
        pub avoidance: f64 = FACTOR.key().default("1.25").in_profile(Profile::Linux, "1.2")
            .source("RFC 9002 section 7.7; Linux: tcp_pacing_ca_ratio"),
        /// Segments that leave together at least, if the window allows.
        pub min_burst: u32 = Kind::Whole { min: 1, max: 1000 }.key().default("1").in_profile(Profile::Linux, "2")
            .unit("segments").source("Linux: tcp_min_tso_segs"),
        /// At high rates, all that takes no longer than this leaves together.
        pub burst_time: Span = Kind::Quantity(TIME).key().default("0 s").in_profile(Profile::Linux, "1 ms")
            .source("Linux: tcp_tso_autosize, sk_pacing_shift"),
        /// Segments of a connection that leave before it is paced.
        pub after: u32 = Kind::Whole { min: 0, max: 1_000_000 }.key().default("0").in_profile(Profile::Linux, "10")
            .unit("segments").source("Linux: tcp_update_skb_after_send"),
    }
}

words! {
    /// How segments that are paced leave, where several may together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PacedBursts {
        /// Each as soon as it belongs to a burst that could leave; one that waits leaves by the new rate once that is at
        /// least twice the rate before.
        Early = "early",
        /// Together, when those before have had the time that was fixed when they left. After a pause they take half their
        /// time.
        Linux = "linux-6.18",
    }
}

words! {
    /// When the FIN of a connection leaves whose application has given all data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fin {
        /// On the last segment of data.
        WithData = "with-data",
        /// On the last segment if nothing else is in flight when that leaves; else alone, when everything is
        /// acknowledged.
        WhenQuiet = "when-quiet",
        /// Alone, when everything is acknowledged.
        Alone = "alone",
    }
}

words! {
    /// How proportional rate reduction counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PrrRule {
        /// In proportion to the flight at the beginning; below the new window it grows by a segment more than was
        /// delivered (RFC 6937).
        Rfc6937 = "rfc6937",
        /// In proportion to the window at the beginning; it grows only with ACKs that move forward and tell of no loss
        /// (RFC 9937). Reductions for marks are spread over a round trip like others (Linux).
        Linux = "linux-6.18",
    }
}

words! {
    /// What reductions start from. ns-2's recoveries always take the window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReductionRule {
        /// What was in flight, where that was less than the window.
        Rfc5681 = "rfc5681",
        /// The window. A timeout in a recovery restarts from one segment, but leaves the threshold.
        Linux = "linux-6.18",
    }
}

words! {
    /// What is left of a window of which nothing was sent for a retransmission timeout.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IdleRestart {
        /// All of it.
        None = "none",
        /// The initial window (RFC 5681).
        InitialWindow = "initial-window",
        /// Half of it for each timeout in which nothing was sent, at least the initial window; slow start goes on up to
        /// three quarters (RFC 2861).
        Halved = "halved",
    }
}

words! {
    /// The round-trip time that an ACK tells.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RttSample {
        /// From the timestamp that it echoes: of the first segment that a delayed ACK answers, which waited for the
        /// second. Without timestamps, of one segment a round trip.
        Echo = "echo",
        /// The algorithm's is of the last segment that the ACK newly acknowledges, selectively or not, and the smallest
        /// one, too; what is smoothed, and the timers, are of the first. Segments sent twice give none, nor what is
        /// cumulatively acknowledged together with one: then, it is the timestamp's, in whole milliseconds.
        Last = "last",
        /// As `last`, and for all the same one: of the last segment, less the time for which the receiver reports to have
        /// delayed the ACK, unless that would be shorter than the smallest one. As in QUIC.
        Reported = "reported",
    }
}

words! {
    /// How losses are detected and retransmitted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Recovery {
        /// Fast retransmit, then slow start (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast recovery that ends with the first new ACK (RFC 2581).
        Reno = "reno",
        /// Fast recovery through partial ACKs (RFC 6582).
        NewReno = "newreno",
        /// Selective acknowledgements with the pipe of RFC 6675.
        Sack = "sack",
        /// The same, with proportional rate reduction (RFC 6937).
        SackPrr = "sack-prr",
        /// Forward acknowledgement (Mathis and Mahdavi 1996).
        Fack = "fack",
        /// Time-based detection and tail loss probes, RACK-TLP (RFC 8985).
        RackTlp = "rack-tlp",
        /// The same, with proportional rate reduction (RFC 6937).
        RackTlpPrr = "rack-tlp-prr",
        /// Reno as ns-2 has it.
        Ns2Reno = "ns2-reno",
        /// NewReno as ns-2 has it.
        Ns2NewReno = "ns2-newreno",
        /// ns-2's `Sack1`: a pipe that counts ACKs, not what is known to be lost.
        Ns2Sack = "ns2-sack",
    }
}

impl Tcp {
    /// Whether acknowledgements carry SACK blocks.
    pub fn reports_sack(&self) -> bool {
        self.sack_blocks && self.recovery.uses_sack()
    }
}

impl Recovery {
    /// Whether it works with selective acknowledgements.
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

    /// Whether ns-2 differs from the RFCs in it.
    pub(crate) fn is_ns2(self) -> bool {
        matches!(self, Self::Ns2Reno | Self::Ns2NewReno | Self::Ns2Sack)
    }
}

/// Explicit congestion notification of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// None.
    Off,
    /// A mark is echoed until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// Every ACK tells whether its segments were marked (RFC 8257 section 3.2).
    Dctcp,
    /// Every ACK counts the marks so far, modulo 8 (AccECN, RFC 9768).
    Accurate,
}

impl Ecn {
    /// Whether segments are sent as capable of it.
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

/// What an ACK counts for in growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckCounting {
    /// One, whatever it acknowledges (ns-2; RFC 2581).
    PerAck,
    /// The segments that it covers, at most this many in slow start (RFC 3465).
    PerSegment {
        /// The limit `L` of RFC 3465 in slow start; one in that after a timeout.
        slow_start_limit: f64,
    },
    /// The segments that it reports for the first time, selectively or not (Linux).
    Delivered,
}

keys! {
    /// Segments that an ACK covers.
    struct PerSegment {
        /// The limit L in slow start, in segments; 1 in that after a timeout.
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
    /// Delayed ACKs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DelayedAck {
        /// Maximum ACK delay.
        pub timeout: Span = Kind::Positive(TIME).key().default("100 ms").in_profile(Profile::Linux, "40 ms")
            .source("RFC 5681 section 4.2: below 500 ms; Linux: TCP_DELACK_MIN; ns-2: interval_"),
        /// In-order segments that are acknowledged together.
        pub segments: u32 = Kind::Whole { min: 1, max: 1000 }.key().default("2").source("RFC 5681 section 4.2"),
        /// Whether the answer to the SYN is delayed, too, as by ns-2's delaying sinks.
        pub delays_syn: bool = Kind::Flag.key().default("false"),
        /// ACKs that are not delayed at the beginning and after a segment that had arrived before, beside all while the
        /// receive window opens, as in the kernel, which compresses duplicate ACKs after the third, too, to one a
        /// millisecond. `0`: every ACK is delayed, and no duplicate.
        pub quick: u32 = Kind::Whole { min: 0, max: 1_000_000 }.key()
            .default("0").in_profile(Profile::Linux, "16").unit("ACKs")
            .source("Linux: TCP_MAX_QUICKACKS, tcp_incr_quickack, tcp_grow_window, tcp_rcv_space_adjust, tcp_comp_sack_delay_ns"),
        /// Whether the last segment of all data, which has PSH, is acknowledged at once.
        pub push: bool = Kind::Flag.key().default("false").in_profile(Profile::Linux, "true")
            .source("Linux: ICSK_ACK_PUSHED, tcp_cleanup_rbuf"),
    }
}

keys! {
    /// The retransmission timer (RFC 6298).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Rto {
        /// Timeout before the first sample of the round trip.
        pub initial: Span = Kind::Positive(TIME).key()
            .default("1 s").in_profile(Profile::Ns2_35, "3 s").in_profile(Profile::Ns2_2003, "6 s")
            .source("RFC 6298 section 2; Linux: TCP_TIMEOUT_INIT; ns-2: rtxcur_init_, 6 s before October 2004"),
        /// Lower bound.
        pub min: Span = Kind::Positive(TIME).key()
            .default("1 s").in_profile(Profile::Linux, "200 ms").in_profile(Profile::Ns2_35, "200 ms")
            .source("RFC 6298 section 2.4; Linux: TCP_RTO_MIN; ns-2: minrto_, 1 s before October 2004"),
        /// Upper bound.
        pub max: Span = Kind::Positive(TIME).key().default("60 s").in_profile(Profile::Linux, "120 s")
            .source("RFC 6298 section 2.5; Linux: TCP_RTO_MAX; ns-2: maxrto_, 60 s since 2007"),
    }
    flattened {
        /// How round trips are measured.
        pub clock: RttClock,
    }
}

/// How round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttClock {
    /// Exactly; the granularity enters the timeout only (RFC 6298 section 2).
    Exact {
        /// The `G` of RFC 6298.
        granularity: Span,
    },
    /// ns-2's: whole ticks from a random phase, in 8- and 4-fold fixed point.
    Ns2Ticks {
        /// Length of a tick.
        tick: Span,
    },
}

keys! {
    /// How round trips are measured: one of both holds.
    pub struct RttClockKeys {
        // The kernel keeps four times the variation above 200 ms, which is what this granularity means.
        /// Round trips are measured exactly; this is the G of RFC 6298.
        pub granularity: Option<Span> = Kind::Positive(TIME).key()
            .in_profile(Profile::Rfc, "1 ms").in_profile(Profile::Linux, "200 ms")
            .source("RFC 6298 section 2; Linux: tcp_rto_min bounds the variation"),
        /// Round trips are measured in ticks of this length, as in ns-2.
        pub tick: Option<Span> = Kind::Positive(TIME).key().in_ns2("10 ms").source("ns-2: tcpTick_"),
    }
}

impl RttClock {
    /// Its keys.
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

/// Timestamps that segments carry, and their bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamps {
    /// None.
    Off,
    /// The option of RFC 7323.
    Standard(u32),
    /// Sync-TCP's option: ACKs also report the transit time of the last data segment, between hosts whose clocks
    /// agree (Weigle 2003, chapter 3).
    OneWay(u32),
}

keys! {
    /// Timestamps that segments carry.
    pub struct TimestampKeys {
        /// Whether segments carry timestamps; `one-way`: Sync-TCP's option, with which receivers also report the
        /// one-way delay of each data segment.
        pub timestamps: TimestampKind = Kind::OneOf(&[Kind::Flag, Kind::Word(&["one-way"])]).key()
            .default("true").in_ns2("false")
            .source("RFC 7323; Linux: tcp_timestamps; ns-2: timestamps_; Weigle 2003, chapter 3"),
        /// The timestamp option on the wire; 14 B by default with `one-way`.
        pub timestamp_option: u32 = Kind::Quantity(SIZE).key().default("12 B").in_ns2("10 B")
            .source("RFC 7323 appendix A: 10 bytes and padding; Linux: TCPOLEN_TSTAMP_ALIGNED; ns-2: ts_option_size_"),
    }
}

/// Which option carries timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampKind {
    /// None.
    Off,
    /// That of RFC 7323.
    Standard,
    /// Sync-TCP's.
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
    /// Its keys.
    pub const KEYS: &'static [Key] = TimestampKeys::KEYS;

    /// Reads it from a checked table.
    pub fn of(table: &Table) -> Self {
        let bytes = || table.read(TimestampKeys::timestamp_option);
        match table.read(TimestampKeys::timestamps) {
            TimestampKind::Off => Self::Off,
            TimestampKind::Standard => Self::Standard(bytes()),
            TimestampKind::OneWay => Self::OneWay(bytes()),
        }
    }

    /// Bytes on the wire, if segments carry any.
    pub fn bytes(self) -> Option<u32> {
        match self {
            Self::Off => None,
            Self::Standard(bytes) | Self::OneWay(bytes) => Some(bytes),
        }
    }

    /// Whether ACKs report transit times.
    pub fn is_one_way(self) -> bool {
        matches!(self, Self::OneWay(_))
    }
}

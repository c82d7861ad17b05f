//! Disciplines fed with arrivals from files, for a comparison with the kernel's disciplines (`python -m
//! validation.queues`).
//!
//! The environment variable `QUEUES` names a folder. Each file `PATTERN.arrivals` in this folder has a row of four
//! numbers for each packet: its time in nanoseconds, its bytes, its flow, and 1 if it is ECN-capable. The test writes
//! three kinds of files: the random numbers that disciplines draw, the hashes of flows, and the fate of each packet.
//! All files are binary: each number has 64 bits, little-endian.

use std::fs;
use std::path::Path;

use longhaul_units::{Bytes, Rate, Span, Time};

use super::dual_pi2::Classifier;
use super::flow_queues::FlowHash;
use super::{
    Adaptive, Arrival, BufferedQueue, CakeConfig, Capacity, CoDelConfig, CoDelParameters,
    CoDelVariant, CobaltParameters, DelayEstimate, DualPi2Config, Effects, FlowQueuesParameters,
    FqCoDelConfig, FqPieConfig, Gentle, Marking, PacketQueue, PieConfig, PieParameters, PieVariant,
    QueueConfig, RedConfig,
};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

/// Time to send a byte at 10 Mbit/s.
const BYTE: Span = Span::from_ps(800_000);
/// Time of the first update: in the kernel, half a second after the discipline was set up.
const FIRST_UPDATE: Time = Time::from_ps(500_000_000_000);
const FLOWS: u32 = 4096;
const DRAWS: usize = 3_000_000;

const CODEL: CoDelParameters = CoDelParameters {
    variant: CoDelVariant::Linux,
    target: Span::from_millis(5),
    interval: Span::from_millis(100),
    max_packet: Bytes(1500),
};

const PIE: PieParameters = PieParameters {
    variant: PieVariant::Linux,
    target: Span::from_millis(15),
    update: Span::from_millis(16),
    alpha: 0.125,
    beta: 1.25,
    max_burst: Span::from_millis(150),
    mark_up_to: 0.1,
    derandomise: true,
    mean_packet: Bytes(1500),
};

/// RED with parameters as close to the kernel's as possible: in bytes, not gentle, and with gaps of up to `1/p` packets
/// between drops or marks.
const RED: RedConfig = RedConfig {
    limit: Capacity::Bytes(1_500_000),
    limit_overshoot: false,
    min_th_pkts: 5.0,
    max_th_pkts: 15.0,
    target_delay: Span::ZERO,
    weight: 1.0 / 512.0,
    max_p: 0.1,
    gentle: Gentle::Off,
    ecn: false,
    marking: Marking::Always,
    mean_packet: Bytes(1500),
    queue_in_bytes: true,
    scale_by_size: false,
    wait: false,
    adaptive: Adaptive(None),
    packets_per_s: 10e6 / 12e3,
};

/// The defaults of the profile `linux`, with a smaller limit, and with all ECN-capable packets in the L4S queue.
/// Weights are rounded as in the kernel, to whole multiples of 2^-32 per 64 ns (`sch_dualpi2.c`,
/// `dualpi2_scale_alpha_beta`).
const DUALPI2: DualPi2Config = DualPi2Config {
    limit: Capacity::Packets(1000),
    target: Span::from_millis(15),
    update: Span::from_millis(16),
    alpha: 44e9 / 64.0 / 4_294_967_295.0,
    beta: 879e9 / 64.0 / 4_294_967_295.0,
    coupling: 2.0,
    step: Span::from_millis(1),
    step_min: 0,
    classic_share: 0.1,
    classifier: Classifier::AnyEct,
    mtu: Bytes(1500),
};

const FLOW_QUEUES: FlowQueuesParameters = FlowQueuesParameters {
    quantum: Bytes(1500),
    queues: 1024,
};

/// Returns the disciplines to test: the name and the parameters of each.
fn cases() -> Vec<(&'static str, QueueConfig)> {
    let limit = Capacity::Packets;
    let codel = |control, ecn| {
        QueueConfig::CoDel(CoDelConfig {
            limit: limit(1000),
            ecn,
            control,
        })
    };
    let fq_codel = |control, ecn| {
        QueueConfig::FqCoDel(FqCoDelConfig {
            limit: limit(1000),
            ecn,
            drop_batch: 64,
            flows: FLOW_QUEUES,
            control,
        })
    };
    let pie = |control: PieParameters, ecn| {
        QueueConfig::Pie(PieConfig {
            limit: limit(1000),
            ecn,
            delay_estimate: DelayEstimate::Timestamps,
            control,
            rate: Rate::from_bps(10_000_000),
        })
    };
    let fq_pie = |control, ecn| {
        QueueConfig::FqPie(FqPieConfig {
            limit: limit(1000),
            ecn,
            flows: FLOW_QUEUES,
            control,
        })
    };
    let paper_codel = CoDelParameters {
        variant: CoDelVariant::Rfc8289,
        ..CODEL
    };
    let paper_pie = PieParameters {
        variant: PieVariant::Rfc8033,
        update: Span::from_millis(15),
        derandomise: false,
        ..PIE
    };
    let cake = QueueConfig::Cake(CakeConfig {
        limit: Capacity::Bytes(4 << 20),
        quantum: Bytes(305),
        control: CobaltParameters {
            ecn: true,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu_time: BYTE * 1500,
            blue_up: 1.0 / 256.0,
            blue_down: 1.0 / 4096.0,
        },
    });
    // Up to the limit of the queue, packets are marked instead of dropped, as in the kernel.
    let red_with_ecn = RedConfig {
        ecn: true,
        marking: Marking::UpTo(1.0),
        ..RED
    };
    let own_weights = DualPi2Config {
        alpha: 0.16,
        beta: 3.2,
        ..DUALPI2
    };
    vec![
        ("codel", codel(CODEL, false)),
        ("codel-ecn", codel(CODEL, true)),
        ("codel-rfc", codel(paper_codel, false)),
        ("pie", pie(PIE, false)),
        ("pie-ecn", pie(PIE, true)),
        ("pie-rfc", pie(paper_pie, false)),
        ("fq_codel", fq_codel(CODEL, false)),
        ("fq_codel-ecn", fq_codel(CODEL, true)),
        ("fq_codel-rfc", fq_codel(paper_codel, true)),
        ("fq_pie", fq_pie(PIE, false)),
        ("fq_pie-ecn", fq_pie(PIE, true)),
        ("cake", cake),
        ("red", QueueConfig::Red(RED)),
        ("red-ecn", QueueConfig::Red(red_with_ecn)),
        ("dualpi2", QueueConfig::DualPi2(DUALPI2)),
        ("dualpi2-own", QueueConfig::DualPi2(own_weights)),
    ]
}

/// A row of an arrivals file.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: Time,
    packet: Packet,
}

/// Fate of a packet: 1 for sent, 2 for sent with a mark, 3 for dropped. The second value is the time of the drop or of
/// the beginning of service, in nanoseconds. Both are 0 for packets that wait at the end.
type Fate = (u64, u64);

/// A discipline in front of a link of constant rate.
struct Link {
    queue: BufferedQueue,
    effects: Effects,
    /// End of the current transmission; `None` if the link is idle.
    busy_until: Option<Time>,
    /// Time at which the link last became idle; zero before the first transmission.
    idle_since: Time,
    next_update: Option<Time>,
    fates: Vec<Fate>,
}

impl Link {
    fn new(config: &QueueConfig, packets: usize) -> Self {
        let queue = config.buffered(stream());
        let next_update = queue.update_interval().map(|_| FIRST_UPDATE);
        Self {
            queue,
            effects: Effects::default(),
            busy_until: None,
            idle_since: Time::ZERO,
            next_update,
            fates: vec![(0, 0); packets],
        }
    }

    /// Processes the discipline's periodic updates and the ends of transmissions up to `now`. An update precedes the
    /// end of a transmission at the same time.
    fn catch_up(&mut self, now: Time) {
        loop {
            let update = self.next_update.filter(|&at| at <= now);
            let end = self.busy_until.filter(|&at| at <= now);
            match (update, end) {
                (Some(update), end) if end.is_none_or(|end| update <= end) => {
                    self.queue.update(update);
                    let interval = self.queue.update_interval().expect("there was one");
                    self.next_update = Some(update + interval);
                }
                (_, Some(end)) => self.begin_next(end),
                _ => return,
            }
        }
    }

    fn arrive(&mut self, row: &Row) {
        let now = row.time;
        self.catch_up(now);
        let (waiting_pkts, waiting_bytes) = self.queue.waiting();
        let idle = self.busy_until.is_none();
        if idle && waiting_pkts == 0 && self.queue.passes() {
            return self.begin(row.packet, now);
        }
        let arrival = Arrival {
            now,
            bytes: u32::from(row.packet.bytes),
            ecn_capable: row.packet.flags.has(Flags::ECT),
            low_priority: false,
            waiting_pkts,
            waiting_bytes,
            idle_since: idle.then_some(self.idle_since),
        };
        let taken = self.queue.enqueue(row.packet, &arrival, &mut self.effects);
        if taken.is_err() {
            self.settle(&row.packet, 3, now);
        }
        self.settle_effects(now);
        if idle {
            self.begin_next(now);
        }
    }

    fn begin_next(&mut self, now: Time) {
        let next = self.queue.dequeue(now, &mut self.effects);
        self.settle_effects(now);
        if self.busy_until.take().is_some() {
            self.idle_since = now;
        }
        if let Some(packet) = next {
            self.begin(packet, now);
        }
    }

    fn begin(&mut self, packet: Packet, now: Time) {
        let fate = if packet.flags.has(Flags::CE) { 2 } else { 1 };
        self.settle(&packet, fate, now);
        self.busy_until = Some(now + BYTE * u64::from(packet.bytes));
    }

    fn settle_effects(&mut self, now: Time) {
        self.effects.marked.clear();
        while let Some((packet, _)) = self.effects.dropped.pop() {
            self.settle(&packet, 3, now);
        }
    }

    fn settle(&mut self, packet: &Packet, fate: u64, now: Time) {
        self.fates[packet.seq as usize] = (fate, now.as_ps() / 1000);
    }
}

fn stream() -> Stream {
    Stream::new(1, 0, "oracle")
}

fn numbers(file: &Path) -> Vec<u64> {
    let bytes = fs::read(file).expect("arrivals can be read");
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn write(file: &Path, numbers: impl IntoIterator<Item = u64>) {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    fs::write(file, bytes).expect("the folder can be written");
}

fn rows(file: &Path) -> Vec<Row> {
    let all = numbers(file);
    let row = |(number, row): (u64, &[u64; 4])| {
        let &[ns, bytes, flow, ect] = row;
        let time = Time::from_ps(1000 * ns);
        let flags = if ect == 1 { Flags::ECT } else { Flags::NONE };
        let packet = Packet {
            time,
            flow: flow as u32,
            flags,
            ..Packet::data(number, bytes as u16)
        };
        Row { time, packet }
    };
    (0..).zip(all.as_chunks().0).map(row).collect()
}

/// Writes the random numbers that disciplines draw (file `draws`), and the hashes of flows in disciplines with hashed
/// flows (file `hashes`).
fn write_randomness(folder: &Path) {
    let mut drawn = stream();
    write(&folder.join("draws"), (0..DRAWS).map(|_| drawn.bits()));
    let hash = FlowHash::new(&mut stream());
    let of = |flow| {
        hash.of(&Packet {
            flow,
            ..Packet::data(0, 1)
        })
    };
    write(&folder.join("hashes"), (0..FLOWS).map(of));
}

#[test]
#[ignore = "needs the arrivals that validation.queues writes"]
fn disciplines_decide_about_arrivals_from_files() {
    let folder = std::env::var("QUEUES").expect("QUEUES: a folder with .arrivals files");
    let folder = Path::new(&folder);
    write_randomness(folder);
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let file = entry.expect("it can be read").path();
        if file.extension().is_none_or(|end| end != "arrivals") {
            continue;
        }
        let pattern = file.file_stem().expect("a name").to_string_lossy();
        let rows = rows(&file);
        for (case, config) in cases() {
            let mut link = Link::new(&config, rows.len());
            for row in &rows {
                link.arrive(row);
            }
            let out = folder.join(format!("{case}.{pattern}.ours"));
            write(&out, link.fates.iter().flat_map(|&(fate, ns)| [fate, ns]));
        }
    }
}

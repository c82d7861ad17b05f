//! Every queue discipline, with the parameters of its paper or RFC.

use longhaul_engine::queue::{
    AdaptationParameters, Capacity, CoDelConfig, CoDelParameters, Counting, DecBitConfig, DropTail,
    FqCoDelConfig, PiConfig, PieConfig, QueueConfig, RedParameters, RemConfig, RoundRobinConfig,
    Rule, VcpConfig, XcpConfig,
};
use longhaul_units::{Bytes, Rate, Span};

const PACKET: Bytes = Bytes(1500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    DropTail,
    HeadDrop,
    Red,
    GentleAdaptiveRed,
    CoDel,
    FqCoDel,
    Pie,
    Pi,
    Rem,
    DecBit,
    RoundRobin,
    Drr,
    Vcp,
    Xcp,
}

pub const DISCIPLINES: [Discipline; 14] = [
    Discipline::DropTail,
    Discipline::HeadDrop,
    Discipline::Red,
    Discipline::GentleAdaptiveRed,
    Discipline::CoDel,
    Discipline::FqCoDel,
    Discipline::Pie,
    Discipline::Pi,
    Discipline::Rem,
    Discipline::DecBit,
    Discipline::RoundRobin,
    Discipline::Drr,
    Discipline::Vcp,
    Discipline::Xcp,
];

impl Discipline {
    /// In front of a link of this rate and delay.
    pub fn config(self, limit: Capacity, ecn: bool, rate: Rate, delay: Span) -> QueueConfig {
        let full = |counting| DropTail { limit, counting };
        let control = CoDelParameters {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            ecn,
            max_packet: PACKET,
        };
        match self {
            Self::DropTail => QueueConfig::DropTail(full(Counting::InService)),
            Self::HeadDrop => QueueConfig::HeadDrop(full(Counting::Waiting)),
            Self::Red | Self::GentleAdaptiveRed => {
                let mut red = RedParameters::new(limit, PACKET);
                red.ecn = ecn;
                if self == Self::GentleAdaptiveRed {
                    red.adaptive = Some(AdaptationParameters {
                        rule: Rule::GentleAdaptive,
                        bottom: Some(0.0),
                        ..AdaptationParameters::default()
                    });
                }
                QueueConfig::Red(red.resolve(rate, delay))
            }
            Self::CoDel => QueueConfig::CoDel(CoDelConfig { limit, control }),
            Self::FqCoDel => QueueConfig::FqCoDel(FqCoDelConfig {
                limit,
                queues: 1024,
                quantum: Bytes(1514),
                drop_batch: 64,
                control,
            }),
            Self::Pie => QueueConfig::Pie(PieConfig {
                limit,
                target: Span::from_millis(15),
                update: Span::from_millis(15),
                alpha: 0.125,
                beta: 1.25,
                max_burst: Span::from_millis(150),
                ecn,
                mark_up_to: 0.1,
                derandomise: false,
                mean_packet: PACKET,
                rate,
            }),
            Self::Pi => QueueConfig::Pi(PiConfig {
                limit,
                reference_pkts: 20.0,
                a: 1.822e-5,
                b: 1.816e-5,
                update: Span::from_micros(5882),
                ecn,
            }),
            Self::Rem => QueueConfig::Rem(RemConfig {
                limit,
                target_pkts: 20.0,
                gamma: 1e-3,
                alpha: 0.1,
                phi: 1.001,
                input_weight: 1.0,
                update: Span::from_millis(2),
                capacity_pkts: 2e-3 * rate.packets_per_s(PACKET.0),
                ecn,
            }),
            Self::DecBit => QueueConfig::DecBit(DecBitConfig { limit }),
            Self::RoundRobin => QueueConfig::RoundRobin(RoundRobinConfig {
                limit,
                quantum: None,
            }),
            Self::Drr => QueueConfig::RoundRobin(RoundRobinConfig {
                limit,
                quantum: Some(PACKET),
            }),
            Self::Vcp => QueueConfig::Vcp(VcpConfig {
                limit,
                interval: Span::from_millis(200),
                sample: Span::from_millis(10),
                queue_weight: 0.5,
                target: 0.98,
            }),
            Self::Xcp => QueueConfig::Xcp(XcpConfig {
                limit,
                alpha: 0.4,
                beta: 0.226,
                gamma: 0.1,
            }),
        }
    }
}

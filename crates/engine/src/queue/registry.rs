//! Queue disciplines as scenario files know them, and the table that lists them.

use longhaul_keys::{Key, Refusal, Table};
use longhaul_units::Rate;

use super::{LinkContext, QueueConfig};

/// A queue discipline that a scenario may name.
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// What scenario files call it.
    pub kind: &'static str,
    /// Its name in full.
    pub title: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
    /// RFC or paper.
    pub source: &'static str,
    /// Whether lengths are all that it decides from, when packets arrive, so that somebody else may hold these.
    pub on_arrival: bool,
    /// Whether it works without a link, as the local queue of a proxy.
    pub outside_links: bool,
    /// Whether every flow has a queue of its own.
    pub per_flow: bool,
    /// Its parameters, with their defaults.
    pub keys: &'static [Key],
    pub(super) complete: fn(&mut Table, &LinkContext) -> Result<(), Refusal>,
    pub(super) read: fn(&Table, Rate) -> QueueConfig,
}

impl Discipline {
    /// Makes explicit what follows from the place of the queue.
    pub fn complete(&self, values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_limit(values)?;
        (self.complete)(values, link)
    }

    /// The parameters, from complete values, in front of a link of this rate.
    pub fn config(&self, values: &Table, rate: Rate) -> QueueConfig {
        (self.read)(values, rate)
    }
}

/// Makes modules, [`QueueConfig`], [`BufferedQueue`](super::BufferedQueue) and [`DISCIPLINES`](super::DISCIPLINES)
/// of lines `module: Kind(Parameters)`.
macro_rules! disciplines {
    ($($module:ident: $Kind:ident($Parameters:ident),)+) => {
        $(
            mod $module;
            pub use self::$module::$Parameters;
        )+

        /// Every queue discipline.
        pub const DISCIPLINES: &[Discipline] = &[$(
            Discipline {
                kind: <$Parameters as Parameters>::KIND,
                title: <$Parameters as Parameters>::TITLE,
                description: <$Parameters as Parameters>::DESCRIPTION,
                source: <$Parameters as Parameters>::SOURCE,
                on_arrival: <$Parameters as Parameters>::ON_ARRIVAL,
                outside_links: <$Parameters as Parameters>::OUTSIDE_LINKS,
                per_flow: <$Parameters as Parameters>::PER_FLOW,
                keys: $Parameters::KEYS,
                complete: <$Parameters as Parameters>::complete,
                read: |values, rate| {
                    QueueConfig::$Kind(<$Parameters as Parameters>::read(values, rate))
                },
            },
        )+];

        /// A discipline and its parameters, resolved.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $(
                #[doc = concat!("See [`", stringify!($Parameters), "`].")]
                $Kind($Parameters),
            )+
        }

        impl QueueConfig {
            /// The name of its discipline in scenario files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$Kind(_) => <$Parameters as Parameters>::KIND,)+
                }
            }

            /// How much it holds.
            pub fn limit(&self) -> Capacity {
                match self {
                    $(Self::$Kind(parameters) => parameters.limit,)+
                }
            }

            /// Whether an arrival's fate and departure are known when it arrives.
            pub fn decides_on_arrival(&self) -> bool {
                match self {
                    $(Self::$Kind(parameters) => parameters.decides_on_arrival(),)+
                }
            }

            /// When it draws random numbers while packets pass.
            pub(crate) fn draws(&self) -> Draws {
                match self {
                    $(Self::$Kind(parameters) => parameters.draws(),)+
                }
            }

            /// Whether anything about it is random.
            pub fn is_random(&self) -> bool {
                match self {
                    $(Self::$Kind(parameters) => parameters.is_random(),)+
                }
            }

            /// Whether it marks packets that are ECN-capable.
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$Kind(parameters) => parameters.marks(),)+
                }
            }

            /// An empty queue that holds its packets, for explicit service.
            pub(super) fn buffered(&self, stream: Stream) -> BufferedQueue {
                match self {
                    $(Self::$Kind(parameters) => BufferedQueue::$Kind(parameters.queue(stream)),)+
                }
            }
        }

        /// Any discipline, with the packets that wait.
        #[derive(Clone, Debug)]
        pub(crate) enum BufferedQueue {
            $($Kind(<$Parameters as Parameters>::Queue),)+
            /// One of the others, where acknowledgements are filtered.
            FilteringAcks(Box<AckFilter>),
        }

        impl PacketQueue for BufferedQueue {
            #[inline]
            fn observe_arrival(&mut self, packet: &Packet, options: &mut OptionStore) {
                match self {
                    $(Self::$Kind(queue) => queue.observe_arrival(packet, options),)+
                    Self::FilteringAcks(queue) => queue.observe_arrival(packet, options),
                }
            }

            #[inline(always)]
            fn passes(&self) -> bool {
                match self {
                    $(Self::$Kind(queue) => queue.passes(),)+
                    Self::FilteringAcks(queue) => queue.passes(),
                }
            }

            #[inline(always)]
            fn enqueue(
                &mut self,
                packet: Packet,
                arrival: &Arrival,
                effects: &mut Effects,
            ) -> Result<(), DropReason> {
                match self {
                    $(Self::$Kind(queue) => queue.enqueue(packet, arrival, effects),)+
                    Self::FilteringAcks(queue) => queue.enqueue(packet, arrival, effects),
                }
            }

            #[inline(always)]
            fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
                match self {
                    $(Self::$Kind(queue) => queue.dequeue(now, effects),)+
                    Self::FilteringAcks(queue) => queue.dequeue(now, effects),
                }
            }

            #[inline]
            fn stamp_departure(&mut self, packet: &mut Packet, options: &mut OptionStore) {
                match self {
                    $(Self::$Kind(queue) => queue.stamp_departure(packet, options),)+
                    Self::FilteringAcks(queue) => queue.stamp_departure(packet, options),
                }
            }

            #[inline]
            fn waiting(&self) -> (u64, u64) {
                match self {
                    $(Self::$Kind(queue) => queue.waiting(),)+
                    Self::FilteringAcks(queue) => queue.waiting(),
                }
            }

            fn update_interval(&self) -> Option<Span> {
                match self {
                    $(Self::$Kind(queue) => queue.update_interval(),)+
                    Self::FilteringAcks(queue) => queue.update_interval(),
                }
            }

            fn update(&mut self, now: Time) {
                match self {
                    $(Self::$Kind(queue) => queue.update(now),)+
                    Self::FilteringAcks(queue) => queue.update(now),
                }
            }

            fn state(&self) -> AqmState {
                match self {
                    $(Self::$Kind(queue) => queue.state(),)+
                    Self::FilteringAcks(queue) => queue.state(),
                }
            }
        }
    };
}

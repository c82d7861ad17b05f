//! Queue disciplines by their names in scenario files, and the table that lists them.

use longhaul_keys::{Key, Refusal, Table};
use longhaul_units::Rate;

use super::{LinkContext, QueueConfig};

/// Declaration of a queue discipline that scenarios can name.
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// Name in scenario files.
    pub kind: &'static str,
    /// Full name.
    pub title: &'static str,
    /// Description in one sentence.
    pub description: &'static str,
    /// RFC or paper that defines the discipline.
    pub source: &'static str,
    /// True if the discipline decides about packets only on arrival. It does not store them: its link or proxy does.
    /// Also true for drop-tail, although its option head drop needs the packets: see
    /// [`QueueConfig::decides_on_arrival`].
    pub on_arrival: bool,
    /// True if the discipline works without a link, as the local queue of a proxy.
    pub outside_links: bool,
    /// True if flows are separated into queues. With hashing, several flows may share a queue.
    pub per_flow: bool,
    /// Keys of its parameters, with their defaults.
    pub keys: &'static [Key],
    pub(super) complete: fn(&mut Table, &LinkContext) -> Result<(), Refusal>,
    pub(super) read: fn(&Table, Rate) -> QueueConfig,
}

impl Discipline {
    /// Sets the values that follow from the link behind the queue. Refuses values that contradict the link or each
    /// other.
    pub fn complete(&self, values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_limit(values)?;
        (self.complete)(values, link)
    }

    /// Reads the parameters of the discipline from `values`, completed by [`Self::complete`], for a link of this rate.
    pub fn config(&self, values: &Table, rate: Rate) -> QueueConfig {
        (self.read)(values, rate)
    }
}

/// Expands lines `module: Kind(Parameters)` to modules, [`QueueConfig`], [`BufferedQueue`](super::BufferedQueue)
/// and [`DISCIPLINES`](super::DISCIPLINES).
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

        /// A discipline with its parameters, all values resolved.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $(
                #[doc = concat!("See [`", stringify!($Parameters), "`].")]
                $Kind($Parameters),
            )+
        }

        impl QueueConfig {
            /// Returns the name of the discipline in scenario files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$Kind(_) => <$Parameters as Parameters>::KIND,)+
                }
            }

            /// Returns the queue's capacity.
            pub fn limit(&self) -> Capacity {
                match self {
                    $(Self::$Kind(parameters) => parameters.limit,)+
                }
            }

            /// Returns true if the fate of a packet and its departure time are known when it arrives.
            pub fn decides_on_arrival(&self) -> bool {
                match self {
                    $(Self::$Kind(parameters) => parameters.decides_on_arrival(),)+
                }
            }

            /// Returns the cases in which the discipline draws random numbers for packets.
            pub(crate) fn draws(&self) -> Draws {
                match self {
                    $(Self::$Kind(parameters) => parameters.draws(),)+
                }
            }

            /// Returns true if the discipline uses random numbers at any time, also for hashing.
            pub fn is_random(&self) -> bool {
                match self {
                    $(Self::$Kind(parameters) => parameters.is_random(),)+
                }
            }

            /// Returns true if the discipline marks ECN-capable packets.
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$Kind(parameters) => parameters.marks(),)+
                }
            }

            /// Returns an empty queue that stores its packets, with this discipline.
            pub(super) fn buffered(&self, stream: Stream) -> BufferedQueue {
                match self {
                    $(Self::$Kind(parameters) => BufferedQueue::$Kind(parameters.queue(stream)),)+
                }
            }
        }

        /// Any discipline, as a queue that stores its packets.
        #[derive(Clone, Debug)]
        pub(crate) enum BufferedQueue {
            $($Kind(<$Parameters as Parameters>::Queue),)+
            /// Another discipline with ACK filtering in front.
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

            #[cold]
            fn note_filtered(&mut self, packet: &Packet, options: &mut OptionStore) {
                if let Self::FilteringAcks(queue) = self {
                    queue.note_filtered(packet, options);
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

            fn classes(&self) -> Option<[ClassCounters; 2]> {
                match self {
                    $(Self::$Kind(queue) => queue.classes(),)+
                    Self::FilteringAcks(queue) => queue.classes(),
                }
            }
        }
    };
}

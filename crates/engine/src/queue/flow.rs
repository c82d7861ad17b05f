//! Keys that identify flows in queue disciplines, and small numbers for flows with waiting packets.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::packet::{Flags, Packet};

/// Returns the key of a packet's flow: a number that is unique among all connections and datagram streams.
pub(super) fn flow_key(packet: &Packet) -> u64 {
    2 * u64::from(packet.flow) + u64::from(packet.flags.has(Flags::DATAGRAM))
}

/// Mixes the bits of a key so that similar keys are spread evenly: the finaliser of `SplitMix64` (Steele, Lea and Flood
/// 2014).
pub(super) fn mix(mut key: u64) -> u64 {
    key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

/// Numbers, from 0 on, of flows with waiting packets. The number of a flow without packets is reused: numbers stay
/// small for any number of connections in the run.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowNumbers {
    /// Numbers of flows, by the keys of the flows. The map is never iterated, so that its order has no effect.
    numbers: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    /// For each number, the key of the flow that has it or had it last.
    keys: Vec<u64>,
    free: Vec<u32>,
}

impl FlowNumbers {
    /// Returns the number of a packet's flow. Assigns a number if the flow has none.
    pub(super) fn number(&mut self, packet: &Packet) -> u32 {
        let key = flow_key(packet);
        *self.numbers.entry(key).or_insert_with(|| {
            if let Some(number) = self.free.pop() {
                self.keys[number as usize] = key;
                return number;
            }
            self.keys.push(key);
            u32::try_from(self.keys.len() - 1).expect("fewer than 4e9 flows wait")
        })
    }

    /// Returns the number of a packet's flow; `None` if the flow has none.
    pub(super) fn known(&self, packet: &Packet) -> Option<u32> {
        self.numbers.get(&flow_key(packet)).copied()
    }

    /// Releases the number of a flow that no longer has waiting packets.
    pub(super) fn release(&mut self, number: u32) {
        let key = self.keys[number as usize];
        let released = self.numbers.remove(&key);
        debug_assert_eq!(released, Some(number), "only numbers in use are released");
        self.free.push(number);
    }

    /// Returns the count of different flow numbers given out so far, in use or released.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}

/// A hasher of flow keys, equal in every run.
#[derive(Clone, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write_u64(&mut self, key: u64) {
        self.0 = mix(key);
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("flow keys are whole numbers");
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::packet_of;

    /// Flows get numbers from 0 on. A flow keeps its number until the number is released; a new flow then gets it.
    #[test]
    fn numbers_are_given_again() {
        let mut numbers = FlowNumbers::default();
        let of = |flow| packet_of(flow, 0, 1500);
        let datagram = |flow| Packet {
            flags: Flags::DATAGRAM,
            ..of(flow)
        };
        let given = [of(3), of(5), of(3), datagram(3), datagram(2)];
        assert_eq!(given.map(|packet| numbers.number(&packet)), [0, 1, 0, 2, 3]);
        numbers.release(1);
        assert_eq!(
            [of(5), of(3)].map(|packet| numbers.known(&packet)),
            [None, Some(0)]
        );
        assert_eq!([of(9), of(5)].map(|packet| numbers.number(&packet)), [1, 4]);
        assert_eq!(numbers.len(), 5);
        // A release of the number releases its new flow.
        numbers.release(1);
        assert_eq!(
            [of(9), of(5)].map(|packet| numbers.known(&packet)),
            [None, Some(4)]
        );
    }

    /// Connections have even keys, and datagram streams the odd ones. Hashes, and thus results of simulations, depend
    /// on these keys.
    #[test]
    fn keys_tell_connections_and_datagrams_apart() {
        let mut packet = packet_of(u32::MAX, 0, 1500);
        assert_eq!(flow_key(&packet), 0x1_ffff_fffe);
        packet.flags = Flags::DATAGRAM;
        assert_eq!(flow_key(&packet), 0x1_ffff_ffff);
    }

    /// [`mix`] is the mixing function of the random generator `SplitMix64`: for multiples of the constant `golden`, the
    /// results are the generator's first outputs with seed 0.
    #[test]
    fn keys_are_mixed_by_splitmix64() {
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        let numbers = [1, 2, 3].map(|step| mix(golden.wrapping_mul(step)));
        let expected = [
            0xe220_a839_7b1d_cdaf,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f,
        ];
        assert_eq!(numbers, expected);
    }
}

//! The link behind a queue. Some parameters of the queue are derived from it.

use longhaul_keys::{Field, Refusal, Table, Value};
use longhaul_units::{Bytes, Quantity, Rate, Span};

use super::Capacity;

/// Values of a link for the derivation of queue parameters.
#[derive(Clone, Copy, Debug)]
pub struct LinkContext {
    /// Rate of the link behind the queue or, if there is one, of its shaper.
    pub rate: Rate,
    /// True if the link's rate changes during a run, or follows a delivery trace.
    pub varies: bool,
    /// One-way delay of the link.
    pub delay: Span,
    /// Round-trip time for limits in BDP.
    pub rtt: Span,
    /// Largest packet that a flow sends.
    pub packet: Bytes,
    /// True if the queue's configuration is taken over from the opposite direction. The user did not choose its limit
    /// for this direction's rate. A time or a multiple of the BDP below one packet is therefore raised to one packet
    /// instead of refused.
    pub taken_over: bool,
}

/// Maximum limit in packets; larger ones are refused as mistakes.
const MAX_PACKETS: f64 = 1e12;
/// Minimum update interval. Shorter intervals would only slow the simulation down.
const MIN_UPDATE_INTERVAL: Span = Span::from_micros(10);

impl LinkContext {
    /// Returns the context of a single link of constant rate. Its round-trip time is twice its delay.
    pub fn new(rate: Rate, delay: Span, packet: Bytes) -> Self {
        Self {
            rate,
            varies: false,
            delay,
            rtt: delay * 2,
            packet,
            taken_over: false,
        }
    }

    /// Converts a limit in bandwidth-delay products or as a time to packets or bytes. Refuses a limit below one packet
    /// (but see `taken_over`), a fraction of packets, and too many packets. A limit of `auto` is left to the
    /// discipline.
    pub(super) fn complete_limit(&self, values: &mut Table) -> Result<(), Refusal> {
        let Self { rate, packet, .. } = *self;
        if values.is_word(Capacity::FIELD, "auto") {
            return Ok(());
        }
        match values.read(Capacity::FIELD.seen_as::<Quantity>()) {
            Quantity::Bdp(multiple) => self.complete_bdp(values, multiple)?,
            Quantity::Span(span) => {
                let bytes = rate.bdp(span);
                let rule = format!("{span} at {rate}");
                if bytes < packet && self.taken_over {
                    Self::derive_one_packet(values, &rule);
                    return Ok(());
                }
                if bytes < packet {
                    return refuse(format!(
                        "{rate} sends {bytes} in {span}, less than one packet of {packet}; expected a longer \
                         time, or a limit in packets"
                    ));
                }
                values.derive(
                    Capacity::FIELD,
                    Value::Quantity(Quantity::Bytes(bytes)),
                    rule,
                );
            }
            Quantity::Packets(packets) if packets.fract() != 0.0 => {
                return refuse(format!(
                    "expected a whole number of packets, found {packets}"
                ));
            }
            Quantity::Packets(packets) if packets > MAX_PACKETS => {
                return refuse(format!(
                    "expected at most {MAX_PACKETS} packets, found {packets}"
                ));
            }
            Quantity::Bytes(bytes) if bytes < packet => {
                return refuse(format!(
                    "{bytes} is less than one packet of {packet}; expected at least {packet}"
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn complete_bdp(&self, values: &mut Table, multiple: f64) -> Result<(), Refusal> {
        let Self {
            rate, rtt, packet, ..
        } = self;
        let bytes = rate.bdp(*rtt).0 as f64 * multiple;
        let packets = (bytes / packet.0 as f64).floor();
        let rule = format!("{multiple} BDP: {rate} x {rtt} / {packet}");
        if packets < 1.0 && self.taken_over {
            Self::derive_one_packet(values, &rule);
            return Ok(());
        }
        if packets < 1.0 {
            return refuse(format!(
                "{multiple} BDP is less than one packet here ({rate} x {rtt}, packets of {packet}); expected a \
                 limit in packets"
            ));
        }
        values.derive(
            Capacity::FIELD,
            Value::Quantity(Quantity::Packets(packets)),
            rule,
        );
        Ok(())
    }

    fn derive_one_packet(values: &mut Table, rule: &str) {
        let rule = format!("{rule}, but at least one packet");
        values.derive(
            Capacity::FIELD,
            Value::Quantity(Quantity::Packets(1.0)),
            rule,
        );
    }

    /// Replaces the value `auto` of `key` by the size of the largest packet.
    pub(super) fn complete_size<T>(&self, values: &mut Table, key: Field<T>) {
        if values.is_word(key, "auto") {
            let packet = Value::Quantity(Quantity::Bytes(self.packet));
            values.derive(key, packet, "the largest packet of a flow");
        }
    }
}

fn refuse(message: String) -> Result<(), Refusal> {
    Err(Refusal::of(Capacity::FIELD, message))
}

/// Refuses an update interval below the minimum. Each update is an event: with a shorter interval, a run would spend
/// most of its time on updates.
pub(super) fn check_update(values: &Table, key: Field<Span>) -> Result<(), Refusal> {
    let update = values.read(key);
    if update < MIN_UPDATE_INTERVAL {
        let message = format!("{update} is too short; expected at least {MIN_UPDATE_INTERVAL}");
        return Err(Refusal::of(key, message));
    }
    Ok(())
}

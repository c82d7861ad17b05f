//! Transmission times of single packets on a link: at a constant rate, or along a service curve.

use longhaul_units::Time;

use super::transmitter::Transmitter;
use crate::config::{Link, ServiceCurve, Work};

/// A transmitter that sends packets one after the other.
#[derive(Debug)]
pub(super) enum LinkTransmitter {
    /// Transmission at a constant rate.
    Constant(Transmitter),
    /// Transmission at rates that change, or at the delivery opportunities of a trace.
    Varying(VaryingTransmitter),
}

impl LinkTransmitter {
    pub(super) fn new(link: &Link) -> Self {
        match ServiceCurve::of(link) {
            ServiceCurve::Constant(rate) => Self::Constant(Transmitter::new(rate)),
            curve => Self::Varying(VaryingTransmitter::new(curve)),
        }
    }

    /// Transmits a packet from `start` on. Returns the end of the transmission, or [`Time::NEVER`] if the rate stays at
    /// zero. The last transmission ended at `last_end`. `follows` is true if the packet has waited for this end: only
    /// then may it use the rest of a delivery opportunity.
    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        bytes: u16,
        start: Time,
        last_end: Time,
        follows: bool,
    ) -> Time {
        match self {
            Self::Constant(transmitter) => {
                if start > last_end {
                    transmitter.note_pause();
                }
                start + transmitter.time(bytes)
            }
            Self::Varying(varying) => varying.transmit(bytes, start, follows),
        }
    }

    /// Returns the unsent part, at `now`, of the transmission that ends at `end`.
    pub(super) fn unsent(&self, end: Time, now: Time) -> Work {
        match self {
            Self::Constant(transmitter) => transmitter.unsent(end.since(now)),
            Self::Varying(varying) => varying.unsent(now),
        }
    }
}

/// A transmitter whose rate follows a service curve.
#[derive(Debug)]
pub(super) struct VaryingTransmitter {
    curve: ServiceCurve,
    /// Value of the service curve, an amount of data, at the beginning of the last transmission.
    from: Work,
    /// Value of the service curve, an amount of data, at the end of the last transmission.
    to: Work,
}

impl VaryingTransmitter {
    fn new(curve: ServiceCurve) -> Self {
        Self {
            curve,
            from: Work::default(),
            to: Work::default(),
        }
    }

    fn transmit(&mut self, bytes: u16, start: Time, follows: bool) -> Time {
        // Work that the link could have done while it was idle is lost, including an opportunity at the very time of
        // the arrival.
        self.from = if follows {
            self.to
        } else {
            self.to.max(self.curve.work_by(start))
        };
        self.to = Work(self.from.0 + Work::of_bytes(u64::from(bytes)).0);
        self.curve.time_of(self.to).max(start)
    }

    fn unsent(&self, now: Time) -> Work {
        self.to.since(self.curve.work_by(now).max(self.from))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use longhaul_units::{Bytes, Span};

    use super::*;
    use crate::config::DeliveryTrace;

    /// Mahimahi's rule: a delivery opportunity transmits packets and parts of packets, in order. If the queue becomes
    /// empty, the rest of the opportunity is lost. A partly transmitted packet continues in the next opportunity.
    #[test]
    fn packets_share_opportunities_and_go_on_in_the_next() {
        let trace = DeliveryTrace::new(vec![10, 20, 30, 40], Bytes(1500));
        let mut link = VaryingTransmitter::new(ServiceCurve::Trace(Arc::new(trace)));
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        // Three packets of 1000 bytes arrive together. The first leaves at 10 ms, when half of the second has been
        // sent; the other two leave at 20 ms.
        assert_eq!(link.transmit(1000, ms(5), false), ms(10));
        assert_eq!(link.transmit(1000, ms(10), true), ms(20));
        assert_eq!(link.unsent(ms(10)), Work::of_bytes(500));
        assert_eq!(link.transmit(1000, ms(20), true), ms(20));
        assert_eq!(link.unsent(ms(20)), Work::of_bytes(0));
        // The queue is empty. A packet that arrives at the time of an opportunity waits for the next opportunity.
        assert_eq!(link.transmit(40, ms(20), false), ms(30));
        assert_eq!(link.transmit(1460, ms(30), true), ms(30));
        assert_eq!(link.transmit(3001, ms(30), true), ms(60));
        assert_eq!(link.unsent(ms(45)), Work::of_bytes(1501));
    }
}

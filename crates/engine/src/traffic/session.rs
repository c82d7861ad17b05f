//! A web session: a sequence of pages with several objects. The objects of a page are requested without waiting for
//! each other (ns-2's PagePool/WebTraf, `webcache/webtraf.cc`).

use longhaul_units::{Span, Time};

use super::planned::{PlannedConnection, PlannedExchange, Response};
use crate::config::Web;
use crate::random::{Stream, WITHOUT_END, whole};

/// A web session, with the numbers of pages and objects that are left.
#[derive(Debug)]
pub(crate) struct Session {
    config: Web,
    /// Number of pages that have not begun.
    pages_left: u64,
    /// Number of objects of the current page that have not been requested.
    objects_left: u64,
    /// Number of objects that are being transferred.
    objects_open: u64,
    stream: Stream,
}

impl Session {
    pub(crate) fn new(config: &Web, stream: Stream) -> Self {
        Self {
            config: config.clone(),
            pages_left: config.pages,
            objects_left: 0,
            objects_open: 0,
            stream,
        }
    }

    /// Returns the time of the next request for an object. Returns `None` while the session waits for the end of a
    /// page, and after the last page. The first page begins at once.
    pub(super) fn next_arrival(&mut self, now: Time) -> Option<Time> {
        if self.objects_left > 0 {
            return Some(now + self.stream.draw_span(&self.config.inter_object));
        }
        (self.objects_open == 0).then(|| self.begin_page(now))?
    }

    fn begin_page(&mut self, at: Time) -> Option<Time> {
        self.pages_left = self.pages_left.checked_sub(1)?;
        self.objects_left = self.stream.draw_count(&self.config.objects);
        Some(at)
    }

    pub(super) fn open(&mut self) -> PlannedConnection {
        self.objects_left -= 1;
        self.objects_open += 1;
        let unit = self.config.whole_units_of.unwrap_or(1);
        let units = self.stream.draw(&self.config.object) / unit as f64;
        let bytes = whole(units).saturating_mul(unit).min(WITHOUT_END);
        let first = PlannedExchange {
            pause: Span::ZERO,
            request_bytes: self.config.request_bytes,
            response: Response::Bytes(bytes),
            server_delay: Span::ZERO,
        };
        PlannedConnection {
            separate: self.config.separate,
            ..PlannedConnection::single(first)
        }
    }

    /// Records the arrival of an object. If it is the last one of its page, returns the time at which the next page
    /// begins, after a pause; `None` if there are no more pages.
    pub(super) fn after_exchange(&mut self, now: Time) -> Option<Time> {
        self.objects_open -= 1;
        if self.objects_left + self.objects_open > 0 {
            return None;
        }
        let pause = self.stream.draw_span(&self.config.inter_page);
        self.begin_page(now + pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Distribution;

    /// Runs sessions with a transfer time of one second per object. Returns the number of pages, the number of objects,
    /// and the total size of the objects in units of `config.whole_units_of`.
    fn play(config: &Web, seed: u64) -> (u64, u64, u64) {
        let mut session = Session::new(config, Stream::new(seed, 0, "test"));
        let (mut objects, mut units) = (0, 0);
        let mut next = session.next_arrival(Time::ZERO);
        let mut under_way = 0;
        while let Some(now) = next {
            let Response::Bytes(bytes) = session.open().first.response else {
                panic!("an object has a size");
            };
            objects += 1;
            units += bytes / config.whole_units_of.unwrap_or(1);
            under_way += 1;
            next = session.next_arrival(now);
            while next.is_none() && under_way > 0 {
                under_way -= 1;
                next = session.after_exchange(now + Span::from_secs(1));
            }
        }
        (config.pages - session.pages_left, objects, units)
    }

    /// Checks that numbers and sizes of objects are rounded up, as in ns-2's WebTraf. Over a hundred thousand pages,
    /// the means differ by less than 1 % from the expected values of the rounded-up Pareto variables.
    #[test]
    fn pages_and_objects_are_counted_as_they_should() {
        let config = Web {
            pages: 100_000,
            inter_page: Distribution::Exponential { mean: 4.0 },
            objects: Distribution::BoundedPareto {
                min: 1.0,
                max: 100.0,
                shape: 1.5,
            },
            inter_object: Distribution::Exponential { mean: 0.01 },
            object: Distribution::BoundedPareto {
                min: 2000.0,
                max: 200_000.0,
                shape: 1.2,
            },
            whole_units_of: Some(1000),
            request_bytes: 1,
            separate: false,
        };
        let (pages, objects, units) = play(&config, 1);
        assert_eq!(pages, 100_000);
        // The mean of a variable rounded up to a whole number is the sum over k of P(X > k).
        let ceil_mean = |min: f64, max: f64, shape: f64| -> f64 {
            let beyond = libm::pow(min / max, shape);
            let above = |k: f64| match k {
                k if k < min => 1.0,
                k => (libm::pow(min / k, shape) - beyond) / (1.0 - beyond),
            };
            (0..max as u64).map(|k| above(k as f64)).sum()
        };
        let per_page = objects as f64 / pages as f64;
        let per_object = units as f64 / objects as f64;
        assert!(
            (per_page / ceil_mean(1.0, 100.0, 1.5) - 1.0).abs() < 0.01,
            "{per_page}"
        );
        assert!(
            (per_object / ceil_mean(2.0, 200.0, 1.2) - 1.0).abs() < 0.01,
            "{per_object}"
        );
    }

    #[test]
    fn the_next_page_waits_for_the_last_object() {
        let config = Web {
            pages: 2,
            inter_page: Distribution::Constant(4.0),
            objects: Distribution::Constant(2.0),
            inter_object: Distribution::Constant(0.5),
            object: Distribution::Constant(700.0),
            whole_units_of: None,
            request_bytes: 1,
            separate: false,
        };
        let mut session = Session::new(&config, Stream::new(1, 0, "test"));
        let at = |s| Time::ZERO + Span::from_millis(s);
        assert_eq!(session.next_arrival(at(0)), Some(at(0)));
        session.open();
        assert_eq!(session.next_arrival(at(0)), Some(at(500)));
        // The first object arrives before the second is requested.
        assert_eq!(session.after_exchange(at(100)), None);
        session.open();
        assert_eq!(session.next_arrival(at(500)), None);
        assert_eq!(session.after_exchange(at(900)), Some(at(4900)));
        session.open();
        assert_eq!(session.next_arrival(at(4900)), Some(at(5400)));
        session.open();
        assert_eq!(session.next_arrival(at(5400)), None);
        assert_eq!(session.after_exchange(at(6000)), None);
        // This was the last page.
        assert_eq!(session.after_exchange(at(6001)), None);
    }
}

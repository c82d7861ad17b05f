//! Stop rule: the run ends after a number of completed exchanges. A warning is given if the largest responses of the
//! run are smaller than the model requires (Weigle, dissertation, UNC 2003, appendix A).

use longhaul_units::{Span, Time};

use super::traffic_source::TrafficSource;
use crate::config::{Config, StopRule};
use crate::measure::Exchange;

/// State of the stop rule.
#[derive(Debug)]
pub(crate) struct StopCondition {
    rule: StopRule,
    /// Start of the measurement window.
    from: Time,
    complete: u64,
    /// Number of completed responses that exceed the required 99th percentile.
    long: u64,
    /// Size of the largest response that began early enough to count (`StopRule::start_within`).
    longest: u64,
    /// Maximum number of exchanges that can count for the stop rule, on the connections opened so far. An exchange that
    /// began before the measurement window does not count; it is subtracted when it is complete.
    countable: u64,
    /// Number of connections still to open before the earliest end of the run is computed again.
    until_next_look: usize,
}

impl StopCondition {
    pub(crate) fn new(config: &Config) -> Option<Self> {
        Some(Self {
            rule: config.measure.stop.clone()?,
            from: config.measure.from,
            complete: 0,
            long: 0,
            longest: 0,
            countable: 0,
            until_next_look: 0,
        })
    }

    /// Returns true if the rule counts the exchanges of a flow.
    pub(super) fn counts(&self, flow: u32) -> bool {
        self.rule.flows.contains(&flow)
    }

    /// Records that a flow has opened a connection for `exchanges` exchanges.
    pub(super) fn on_open(&mut self, flow: u32, exchanges: u64) {
        if self.counts(flow) {
            self.countable += exchanges;
        }
    }

    /// Returns a time before which the run cannot end, since too few exchanges begin by then; `None` if no such time is
    /// known. Must be called before each new connection. To save time, most calls return `None` at once.
    pub(super) fn earliest_end(&mut self, sources: &[TrafficSource]) -> Option<Time> {
        if self.until_next_look > 0 {
            self.until_next_look -= 1;
            return None;
        }
        self.until_next_look = sources.len();
        let counting = sources
            .iter()
            .filter(|traffic_source| self.counts(traffic_source.flow));
        let (mut known_until, mut exchanges) = (Time::NEVER, self.countable);
        for (time, more) in counting.map(|traffic_source| traffic_source.generator.known_arrivals())
        {
            known_until = known_until.min(time);
            exchanges += more;
        }
        (exchanges < self.rule.exchanges).then_some(known_until)
    }

    /// Records that a response begins at `now`.
    pub(super) fn on_response(&mut self, exchange: &Exchange, now: Time) {
        let within = self.rule.start_within.unwrap_or(Span::from_ps(u64::MAX));
        let in_time = now >= self.from && now.since(self.from) <= within;
        if self.counts(exchange.flow) && in_time {
            self.longest = self.longest.max(exchange.response_bytes.unwrap_or(0));
        }
    }

    /// Records that an exchange is complete; returns true if the run may end, since enough exchanges are complete.
    pub(super) fn on_complete(&mut self, exchange: &Exchange) -> bool {
        if !self.counts(exchange.flow) {
            return false;
        }
        if exchange.start < self.from {
            self.countable -= 1;
            return false;
        }
        self.complete += 1;
        let response = exchange.response_bytes.unwrap_or(0);
        self.long += u64::from(self.rule.p99_above.is_some_and(|bytes| response > bytes));
        self.complete >= self.rule.exchanges
    }

    /// Returns a warning for each condition of `measure.stop` that the run has not met.
    pub(super) fn run_warnings(&self) -> Vec<String> {
        let mut out = Vec::new();
        let StopRule {
            exchanges,
            p99_above,
            longest_above,
            ..
        } = self.rule;
        if self.complete < exchanges {
            let complete = self.complete;
            out.push(format!(
                "the run ended after {complete} of the {exchanges} exchanges that measure.stop waits for"
            ));
        }
        if let Some(bytes) = p99_above
            && self.long * 100 <= self.complete
        {
            out.push(format!(
                "the 99th percentile of the responses is not above {bytes} B: the sizes drawn are \
                 smaller than the model's"
            ));
        }
        if let Some(bytes) = longest_above
            && self.longest <= bytes
        {
            let longest = self.longest;
            out.push(format!(
                "no response above {bytes} B began in time, the longest had {longest} B: the sizes \
                 drawn are smaller than the model's"
            ));
        }
        out
    }
}

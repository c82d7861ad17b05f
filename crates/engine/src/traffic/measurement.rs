//! Measurement of sources and of their connections.

use longhaul_units::{Span, Time};

use super::Traffic;
use super::app_connection::AppConnection;
use super::connection_slab::{ConnectionId, Side};
use super::stop_condition::StopCondition;
use crate::measure::{Exchange, FlowCounters};

impl Traffic {
    /// Returns the counters of each source up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> Vec<FlowCounters> {
        let samples = self.samples(now).into_iter();
        samples.map(|(counters, _)| counters).collect()
    }

    /// Returns, for each source, the counters up to `now` and the number of segments in flight.
    pub(crate) fn samples(&mut self, now: Time) -> Vec<(FlowCounters, u64)> {
        let finished = self
            .sources
            .iter()
            .map(|traffic_source| (traffic_source.counters, 0));
        let mut samples: Vec<_> = finished.collect();
        self.connections
            .for_each(AppConnection::prefetch_for_sample, |connection| {
                let (counters, in_flight) = &mut samples[connection.source as usize];
                counters.add(&connection.counters(now));
                *in_flight += connection.in_flight();
            });
        samples
    }

    /// Returns the number of data packets sent by all sources.
    pub(crate) fn sent_pkts(&mut self) -> u64 {
        let finished = self
            .sources
            .iter()
            .map(|traffic_source| traffic_source.counters.sent_pkts);
        let open = self
            .connections
            .iter_mut()
            .map(|connection| connection.sent_pkts());
        finished.sum::<u64>() + open.sum::<u64>()
    }

    /// Returns the number of open connections.
    pub(crate) fn open_connections(&mut self) -> usize {
        self.connections.iter_mut().count()
    }

    /// Returns the smallest and the largest round-trip time of each source so far, and restarts their record.
    pub(crate) fn restart_extremes(&mut self, now: Time) -> Vec<(Span, Span)> {
        let counters = self.counters(now);
        for traffic_source in &mut self.sources {
            (
                traffic_source.counters.rtt_min,
                traffic_source.counters.rtt_max,
            ) = (Span::ZERO, Span::ZERO);
        }
        for connection in self.connections.iter_mut() {
            for side in [Side::Up, Side::Down] {
                if let Some(direction) = connection.direction_mut(side) {
                    direction.sender.restart_extremes();
                }
            }
        }
        let extremes = counters.iter().map(|all| (all.rtt_min, all.rtt_max));
        extremes.collect()
    }

    /// Returns warnings about the run: from the stop rule, and about connections that were not opened.
    pub(crate) fn run_warnings(&self) -> Vec<String> {
        let stop = self.stop.as_ref().map(StopCondition::run_warnings);
        let mut out = stop.unwrap_or_default();
        if self.refused > 0 {
            let (refused, most) = (self.refused, ConnectionId::SLOTS);
            out.push(format!(
                "{refused} connections were not opened: {most} were open at once, far more than the \
                 network can serve"
            ));
        }
        out
    }

    /// Returns the exchanges in progress, in the order of their starts.
    pub(crate) fn unfinished(&mut self) -> Vec<Exchange> {
        let under_way = self.connections.iter_mut();
        let mut exchanges: Vec<_> = under_way.filter_map(|one| one.unfinished()).collect();
        exchanges.sort_by_key(|exchange| (exchange.start, exchange.flow, exchange.connection));
        exchanges
    }
}

//! Setup of traffic sources: the paths of the connections that they open, and their models.

use std::sync::Arc;

use longhaul_congestion::Controller;

use super::SetupError;
use super::world::{Kind, World, flow_stream};
use crate::config::{Config, Flow, Source, Tcp};
use crate::network::End;
use crate::random::Streams;
use crate::traffic::{
    ConnectionPaths, CutOff, DirectionPaths, Generator, RequestModel, SecondLeg, Session, Trace,
};

impl World {
    /// Adds a flow whose application opens connections during the run.
    pub(super) fn add_traffic(
        &mut self,
        config: &Config,
        flow: &Flow,
        tcp: (Arc<Tcp>, Controller),
        source: &Source,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        // Responses are sent from the first node of the flow to the second, as are the data of a source that is cut off
        // and of a trace without responses.
        let from_servers = match source {
            Source::Requests(_) | Source::Web(_) | Source::Vectors(_) => true,
            Source::CutOff(_) => false,
            Source::Trace(entries) => entries.iter().any(|entry| entry.response_bytes.is_some()),
        };
        let there = self.way(config, flow, (flow.from, flow.to), flow.via)?;
        let back = self.way(config, flow, (flow.to, flow.from), flow.via_back)?;
        let paths = match from_servers {
            true => ConnectionPaths {
                up: back,
                down: there,
            },
            false => ConnectionPaths {
                up: there,
                down: back,
            },
        };
        let generator = match source {
            Source::Requests(requests) => {
                let path = format!("flows/{}", flow.name);
                Generator::Requests(Box::new(RequestModel::new(requests, &path, streams)))
            }
            Source::Web(web) => {
                let stream = flow_stream(flow, "session", streams);
                Generator::Web(Box::new(Session::new(web, stream)))
            }
            Source::CutOff(lifetime) => Generator::CutOff(CutOff::new(*lifetime)),
            Source::Trace(entries) | Source::Vectors(entries) => {
                Generator::Trace(Trace::new(Arc::clone(entries)))
            }
        };
        let id = self.flows.len() as u32;
        let stream = flow_stream(flow, "sender", streams);
        let named = (id, flow.name.as_str());
        let index = self
            .traffic
            .add(named, paths, tcp, stream, generator, from_servers);
        self.traffic.observe(index, &flow.traced, flow.clock);
        Ok(Kind::Traffic(index))
    }

    /// Returns the paths of data from `from` to `to` and of its acknowledgements, over the proxy `via` if one is given.
    fn way(
        &mut self,
        config: &Config,
        flow: &Flow,
        (from, to): (usize, usize),
        via: Option<usize>,
    ) -> Result<DirectionPaths, SetupError> {
        let Some(proxy) = via else {
            return Ok(DirectionPaths {
                data: self.path(config, flow, from, to, End::TrafficReceiver)?,
                acks: self.path(config, flow, to, from, End::TrafficSender)?,
                second_leg: None,
            });
        };
        let (start, end) = (config.proxies[proxy].start, config.proxies[proxy].end);
        let second_leg = SecondLeg {
            proxy,
            data: self.path(config, flow, end, to, End::TrafficReceiver)?,
            acks: self.path(config, flow, to, end, End::TrafficSender)?,
        };
        Ok(DirectionPaths {
            data: self.path(config, flow, from, start, End::TrafficEntry)?,
            acks: self.path(config, flow, start, from, End::TrafficSender)?,
            second_leg: Some(second_leg),
        })
    }
}

//! Sources of traffic: where the connections run that they open, and what they open them for.

use std::sync::Arc;

use longhaul_congestion::Controller;

use super::SetupError;
use super::world::{Kind, World, flow_stream};
use crate::config::{Config, Flow, Source, Tcp};
use crate::network::End;
use crate::random::Streams;
use crate::traffic::{CutOff, Generator, Onward, RequestModel, Session, Trace, Way, Ways};

impl World {
    /// A flow whose application opens connections.
    pub(super) fn add_traffic(
        &mut self,
        config: &Config,
        flow: &Flow,
        tcp: (Arc<Tcp>, Controller),
        source: &Source,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        // Responses go from the flow's first node to its second, and so does data one way.
        let answers = match source {
            Source::Requests(_) | Source::Web(_) => true,
            Source::CutOff(_) => false,
            Source::Trace(entries) => entries.iter().any(|entry| entry.response_bytes.is_some()),
        };
        let there = self.way(config, flow, (flow.from, flow.to), flow.via)?;
        let back = self.way(config, flow, (flow.to, flow.from), flow.via_back)?;
        let ways = match answers {
            true => Ways {
                up: back,
                down: there,
            },
            false => Ways {
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
            Source::Trace(entries) => Generator::Trace(Trace::new(Arc::clone(entries))),
        };
        let id = self.flows.len() as u32;
        let stream = flow_stream(flow, "sender", streams);
        let named = (id, flow.name.as_str());
        let index = self
            .traffic
            .add(named, ways, tcp, stream, generator, answers);
        Ok(Kind::Traffic(index))
    }

    /// The way of one direction of the connections that traffic opens.
    fn way(
        &mut self,
        config: &Config,
        flow: &Flow,
        (from, to): (usize, usize),
        via: Option<usize>,
    ) -> Result<Way, SetupError> {
        let Some(proxy) = via else {
            return Ok(Way {
                data: self.path(config, flow, from, to, End::TrafficReceiver)?,
                acks: self.path(config, flow, to, from, End::TrafficSender)?,
                onward: None,
            });
        };
        let (start, end) = (config.proxies[proxy].start, config.proxies[proxy].end);
        let onward = Onward {
            proxy,
            data: self.path(config, flow, end, to, End::TrafficReceiver)?,
            acks: self.path(config, flow, to, end, End::TrafficSender)?,
        };
        Ok(Way {
            data: self.path(config, flow, from, start, End::TrafficEntry)?,
            acks: self.path(config, flow, start, from, End::TrafficSender)?,
            onward: Some(onward),
        })
    }
}

//! Setup of proxies and of the connections that they split. Also lists the endpoints of all flows, for lookahead.

use std::sync::Arc;

use longhaul_congestion::Controller;

use super::SetupError;
use super::world::{Kind, World, build_controller, flow_stream};
use crate::config::{Config, Flow, Tcp};
use crate::network::{End, Endpoint};
use crate::proxy::Proxies;
use crate::random::Streams;
use crate::transport::EventLog;

impl World {
    /// Adds a flow with a proxy: one connection to the proxy's start node, and one connection from its end node.
    pub(super) fn add_split(
        &mut self,
        config: &Config,
        flow: &Flow,
        (tcp, controller): (&Arc<Tcp>, Controller),
        proxy: usize,
        streams: &Streams,
    ) -> Result<Kind, SetupError> {
        let (start, end) = (config.proxies[proxy].start, config.proxies[proxy].end);
        let user = || format!("flow `{}`", flow.name);
        let id = self.flows.len() as u32;
        let path_in = (
            self.path_for(config, user, (flow.from, start), End::ProxyEntry)?,
            self.path_for(config, user, (start, flow.from), End::TcpSender)?,
        );
        let path_out = (
            self.path_for(config, user, (end, flow.to), End::TcpReceiver)?,
            self.path_for(config, user, (flow.to, end), End::TcpSender)?,
        );
        let stream = flow_stream(flow, "sender", streams);
        let from = self.push_connection((id, id), path_in, (tcp, controller.clone()), stream);
        self.proxies.assign(from, proxy);
        let recorded = EventLog::UNRECORDED;
        let stream = flow_stream(flow, "onward", streams);
        let to = self.push_connection((id, recorded), path_out, (tcp, controller), stream);
        debug_assert_eq!(to, Proxies::second_leg(from));
        self.lead_dummies(config, user, from, (flow.from, start))?;
        self.lead_dummies(config, user, to, (end, flow.to))?;
        self.tcp[to].sender.begin_empty();
        self.tcp[from].receiver.set_clock(flow.clock);
        if flow.traces(0) {
            self.tcp[from].sender.trace_as(0);
        }
        Ok(Kind::Tcp { from, to })
    }

    /// Adds the proxies, each with the connection between its nodes. The numbers of these connections follow those of
    /// the flows.
    pub(super) fn add_proxies(
        &mut self,
        config: &Config,
        streams: &Streams,
    ) -> Result<(), SetupError> {
        for (proxy, id) in config.proxies.iter().zip(self.flows.len() as u32..) {
            let user = || format!("proxy `{}`", proxy.name);
            let path = (
                self.path_for(config, user, (proxy.start, proxy.end), End::ProxyExit)?,
                self.path_for(config, user, (proxy.end, proxy.start), End::TcpSender)?,
            );
            let tcp = (&proxy.tcp, build_controller(&proxy.tcp, user)?);
            let stream = streams.component(&format!("proxies/{}/sender", proxy.name));
            let carrier = self.push_connection((id, id), path, tcp, stream);
            self.tcp[carrier].sender.begin_empty();
            self.lead_dummies(config, user, carrier, (proxy.start, proxy.end))?;
            let kind = Kind::Tcp {
                from: carrier,
                to: carrier,
            };
            self.announce(kind, &proxy.name);
            self.proxies.add(proxy, carrier, streams);
        }
        Ok(())
    }

    /// Returns descriptions of all endpoints of flows and proxies.
    pub(super) fn edges(&self, config: &Config) -> Vec<Endpoint> {
        let mut edges = Vec::new();
        for (slot, flow) in self.flows.iter().zip(&config.flows) {
            match slot.kind {
                Kind::Tcp { from, to } => {
                    edges.push(match slot.messages {
                        // Messages are sent at scheduled times.
                        Some(_) => Endpoint::Traffic {
                            gets: self.tcp[from].receiver.route(),
                            sends: self.tcp[from].sender.route(),
                            holds: false,
                        },
                        None => self.sender_edge(from, slot.stop.is_some()),
                    });
                    edges.push(self.receiver_edge(to));
                    if let Some(proxy) = flow.via {
                        edges.push(self.taking_edge(from, config.proxies[proxy].draws()));
                        edges.push(self.prompted_edge(to));
                    }
                }
                Kind::Stack(index) => edges.extend(self.stacks[index].edges()),
                Kind::Udp(index) => edges.push(Endpoint::Source {
                    sends: self.udp[index].route(),
                }),
                Kind::Traffic(index) => edges.extend(self.traffic.traffic_source(index).edges()),
            }
        }
        for carrier in self.proxies.carriers() {
            edges.push(self.prompted_edge(carrier));
            edges.push(self.taking_edge(carrier, false));
        }
        edges
    }

    fn sender_edge(&self, index: usize, stops: bool) -> Endpoint {
        let sender = &self.tcp[index].sender;
        Endpoint::Sender {
            connection: index as u32,
            gets: self.tcp[index].receiver.route(),
            sends: sender.route(),
            stops: stops || sender.sends_dummies(),
            draws: sender.draws(),
        }
    }

    fn receiver_edge(&self, index: usize) -> Endpoint {
        Endpoint::Receiver {
            connection: index as u32,
            gets: self.tcp[index].sender.route(),
            sends: self.tcp[index].receiver.route(),
        }
    }

    /// Returns the [`Endpoint`] of a sender at a node of a proxy. Data that arrives on another connection can
    /// also cause this sender to send.
    fn prompted_edge(&self, index: usize) -> Endpoint {
        let sender = &self.tcp[index].sender;
        Endpoint::Proxy {
            gets: self.tcp[index].receiver.route(),
            sends: sender.route(),
            draws: sender.draws(),
        }
    }

    /// Returns the [`Endpoint`] for the receiver of the connection `index`, at a node of a proxy. `draws` is true if
    /// received packets pass a queue that draws random numbers.
    fn taking_edge(&self, index: usize, draws: bool) -> Endpoint {
        Endpoint::Proxy {
            gets: self.tcp[index].sender.route(),
            sends: self.tcp[index].receiver.route(),
            draws,
        }
    }
}

//! Split-connection proxies (RFC 3135 section 2.4). A proxy divides a connection into three TCP connections: from the
//! sender to the start node, between the proxy's nodes, and from the end node to the receiver. The design is that of a
//! master thesis (University of Innsbruck, 2009; docs/proxy.md).
//!
//! One connection joins the two nodes, for any number of flows. A sender gets its acknowledgements from the start node
//! before its data has crossed the link; the chain of connections guarantees delivery. Connections that traffic opens
//! are split, too. A proxy serves one direction.

mod endpoints;
mod local_queue;
mod split_tcp_proxy;

use longhaul_units::Time;

pub(crate) use self::endpoints::Endpoints;
use self::split_tcp_proxy::SplitTcpProxy;
use crate::config;
use crate::measure::{ProxyCounters, ProxySample};
use crate::network::End;
use crate::packet::Packet;
use crate::random::Streams;
use crate::transport::Env;
use crate::transport::tcp::Connection;

/// All proxies of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    proxies: Vec<SplitTcpProxy>,
    /// For each connection, the index of the proxy that receives its data; `None` if no proxy does.
    of: Vec<Option<u32>>,
}

impl Proxies {
    /// Returns the index of the connection that carries the data of the connection `from` after the proxy.
    pub(crate) fn second_leg(from: usize) -> usize {
        Endpoints::second_leg(from)
    }

    /// Adds a proxy; the connection `carrier` joins its nodes.
    pub(crate) fn add(&mut self, config: &config::Proxy, carrier: usize, streams: &Streams) {
        let number = self.proxies.len();
        self.proxies
            .push(SplitTcpProxy::new(config, number as u32, carrier, streams));
        self.assign(carrier, number);
    }

    /// Records that a connection ends at a proxy: at its start node or, if it joins the proxy's nodes, at its end node.
    pub(crate) fn assign(&mut self, connection: usize, proxy: usize) {
        if self.of.len() <= connection {
            self.of.resize(connection + 1, None);
        }
        self.of[connection] = Some(proxy as u32);
    }

    /// Returns the indices of the connections between the nodes of proxies, in the order of the configuration.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = usize> {
        self.proxies
            .iter()
            .map(|split_tcp_proxy| split_tcp_proxy.carrier)
    }

    fn of_mut(&mut self, connection: usize) -> &mut SplitTcpProxy {
        let proxy = self.of[connection].expect("only such connections end at proxies");
        &mut self.proxies[proxy as usize]
    }

    /// Schedules the first check of each proxy's local queue.
    pub(crate) fn start(&self, env: &mut Env) {
        self.proxies
            .iter()
            .for_each(|split_tcp_proxy| split_tcp_proxy.arm(env));
    }

    /// Processes a segment that reaches the start node or the end node of a proxy.
    #[inline(never)]
    pub(crate) fn on_packet(
        &mut self,
        packet: &Packet,
        end: End,
        endpoints: &mut Endpoints<'_>,
        env: &mut Env,
    ) {
        match end {
            End::ProxyExit => self
                .of_mut(packet.flow as usize)
                .on_end(packet, endpoints, env),
            End::TrafficEntry => match endpoints.traffic.proxy(packet.flow) {
                Some(proxy) => self.proxies[proxy].on_start(packet, env),
                // The connection has ended.
                None => env.network.forget_options(packet),
            },
            _ => self.of_mut(packet.flow as usize).on_start(packet, env),
        }
    }

    /// Processes the event for a check of a proxy's local queue.
    pub(crate) fn on_check(&mut self, proxy: u32, endpoints: &mut Endpoints<'_>, env: &mut Env) {
        self.proxies[proxy as usize].on_check(endpoints, env);
    }

    /// Processes the stop of an application whose connection ends at a proxy: the connection sends no new data.
    pub(crate) fn on_stop(
        &mut self,
        connection: usize,
        endpoints: &mut Endpoints<'_>,
        env: &mut Env,
    ) {
        self.of_mut(connection)
            .on_stop(connection as u32, endpoints, env);
    }

    /// Returns the counters of each proxy up to `now`.
    pub(crate) fn counters(&self, now: Time, connections: &mut [Connection]) -> Vec<ProxyCounters> {
        let counters = |split_tcp_proxy: &SplitTcpProxy| split_tcp_proxy.counters(now, connections);
        self.proxies.iter().map(counters).collect()
    }

    /// Returns the state of each proxy at `now` for the time series.
    pub(crate) fn samples(&self, now: Time, connections: &mut [Connection]) -> Vec<ProxySample> {
        let sample = |split_tcp_proxy: &SplitTcpProxy| split_tcp_proxy.sample(now, connections);
        self.proxies.iter().map(sample).collect()
    }

    /// Returns the maximum length of each local queue, and begins new maxima for a new measurement period.
    pub(crate) fn restart_maxima(&mut self) -> Vec<u64> {
        let proxies = self.proxies.iter_mut();
        proxies
            .map(|split_tcp_proxy| split_tcp_proxy.queue.restart_maximum())
            .collect()
    }
}

//! Proxies that split connections in three: from a sender to the start node, over the link between the
//! proxy's nodes, and from the end node to a receiver (spec 002 B8).
//!
//! Whatever the number of flows, one connection joins the two nodes. Connections that traffic opens are
//! split as those of flows are. A sender gets its acknowledgements
//! from the start node, before its data has crossed the link: delivery is what the chain of connections
//! guarantees. A proxy serves one direction; two of them serve both.

mod ends;
mod local_queue;
mod splitter;

use longhaul_units::Time;

pub(crate) use self::ends::Ends;
use self::splitter::Splitter;
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
    splitters: Vec<Splitter>,
    /// By index of a connection: the proxy that it ends at or joins the nodes of.
    of: Vec<Option<u32>>,
}

impl Proxies {
    /// Index of the connection over which data of the connection `from` goes on behind a proxy.
    pub(crate) fn onward(from: usize) -> usize {
        Ends::onward(from)
    }

    /// Adds a proxy whose nodes the connection `carrier` joins.
    pub(crate) fn add(&mut self, config: &config::Proxy, carrier: usize, streams: &Streams) {
        let number = self.splitters.len();
        self.splitters
            .push(Splitter::new(config, number as u32, carrier, streams));
        self.assign(carrier, number);
    }

    /// Says that a connection ends at a proxy's start node.
    pub(crate) fn assign(&mut self, connection: usize, proxy: usize) {
        if self.of.len() <= connection {
            self.of.resize(connection + 1, None);
        }
        self.of[connection] = Some(proxy as u32);
    }

    /// The connections that join nodes of proxies, in order of the configuration.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = usize> {
        self.splitters.iter().map(|splitter| splitter.carrier)
    }

    fn of_mut(&mut self, connection: usize) -> &mut Splitter {
        let proxy = self.of[connection].expect("only such connections end at proxies");
        &mut self.splitters[proxy as usize]
    }

    /// The run begins: enters the first checks.
    pub(crate) fn start(&self, env: &mut Env) {
        self.splitters.iter().for_each(|splitter| splitter.arm(env));
    }

    /// A segment comes to a node of a proxy.
    #[inline(never)]
    pub(crate) fn on_packet(
        &mut self,
        packet: &Packet,
        end: End,
        ends: &mut Ends<'_>,
        env: &mut Env,
    ) {
        match end {
            End::ProxyExit => self.of_mut(packet.flow as usize).on_end(packet, ends, env),
            End::TrafficEntry => match ends.traffic.proxy(packet.flow) {
                Some(proxy) => self.splitters[proxy].on_start(packet, env),
                // The connection is over.
                None => env.network.forget_options(packet),
            },
            _ => self.of_mut(packet.flow as usize).on_start(packet, env),
        }
    }

    /// A proxy looks at its local queue.
    pub(crate) fn on_check(&mut self, proxy: u32, ends: &mut Ends<'_>, env: &mut Env) {
        self.splitters[proxy as usize].on_check(ends, env);
    }

    /// The sender of a connection that ends at a proxy sends nothing new any more.
    pub(crate) fn on_stop(&mut self, connection: usize, ends: &mut Ends<'_>, env: &mut Env) {
        self.of_mut(connection)
            .on_stop(connection as u32, ends, env);
    }

    /// Counters of each up to `now`.
    pub(crate) fn counters(&self, now: Time, connections: &mut [Connection]) -> Vec<ProxyCounters> {
        let counters = |splitter: &Splitter| splitter.counters(now, connections);
        self.splitters.iter().map(counters).collect()
    }

    /// State of each up to `now` for the time series.
    pub(crate) fn samples(&self, now: Time, connections: &mut [Connection]) -> Vec<ProxySample> {
        let sample = |splitter: &Splitter| splitter.sample(now, connections);
        self.splitters.iter().map(sample).collect()
    }

    /// Restarts the record of largest queues; returns those so far.
    pub(crate) fn restart_maxima(&mut self) -> Vec<u64> {
        let splitters = self.splitters.iter_mut();
        splitters
            .map(|splitter| splitter.queue.restart_maximum())
            .collect()
    }
}

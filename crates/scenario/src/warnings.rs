//! What is allowed but probably not meant.

use longhaul_engine::config::{
    Config, Distribution, Link, Proxy, RttClock, Source, Start, Tcp, Transport,
};
use longhaul_engine::queue::QueueConfig;
use longhaul_engine::{EntranceConfig, Loss};
use longhaul_units::Time;

use crate::document::{Node, Table, Value};
use crate::queue;
use crate::resolve::Resolved;
use crate::typed::Typed;

/// Samples of all flows and links together beyond which a table becomes unwieldy.
const MANY_SAMPLES: f64 = 5e7;

/// Algorithms that work with routers, which are queues of the same kind.
const WITH_ROUTERS: [&str; 2] = ["vcp", "xcp"];

/// The algorithm that takes the marks of a queue of its name for what they are.
const DECBIT: &str = "decbit";

/// Everything suspicious, in words.
pub(crate) fn warnings(resolved: &Resolved, config: &Config) -> Vec<String> {
    let mut out = Vec::new();
    if config.replication > 0 && !has_random_element(config) {
        out.push(format!(
            "replication {} changes nothing: no start time, loss, queue or timer is random",
            config.replication
        ));
    }
    warn_of_sampling(config, &mut out);
    warn_of_flows(resolved, config, &mut out);
    warn_of_ecn(config, &mut out);
    warn_of_routers(resolved, &mut out);
    warn_of_proxies(resolved, &mut out);
    out
}

fn tcps(config: &Config) -> impl Iterator<Item = &Tcp> {
    let flows = config.flows.iter();
    let proxies = config.proxies.iter().map(|proxy| &proxy.tcp);
    flows
        .filter_map(|flow| flow.transport.tcp())
        .chain(proxies)
        .map(AsRef::as_ref)
}

fn has_random_element(config: &Config) -> bool {
    let random_link = config.links.iter().any(|link| {
        is_random(&link.loss)
            || link.entrance.as_deref().is_some_and(draws)
            || link.queue.is_random()
    });
    let random_proxy = config.proxies.iter().any(Proxy::draws);
    let random_tcp = tcps(config).any(|tcp| {
        tcp.send_jitter.as_ps() > 0 || matches!(tcp.rto.clock, RttClock::Ns2Ticks { .. })
    });
    let random_start = config
        .flows
        .iter()
        .any(|flow| matches!(flow.start, Start::Uniform(..)));
    let draws = |transport: &Transport| match transport {
        Transport::Traffic(_, source) => !matches!(source.as_ref(), Source::Trace(_)),
        Transport::Messages(..) => true,
        Transport::Udp(udp) => udp.bursts.is_some(),
        Transport::Tcp(_) => false,
    };
    let random_traffic = config.flows.iter().any(|flow| draws(&flow.transport));
    random_link || random_proxy || random_tcp || random_start || random_traffic
}

fn draws(entrance: &EntranceConfig) -> bool {
    let varies = |drawn: &Distribution| !matches!(drawn, Distribution::Constant(_));
    let by_flow = entrance.delay_box.as_ref().is_some_and(|delay_box| {
        let rate = delay_box.rate.as_ref().is_some_and(varies);
        let noise = delay_box.noise.as_ref().is_some_and(varies);
        rate || noise || varies(&delay_box.delay) || delay_box.loss != Distribution::Constant(0.0)
    });
    by_flow || entrance.duplication > 0.0 || entrance.reordering.is_some()
}

fn is_random(loss: &Loss) -> bool {
    match loss {
        Loss::None | Loss::List(_) => false,
        Loss::Bernoulli(p) => *p > 0.0 && *p < 1.0,
        Loss::GilbertElliott(_) => true,
    }
}

fn warn_of_sampling(config: &Config, out: &mut Vec<String>) {
    let Some(every) = config.measure.every else {
        return;
    };
    let sampled = config.links.iter().filter(|link| link.sampled);
    let series = config.flows.len() + sampled.clone().count();
    let samples = config.duration.as_secs_f64() / every.as_secs_f64() * series as f64;
    if samples > MANY_SAMPLES {
        out.push(format!(
            "measure.every = {every} makes {samples:.0} samples of {series} series"
        ));
    }
    let slowest = sampled.min_by_key(|link| link.rate);
    if let Some(link) = slowest
        && every < link.rate.transmission(1500).0
    {
        out.push(format!(
            "measure.every = {every} samples {} more often than it sends packets of 1500 B",
            link.name
        ));
    }
}

fn warn_of_flows(resolved: &Resolved, config: &Config, out: &mut Vec<String>) {
    let groups = resolved.root.list("flows").iter().filter_map(Node::table);
    for (group, path) in groups.zip(&resolved.paths) {
        let label = group.word("label");
        let tcp = config.flows.iter().find(|flow| flow.label == label);
        // What a proxy splits has no window for the whole path.
        if let Some(Transport::Tcp(tcp)) = tcp.map(|flow| &flow.transport)
            && path.via.is_none()
        {
            let window = tcp.send_buffer.unwrap_or(u64::MAX).min(tcp.receive_window);
            let bdp = path.rate.bdp(path.rtt).0 / group.bytes("packet").0;
            if window.saturating_mul(group.whole("count")) < bdp {
                out.push(format!(
                    "flows `{label}` can never fill their path: {} windows of {window} segments, \
                     bandwidth-delay product {bdp} packets",
                    group.whole("count")
                ));
            }
        }
    }
    let starts_late = |start: Start| match start {
        Start::At(at) => at > config.measure.from,
        Start::Uniform(_, latest) => latest > config.measure.from,
    };
    if config.measure.from > Time::ZERO && config.flows.iter().any(|flow| starts_late(flow.start)) {
        out.push("some flows start after measure.from, so goodput includes their absence".into());
    }
}

fn warn_of_ecn(config: &Config, out: &mut Vec<String>) {
    let marks = config.links.iter().any(|link| link.queue.marks());
    if marks && !tcps(config).any(|tcp| tcp.ecn.is_on()) {
        out.push("a queue marks ECN-capable packets, but no flow uses ECN (tcp.ecn)".into());
    }
    let is_decbit = |link: &Link| matches!(link.queue, QueueConfig::DecBit(_));
    let others = tcps(config).find(|tcp| tcp.ecn.is_on() && tcp.congestion.kind != DECBIT);
    if let Some(other) = others.filter(|_| config.links.iter().any(is_decbit)) {
        out.push(format!(
            "a queue of kind `decbit` marks whenever a packet or two wait, which `{}` takes for \
             congestion; it is made for `decbit` senders",
            other.congestion.kind
        ));
    }
}

fn warn_of_routers(resolved: &Resolved, out: &mut Vec<String>) {
    let groups = resolved.root.list("flows").iter().filter_map(Node::table);
    for (group, path) in groups.zip(&resolved.paths) {
        let congestion = path.congestion.as_ref();
        let kind = congestion.map_or("", |congestion| &congestion.kind);
        let links = resolved.core.route(path.from, path.to).unwrap_or_default();
        let kinds = links.iter().map(|&link| resolved.core.links[link].queue());
        if WITH_ROUTERS.contains(&kind)
            && !kinds.into_iter().any(|queue| queue.word("kind") == kind)
        {
            let effect = if kind == "xcp" {
                "nothing answers, and their window does not grow"
            } else {
                "they take it for idle, and grow until packets are lost"
            };
            out.push(format!(
                "flows `{}` ask routers, but no queue on their path is of the kind `{kind}`: {effect}",
                group.word("label")
            ));
        }
    }
}

fn warn_of_proxies(resolved: &Resolved, out: &mut Vec<String>) {
    let Some(proxies) = resolved.root.get("proxies") else {
        return;
    };
    let Value::List(proxies) = &proxies.value else {
        return;
    };
    for (proxy, site) in proxies.iter().filter_map(Node::table).zip(&resolved.sites) {
        let (name, interval) = (proxy.word("name"), proxy.span("interval"));
        let between = site.bytes_between(interval);
        let credit = proxy.bytes("credit").0;
        if between > credit {
            out.push(format!(
                "proxy `{name}` sends in bursts: its link carries {between} B in its interval of \
                 {interval}, and a credit of {credit} B is used up before that; write a credit of \
                 {} B or more, or a shorter interval",
                2 * between
            ));
        }
        let held = queue::capacity_packets(proxy.sub("queue"), proxy.bytes("packet"));
        let packets = between / proxy.bytes("packet").0;
        if held < packets as f64 {
            out.push(format!(
                "proxy `{name}` cannot fill its link: that carries {packets} packets in its interval \
                 of {interval}, and its local queue holds {held:.0}"
            ));
        }
    }
    let groups = resolved.root.list("flows").iter().filter_map(Node::table);
    let carries_traffic =
        |group: &&Table| group.word("protocol") == "tcp" && group.contains_key("traffic");
    for group in groups.filter(carries_traffic) {
        out.push(format!(
            "flows `{}` carry traffic of applications, which no proxy splits: they go past it",
            group.word("label")
        ));
    }
}

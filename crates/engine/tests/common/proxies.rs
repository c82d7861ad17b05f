//! Proxies for dumbbells.

use std::sync::Arc;

use longhaul_congestion::Variant;
use longhaul_engine::Config;
use longhaul_engine::config::{Proxy, Recovery, Tcp};
use longhaul_units::Span;

use super::{add_own_access, controller, drop_tail, tcp};

/// Returns a proxy that checks its queue every 10 ms and uses CUBIC between its two nodes.
pub fn proxy(name: &str, start: usize, end: usize) -> Proxy {
    let tcp = Tcp {
        congestion: controller("cubic", Variant::Paper, &[]),
        ..tcp(Recovery::Sack)
    };
    Proxy {
        name: name.to_string(),
        start,
        end,
        tcp: Arc::new(tcp),
        queue: drop_tail(100),
        credit_bytes: 50 * 1460,
        credit_for_retransmissions: true,
        check_interval: Span::from_millis(10),
        changes: Vec::new(),
    }
}

/// Routes all flows of a dumbbell over two proxies, one for each direction. Each proxy has access links on both sides.
pub fn split(config: &mut Config) {
    config.proxies = vec![proxy("there", 0, 1), proxy("back", 1, 0)];
    for flow in &mut config.flows {
        (flow.via, flow.via_back) = (Some(flow.from), Some(flow.to));
    }
    add_own_access(config, Span::from_millis(2));
}

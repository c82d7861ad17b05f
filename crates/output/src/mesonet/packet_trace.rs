//! packet_trace.parquet: events of packets of traced flows (NIST SP 500-282, chapter 3: `TCPmessages`).

use longhaul_mesonet::Config;
use longhaul_mesonet::records::{PacketEvent, PacketTraceRecord, RouterId};

use super::names;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "packet_trace.parquet";

/// Row of one event of one packet, with the names of the routers.
pub(crate) struct PacketRow {
    passage: PacketTraceRecord,
    to: Name,
    router: Option<Name>,
}

/// Names of all routers, by tier.
pub(crate) struct Sites {
    backbone: Vec<Name>,
    pops: Vec<Name>,
    access: Vec<Name>,
}

impl Sites {
    pub(crate) fn of(config: &Config) -> Self {
        let topology = &config.topology;
        Self {
            backbone: names(&topology.backbone, |one| &one.name),
            pops: names(&topology.pops, |one| &one.router.name),
            access: names(&topology.access, |one| &one.router.name),
        }
    }

    pub(crate) fn row(&self, passage: &PacketTraceRecord) -> PacketRow {
        let router = passage.event.queue().map(|(router, _)| match router {
            RouterId::Backbone(at) => &self.backbone[at as usize],
            RouterId::Pop(at) => &self.pops[at as usize],
            RouterId::Access(at) => &self.access[at as usize],
        });
        PacketRow {
            passage: *passage,
            to: self.access[passage.to as usize].clone(),
            router: router.cloned(),
        }
    }
}

impl PacketRow {
    fn queue(&self) -> Option<&'static str> {
        let queue = self.passage.event.queue();
        queue.map(|(_, direction)| direction.name())
    }

    fn leaves(&self) -> Option<f64> {
        match self.passage.event {
            PacketEvent::Queued { leaves, .. } => leaves.map(|time| time.as_secs_f64()),
            _ => None,
        }
    }
}

pub(crate) fn columns() -> Vec<Column<PacketRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new("t_s", Real, "s", "when", |row: &PacketRow| {
            Cell::Real(row.passage.time.as_secs_f64())
        }),
        Column::new(
            "flow",
            Count,
            "",
            "number of the flow among those traced, from 1",
            |row: &PacketRow| Cell::Count(row.passage.flow),
        ),
        Column::new(
            "kind",
            Text,
            "",
            "SYN, SYN+ACK, DT, ACK or NAK",
            |row: &PacketRow| Cell::Text(row.passage.kind.name()),
        ),
        Column::new(
            "number",
            Count,
            "",
            "sequence number of the packet; of an answer, the number that it expects next",
            |row: &PacketRow| Cell::Count(row.passage.number),
        ),
        Column::new(
            "to",
            Text,
            "",
            "access router of the host to which the packet is sent",
            |row: &PacketRow| Cell::Name(row.to.clone()),
        ),
        Column::new(
            "event",
            Text,
            "",
            "sent by its host, queued at a router, dropped by a full queue, delivered to its host",
            |row: &PacketRow| Cell::Text(row.passage.event.name()),
        ),
        Column::new(
            "router",
            Text,
            "",
            "router at which the packet was queued or dropped",
            |row: &PacketRow| row.router.clone().map_or(Cell::Null, Cell::Name),
        ),
        Column::new(
            "queue",
            Text,
            "",
            "up towards the backbone, down towards the hosts; up at backbone routers",
            |row: &PacketRow| row.queue().into(),
        ),
        Column::new(
            "leaves_s",
            Real,
            "s",
            "time at which the packet will leave the router; none if the router's queues share a server",
            |row: &PacketRow| row.leaves().into(),
        ),
    ]
}

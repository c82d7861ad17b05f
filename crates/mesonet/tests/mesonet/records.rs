//! Recorders that keep the records that tests examine.

use longhaul_mesonet::records::{
    ClassSample, Control, DataPackets, FlowRecord, FlowState, GoodputBatch, Interval,
    LongLivedSample, PacketTraceRecord, Recorder, RouterSample,
};
use longhaul_units::Time;

/// A copy of an [`Interval`] that a recorder can keep.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRecord {
    pub packets_in: u64,
    pub packets_out: u64,
    pub classes: [ClassSample; 6],
    pub long_lived: Vec<LongLivedSample>,
    pub backbone: Vec<RouterSample>,
    pub pops: Vec<RouterSample>,
    pub access: Vec<RouterSample>,
    pub links: Vec<u64>,
    pub no_receivers: u64,
}

/// A recorder that keeps all records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keeper {
    pub intervals: Vec<IntervalRecord>,
    pub flows: Vec<FlowRecord>,
    pub batches: Vec<GoodputBatch>,
    pub states: Vec<FlowState>,
    pub records: Vec<PacketTraceRecord>,
}

impl Recorder for Keeper {
    fn interval(&mut self, interval: &Interval<'_>) {
        assert_eq!(interval.number, self.intervals.len() as u64 + 1);
        self.intervals.push(IntervalRecord {
            packets_in: interval.packets_in,
            packets_out: interval.packets_out,
            classes: *interval.classes,
            long_lived: interval.long_lived.to_vec(),
            backbone: interval.backbone.to_vec(),
            pops: interval.pops.to_vec(),
            access: interval.access.to_vec(),
            links: interval.links.to_vec(),
            no_receivers: interval.edges.iter().map(|edge| edge.no_receivers).sum(),
        });
    }

    fn batch(&mut self, batch: &GoodputBatch) {
        self.batches.push(batch.clone());
    }

    fn flow(&mut self, flow: &FlowRecord) {
        self.flows.push(*flow);
    }

    fn flow_state(&mut self, state: &FlowState) {
        self.states.push(*state);
    }

    fn packet(&mut self, record: &PacketTraceRecord) {
        self.records.push(*record);
    }

    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        Control::Continue
    }
}

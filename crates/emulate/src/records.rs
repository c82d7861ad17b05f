//! Records of a run, kept in memory until the run is over, so that no disk delays a packet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use longhaul_engine::measure::{
    AckTrace, CapturedPacket, Control, DataPackets, Event, Exchange, FlowSample, LinkSample,
    ProxySample, Recorder, Ticker,
};
use longhaul_units::Time;

/// One record of any kind.
#[derive(Debug)]
enum Record {
    Flow(FlowSample),
    Link(LinkSample),
    Proxy(Box<ProxySample>),
    Event(Event),
    Trace(AckTrace),
    Exchange(Exchange),
}

/// Recorder that keeps all records in order, and stops the emulation on request.
#[derive(Debug, Default)]
pub struct Records {
    all: Vec<Record>,
    stop: StopRequest,
}

/// A request to end an emulation, which any thread can make.
#[derive(Clone, Debug, Default)]
pub struct StopRequest {
    is_made: Arc<AtomicBool>,
    ticker: Ticker,
}

impl StopRequest {
    /// Requests the end of the emulation.
    pub fn make(&self) {
        self.is_made.store(true, Ordering::Relaxed);
        self.ticker.tick();
    }

    fn answer(&self) -> Control {
        match self.is_made.load(Ordering::Relaxed) {
            true => Control::Stop,
            false => Control::Continue,
        }
    }
}

impl Records {
    pub(crate) fn new(stop: StopRequest) -> Self {
        Self {
            all: Vec::new(),
            stop,
        }
    }

    /// Passes all records to `recorder`, in their order.
    pub fn replay(&self, recorder: &mut dyn Recorder) {
        for record in &self.all {
            match record {
                Record::Flow(sample) => recorder.flow_sample(sample),
                Record::Link(sample) => recorder.link_sample(sample),
                Record::Proxy(sample) => recorder.proxy_sample(sample),
                Record::Event(event) => recorder.event(event),
                Record::Trace(sample) => recorder.trace(sample),
                Record::Exchange(exchange) => recorder.exchange(exchange),
            }
        }
    }
}

impl Recorder for Records {
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.all.push(Record::Flow(*sample));
    }

    fn link_sample(&mut self, sample: &LinkSample) {
        self.all.push(Record::Link(*sample));
    }

    fn proxy_sample(&mut self, sample: &ProxySample) {
        self.all.push(Record::Proxy(Box::new(*sample)));
    }

    fn event(&mut self, event: &Event) {
        self.all.push(Record::Event(*event));
    }

    fn trace(&mut self, sample: &AckTrace) {
        self.all.push(Record::Trace(*sample));
    }

    fn exchange(&mut self, exchange: &Exchange) {
        self.all.push(Record::Exchange(*exchange));
    }

    fn packet(&mut self, _: &CapturedPacket) {}

    fn progress(&mut self, _: Time, _: DataPackets<'_>) -> Control {
        self.stop.answer()
    }

    fn ticker(&self) -> Ticker {
        self.stop.ticker.clone()
    }
}

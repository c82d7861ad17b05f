//! Flows, from the request for a file to its last acknowledgement.

use longhaul_units::Time;

use super::World;
use super::counters::Counters;
use crate::config::FileType;
use crate::flows::{FlowInfo, ReceiverSetup, Sender, Timer};
use crate::hosts::{ChosenFile, ReceivingHost};
use crate::network::FlowId;
use crate::records::{FlowClass, FlowEvent, FlowRecord, Recorder};

impl World {
    /// A source requests a file: chooses a receiver and a file, and connects.
    pub(super) fn request_file(&mut self, source: u32) {
        let host = self.sources.get(source);
        let domain = self.env.network.routing().domain(host.access);
        let Some(receiver) = self.choose_receiver(domain) else {
            return self.think(source);
        };
        let ends = [host.access, receiver.access];
        let class = self.flows.class(ends);
        let mut about = FlowInfo {
            source,
            receiver: receiver.number,
            long_lived: None,
            ends,
            class,
            file: FileType::Web,
            fast_interface: host.fast && receiver.fast,
            algorithm: host.algorithm,
            alternate: self.flows.alternate[host.algorithm as usize],
            size: 0,
            start: self.env.network.now,
        };
        let web = self.files.web_object();
        let ChosenFile { file, size } = self.files.choose(web, about.cell(), &self.large_files);
        (about.file, about.size) = (file, size);
        self.large_files.begin(file, about.cell());
        let sender_setup = self
            .flows
            .sender_setup(ends, u16::from(host.fast), &self.env);
        let place = ReceiverSetup {
            access: receiver.access,
            source_access: host.access,
            speed: u16::from(receiver.fast),
            counter: Counters::of_class(class),
        };
        let flow = self.flows.open(about, &sender_setup, place);
        self.track(flow);
        self.flows.sending[flow.slot as usize].connect(&mut self.env);
        for access in ends {
            let edge = &mut self.counters.edges[access as usize];
            edge.first_syns += 1;
            edge.syns += 1;
        }
    }

    /// An idle receiver, if there is one.
    fn choose_receiver(&mut self, domain: u16) -> Option<ReceivingHost> {
        /// Attempts after which a source goes back to thinking.
        const TRIES: usize = 1000;
        for _ in 0..TRIES {
            match self.receivers.choose(domain)? {
                Ok(receiver) => return Some(receiver),
                Err(access) => self.counters.edges[access as usize].no_receivers += 1,
            }
        }
        None
    }

    /// A SYN was retransmitted.
    pub(super) fn count_syn_retransmission(&mut self, flow: FlowId) {
        for access in self.flows.about[flow.slot as usize].ends {
            self.counters.edges[access as usize].syns += 1;
        }
    }

    fn think(&mut self, source: u32) {
        let time = self.env.network.now + self.sources.think();
        self.env.timers.push(time, Timer::Request(source));
    }

    /// A SYN-ACK has arrived: the transfer starts.
    pub(super) fn start_transfer(&mut self, flow: FlowId) {
        let at = flow.slot as usize;
        let sender = &mut self.flows.sending[at];
        if !sender.is_of(flow) || !sender.is_connecting() {
            return;
        }
        let about = &self.flows.about[at];
        let now = self.env.network.now;
        let jumbo = self
            .jumbo
            .filter(|jumbo| about.class == FlowClass::Dd && jumbo.from <= now && now < jumbo.until);
        let factor = jumbo.map_or(1, |jumbo| match about.file {
            FileType::Web => jumbo.web_factor,
            _ => jumbo.factor,
        });
        let size = about.size.saturating_mul(factor);
        sender.begin(size, &mut self.env);
        let totals = &mut self.counters.totals[about.class as usize];
        totals.connected += 1;
        totals.syns += sender.syns();
        self.for_each_router(about.ends, |flows| flows.active += 1);
    }

    /// A flow's file has been delivered.
    pub(super) fn complete(&mut self, flow: FlowId, recorder: &mut dyn Recorder) {
        let at = flow.slot as usize;
        let (sender, about) = (&self.flows.sending[at], self.flows.about[at]);
        let (size, sent) = (sender.size() as f64, sender.sent() as f64);
        let duration = self.env.network.now.since(sender.connected).as_secs_f64();
        let goodput = size / duration;
        self.batches.add(about.group(), goodput);
        let class = &mut self.counters.classes[about.class as usize];
        class.completed += 1;
        class.retransmission_sum += (sent - size) / size;
        let totals = &mut self.counters.totals[about.class as usize];
        totals.completed += 1;
        totals.goodput_sum += goodput;
        self.for_each_router(about.ends, |flows| {
            flows.active -= 1;
            flows.completed += 1;
        });
        self.end(flow, recorder);
    }

    /// A flow could not be connected.
    pub(super) fn fail(&mut self, flow: FlowId, recorder: &mut dyn Recorder) {
        let about = self.flows.about[flow.slot as usize];
        self.counters.classes[about.class as usize].failed += 1;
        self.counters.totals[about.class as usize].failed += 1;
        for access in about.ends {
            self.counters.edges[access as usize].failed += 1;
        }
        self.end(flow, recorder);
    }

    /// Closes a flow; its source thinks.
    fn end(&mut self, flow: FlowId, recorder: &mut dyn Recorder) {
        let at = flow.slot as usize;
        let (sender, about) = (&mut self.flows.sending[at], self.flows.about[at]);
        let interval = std::mem::take(&mut sender.interval);
        self.counters.add(about.class, about.ends, interval);
        if self.measure.flow_log {
            recorder.flow(&record(&about, sender, self.env.network.now));
        }
        self.flows.close(flow);
        self.receivers.release(about.receiver, about.ends[1]);
        self.large_files.end(about.file, about.cell());
        self.think(about.source);
    }

    /// A long-lived flow starts, already connected, between hosts of its own.
    pub(super) fn start_long_lived(&mut self, number: u32, recorder: &mut dyn Recorder) {
        let at = number as usize;
        let flow = &self.long_lived[at];
        let ends = [flow.from as u16, flow.to as u16];
        let algorithm = self.algorithms[at];
        let about = FlowInfo {
            source: u32::MAX,
            receiver: u32::MAX,
            long_lived: Some(number as u16),
            ends,
            class: self.flows.class(ends),
            file: FileType::Web,
            fast_interface: true,
            algorithm,
            alternate: self.flows.alternate[algorithm as usize],
            size: u64::MAX,
            start: self.env.network.now,
        };
        let speed = self.speeds[at];
        let sender_setup = self.flows.sender_setup(ends, speed, &self.env);
        let place = ReceiverSetup {
            access: ends[1],
            source_access: ends[0],
            speed,
            counter: Counters::of_long_lived(at),
        };
        let flow = self.flows.open(about, &sender_setup, place);
        self.track(flow);
        self.flows.long_lived[at] = Some(flow);
        self.flows.sending[flow.slot as usize].begin(u64::MAX, &mut self.env);
        self.report_state(flow, FlowEvent::Start, recorder);
        self.for_each_router(ends, |flows| flows.active += 1);
    }

    /// A long-lived flow stops. It keeps its slot, so that its last counters are reported.
    pub(super) fn stop_long_lived(&mut self, number: u32, recorder: &mut dyn Recorder) {
        if let Some(flow) = self.flows.long_lived[number as usize] {
            let at = flow.slot as usize;
            self.flows.sending[at].stop();
            self.report_state(flow, FlowEvent::End, recorder);
            self.for_each_router(self.flows.about[at].ends, |flows| flows.active -= 1);
        }
    }
}

fn record(about: &FlowInfo, sender: &Sender, now: Time) -> FlowRecord {
    let (naks, timeouts) = sender.signals();
    let connected = (!sender.is_connecting()).then_some(sender.connected);
    FlowRecord {
        source: about.source,
        receiver: about.receiver,
        from: about.ends[0].into(),
        to: about.ends[1].into(),
        class: about.class,
        group: about.group(),
        algorithm: about.algorithm.into(),
        start: about.start,
        connected,
        end: now,
        size_pkts: connected.map_or(about.size, |_| sender.size()),
        sent_pkts: sender.sent(),
        syns: sender.syns(),
        naks,
        timeouts,
    }
}

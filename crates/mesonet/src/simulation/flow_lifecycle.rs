//! Flows from the wish for a file to its last acknowledgement.

use longhaul_units::Time;

use super::World;
use super::counters::Tallies;
use crate::config::FileType;
use crate::flows::{About, Place, SendingEnd, Timer};
use crate::hosts::{Choice, Receiver};
use crate::network::FlowId;
use crate::records::{FlowClass, FlowEvent, FlowRecord, Recorder};

impl World {
    /// A source asks for a file: chooses a receiver, then what to ask for, and connects.
    pub(super) fn ask(&mut self, source: u32) {
        let host = self.sources.get(source);
        let domain = self.env.network.routing().domain(host.access);
        let Some(receiver) = self.choose_receiver(domain) else {
            return self.think(source);
        };
        let ends = [host.access, receiver.access];
        let class = self.connections.class(ends);
        let mut about = About {
            source,
            receiver: receiver.number,
            long_lived: None,
            ends,
            class,
            file: FileType::Web,
            fast_interface: host.fast && receiver.fast,
            algorithm: host.algorithm,
            alternate: self.connections.alternate[host.algorithm as usize],
            size: 0,
            start: self.env.network.now,
        };
        let web = self.files.web_object();
        let Choice { file, size } = self.files.choose(web, about.cell(), &self.under_way);
        (about.file, about.size) = (file, size);
        self.under_way.begin(file, about.cell());
        let endpoints = self
            .connections
            .endpoints(ends, u16::from(host.fast), &self.env);
        let place = Place {
            access: receiver.access,
            source_access: host.access,
            speed: u16::from(receiver.fast),
            tally: Tallies::of_class(class),
        };
        let flow = self.connections.open(about, &endpoints, place);
        self.follow(flow);
        self.connections.sending[flow.place as usize].connect(&mut self.env);
        for access in ends {
            let edge = &mut self.tallies.edges[access as usize];
            edge.first_syns += 1;
            edge.syns += 1;
        }
    }

    /// A receiver, if there is any that is idle: with enough of them the first choice is one.
    fn choose_receiver(&mut self, domain: u16) -> Option<Receiver> {
        /// Choices after which a source goes back to thinking.
        const TRIES: usize = 1000;
        for _ in 0..TRIES {
            match self.receivers.choose(domain)? {
                Ok(receiver) => return Some(receiver),
                Err(access) => self.tallies.edges[access as usize].no_receivers += 1,
            }
        }
        None
    }

    /// A SYN was sent again.
    pub(super) fn note_retry(&mut self, flow: FlowId) {
        for access in self.connections.about[flow.place as usize].ends {
            self.tallies.edges[access as usize].syns += 1;
        }
    }

    fn think(&mut self, source: u32) {
        let time = self.env.network.now + self.sources.think();
        self.env.timers.push(time, Timer::Ask(source));
    }

    /// A source has been granted its connection.
    pub(super) fn begin(&mut self, flow: FlowId) {
        let at = flow.place as usize;
        let sender = &mut self.connections.sending[at];
        if !sender.is_of(flow) || !sender.is_connecting() {
            return;
        }
        let about = &self.connections.about[at];
        let now = self.env.network.now;
        let jumbo = self
            .jumbo
            .filter(|jumbo| about.class == FlowClass::Dd && jumbo.from <= now && now < jumbo.until);
        let size = about
            .size
            .saturating_mul(jumbo.map_or(1, |jumbo| jumbo.factor));
        sender.begin(size, &mut self.env);
        let totals = &mut self.tallies.totals[about.class as usize];
        totals.connected += 1;
        totals.syns += sender.syns();
        self.pass(about.ends, |flows| flows.active += 1);
    }

    /// A flow's file is there.
    pub(super) fn complete(&mut self, flow: FlowId, recorder: &mut dyn Recorder) {
        let at = flow.place as usize;
        let (sender, about) = (&self.connections.sending[at], self.connections.about[at]);
        let (size, sent) = (sender.size() as f64, sender.sent() as f64);
        let duration = self.env.network.now.since(sender.connected).as_secs_f64();
        let goodput = size / duration;
        self.batches.add(about.group(), goodput);
        let class = &mut self.tallies.classes[about.class as usize];
        class.completed += 1;
        class.retransmission_sum += (sent - size) / size;
        let totals = &mut self.tallies.totals[about.class as usize];
        totals.completed += 1;
        totals.goodput_sum += goodput;
        self.pass(about.ends, |flows| {
            flows.active -= 1;
            flows.completed += 1;
        });
        self.end(flow, recorder);
    }

    /// A flow could not be connected.
    pub(super) fn fail(&mut self, flow: FlowId, recorder: &mut dyn Recorder) {
        let about = self.connections.about[flow.place as usize];
        self.tallies.classes[about.class as usize].failed += 1;
        self.tallies.totals[about.class as usize].failed += 1;
        for access in about.ends {
            self.tallies.edges[access as usize].failed += 1;
        }
        self.end(flow, recorder);
    }

    /// A flow is over: its source thinks of the next one.
    fn end(&mut self, flow: FlowId, recorder: &mut dyn Recorder) {
        let at = flow.place as usize;
        let (sender, about) = (
            &mut self.connections.sending[at],
            self.connections.about[at],
        );
        let interval = std::mem::take(&mut sender.interval);
        self.tallies.note(about.class, about.ends, interval);
        if self.measure.flow_log {
            recorder.flow(&record(&about, sender, self.env.network.now));
        }
        self.connections.close(flow);
        self.receivers.release(about.receiver, about.ends[1]);
        self.under_way.end(about.file, about.cell());
        self.think(about.source);
    }

    /// A long-lived flow starts: its hosts are its own, and connected.
    pub(super) fn start_long_lived(&mut self, number: u32, recorder: &mut dyn Recorder) {
        let at = number as usize;
        let flow = &self.long_lived[at];
        let ends = [flow.from as u16, flow.to as u16];
        let algorithm = self.algorithms[at];
        let about = About {
            source: u32::MAX,
            receiver: u32::MAX,
            long_lived: Some(number as u16),
            ends,
            class: self.connections.class(ends),
            file: FileType::Web,
            fast_interface: true,
            algorithm,
            alternate: self.connections.alternate[algorithm as usize],
            size: u64::MAX,
            start: self.env.network.now,
        };
        let speed = self.speeds[at];
        let endpoints = self.connections.endpoints(ends, speed, &self.env);
        let place = Place {
            access: ends[1],
            source_access: ends[0],
            speed,
            tally: Tallies::of_long_lived(at),
        };
        let flow = self.connections.open(about, &endpoints, place);
        self.follow(flow);
        self.connections.long_lived[at] = Some(flow);
        self.connections.sending[flow.place as usize].begin(u64::MAX, &mut self.env);
        self.report_state(flow, FlowEvent::Start, recorder);
        self.pass(ends, |flows| flows.active += 1);
    }

    /// A long-lived flow stops. Its place stays its own, so that its last counts are found.
    pub(super) fn stop_long_lived(&mut self, number: u32, recorder: &mut dyn Recorder) {
        if let Some(flow) = self.connections.long_lived[number as usize] {
            let at = flow.place as usize;
            self.connections.sending[at].stop();
            self.report_state(flow, FlowEvent::End, recorder);
            self.pass(self.connections.about[at].ends, |flows| flows.active -= 1);
        }
    }
}

fn record(about: &About, sender: &SendingEnd, now: Time) -> FlowRecord {
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

//! Coordinator of the regions. It holds the state that all regions share, and opens and ends flows between two windows
//! of simulated time.
//!
//! A flow that begins in a window is opened at the beginning of the window, with a receiver that is idle at that time.
//! If a source finishes a file and its next think time in one window, it requests the next file at the window's end.

use longhaul_congestion::CongestionState;
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::agenda::{Agenda, Opening};
use super::counters::Counters;
use super::ended::EndedFlow;
use super::goodput::Batches;
use super::tracing::Tracing;
use super::{Common, Places};
use crate::config::{AccessClass, FileType, LongLived};
use crate::flows::{FlowInfo, ReceiverSetup, SenderSetup, Timer};
use crate::hosts::{ActiveLargeFiles, ChosenFile, FileChooser, Receivers, ReceivingHost, Sources};
use crate::network::{FlowId, Regions};
use crate::records::{FlowClass, Recorder};

/// State that is shared by all regions.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Coordinator {
    pub(super) regions: Regions,
    pub(super) agenda: Agenda,
    pub(super) sources: Sources,
    pub(super) receivers: Receivers,
    pub(super) files: FileChooser,
    pub(super) large_files: ActiveLargeFiles,
    pub(super) batches: Batches,
    pub(super) tracing: Tracing,
    pub(super) setups: FlowSetups,
    pub(super) long_lived: Vec<LongLived>,
    /// Index of the algorithm of each long-lived flow.
    pub(super) algorithms: Vec<u8>,
    /// Index of the speed of each long-lived flow.
    pub(super) speeds: Vec<u16>,
    /// Region and sender of each long-lived flow; `None` until the flow has been opened.
    pub(super) opened: Vec<Option<(u16, FlowId)>>,
    /// Flows that have ended in the current window. Their receivers become idle at the end of the window.
    pub(super) ended: Vec<EndedFlow>,
    /// Number of failed attempts in the interval to find an idle receiver below each access router.
    pub(super) no_receivers: Vec<u64>,
    pub(super) open: u64,
    /// Maximum number of open flows. A long-lived flow that has stopped still counts as open.
    pub(super) max_open: u64,
}

/// Initial state and parameters of new flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FlowSetups {
    /// Initial state of congestion control, by algorithm.
    #[serde(skip)]
    pub(super) initial: Vec<CongestionState>,
    /// For each algorithm, by index: true if flow groups count it as the alternate algorithm, false for standard TCP
    /// (NIST SP 500-282, chapter 8).
    pub(super) alternate: Vec<bool>,
    /// Class of each access router.
    pub(super) classes: Vec<AccessClass>,
    /// Round-trip propagation delay between backbone routers: `round_trip_delays[from * routers + to]`.
    pub(super) round_trip_delays: Vec<Span>,
    pub(super) routers: usize,
    pub(super) allowance: Span,
}

impl Coordinator {
    /// Returns the indices of all regions, in decreasing order of their numbers of sources.
    pub(super) fn most_sources_first(&self) -> Vec<usize> {
        let mut counts = vec![0_u32; self.regions.count];
        for source in self.sources.all() {
            counts[self.regions.of_access(source.access)] += 1;
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&region| std::cmp::Reverse(counts[region]));
        order
    }

    /// Opens the flows that begin in the window of time that starts at `now`.
    pub(super) fn begin_window(&mut self, common: &Common, places: &Places, now: Time) {
        self.agenda.begin_window();
        while let Some((due, opening)) = self.agenda.take() {
            let time = due.max(now);
            match opening {
                Opening::File(source) => self.request_file(common, places, source, time),
                Opening::LongLived(number) => self.open_long_lived(common, places, number, time),
            }
        }
    }

    /// Requests a file for `source` at `time`: selects a receiver and a file, and opens the flow.
    fn request_file(&mut self, common: &Common, places: &Places, source: u32, time: Time) {
        let host = self.sources.get(source);
        let domain = common.routes.domain(host.access);
        let Some(receiver) = self.choose_receiver(domain) else {
            return self.think(source, time);
        };
        let ends = [host.access, receiver.access];
        let mut about = FlowInfo {
            source,
            receiver: receiver.number,
            long_lived: None,
            ends,
            class: self.setups.class(ends),
            file: FileType::Web,
            fast_interface: host.fast && receiver.fast,
            algorithm: host.algorithm,
            alternate: self.setups.alternate[host.algorithm as usize],
            size: 0,
            start: time,
        };
        let web = self.files.web_object();
        let ChosenFile { file, size } = self.files.choose(web, about.cell(), &self.large_files);
        (about.file, about.size) = (file, size);
        self.large_files.begin(file, about.cell());
        let speeds = [host.fast, receiver.fast].map(u16::from);
        let counter = Counters::of_class(about.class);
        self.open(common, places, about, speeds, counter);
    }

    /// Selects an idle receiver below a backbone router other than `domain`; `None` if no attempt finds one, or no
    /// other backbone router has receivers.
    fn choose_receiver(&mut self, domain: u16) -> Option<ReceivingHost> {
        /// Maximum number of attempts to find an idle receiver. If all fail, the source waits for another think time.
        const TRIES: usize = 1000;
        for _ in 0..TRIES {
            match self.receivers.choose(domain)? {
                Ok(receiver) => return Some(receiver),
                Err(access) => self.no_receivers[access as usize] += 1,
            }
        }
        None
    }

    fn think(&mut self, source: u32, from: Time) {
        let time = from + self.sources.think();
        self.agenda.push(time, Opening::File(source));
    }

    /// Opens the long-lived flow with index `number`. It needs no handshake, and no other flow uses its hosts.
    fn open_long_lived(&mut self, common: &Common, places: &Places, number: u32, time: Time) {
        let at = number as usize;
        let flow = &self.long_lived[at];
        let (ends, stop) = ([flow.from as u16, flow.to as u16], flow.stop);
        let algorithm = self.algorithms[at];
        let about = FlowInfo {
            source: u32::MAX,
            receiver: u32::MAX,
            long_lived: Some(number as u16),
            ends,
            class: self.setups.class(ends),
            file: FileType::Web,
            fast_interface: true,
            algorithm,
            alternate: self.setups.alternate[algorithm as usize],
            size: u64::MAX,
            start: time,
        };
        let counter = Counters::of_long_lived(at);
        let speeds = [self.speeds[at]; 2];
        let (region, sender) = self.open(common, places, about, speeds, counter);
        self.opened[at] = Some((region as u16, sender));
        let timers = &mut places.region(region).env.timers;
        timers.push(stop, Timer::Stop, sender);
    }

    /// Opens both ends of a flow; returns the region of its sender, and the flow's id there.
    fn open(
        &mut self,
        common: &Common,
        places: &Places,
        about: FlowInfo,
        speeds: [u16; 2],
        counter: u16,
    ) -> (usize, FlowId) {
        let [from, to] = about.ends.map(|access| self.regions.of_access(access));
        let place = ReceiverSetup {
            sender: places.region(from).flows.next_sender(),
            access: about.ends[1],
            source_access: about.ends[0],
            speed: speeds[1],
            counter,
        };
        let receiver = places.region(to).flows.open_receiver(place);
        let [near, far] = about
            .ends
            .map(|access| common.routes.domain(access) as usize);
        let setup = SenderSetup {
            access: about.ends[0],
            receiver_access: about.ends[1],
            receiver,
            speed: speeds[0],
            propagation: self.setups.round_trip_delays[near * self.setups.routers + far],
            allowance: self.setups.allowance,
        };
        let initial = self.setups.initial[about.algorithm as usize].clone();
        let sender = {
            let mut region = places.region(from);
            let sender = region.flows.open_sender(about, &setup, initial);
            region.env.timers.push(about.start, Timer::Begin, sender);
            sender
        };
        let ends = [(from, sender), (to, receiver)];
        self.tracing.track(common, places, &about, ends);
        self.open += 1;
        self.max_open = self.max_open.max(self.open);
        (from, sender)
    }

    /// Adds the goodputs of the flows that have ended in a step to their batches, and reports the flows if there is a
    /// flow log, both in order of time.
    pub(super) fn report_ended(
        &mut self,
        common: &Common,
        places: &Places,
        recorder: &mut dyn Recorder,
    ) {
        let first = self.ended.len();
        for mut region in places.regions() {
            self.ended.append(&mut region.ended);
        }
        // The sort is stable: simultaneous ends stay in order of regions.
        self.ended[first..].sort_by_key(|ended| ended.time);
        for ended in &self.ended[first..] {
            if let Some(goodput) = ended.goodput {
                self.batches.add(ended.about.group(), goodput);
            }
            if common.flow_log {
                recorder.flow(&ended.record);
            }
        }
    }

    /// Ends a window of time. For each flow that ended in it: the receiver becomes idle, the source begins to think.
    pub(super) fn end_window(&mut self, places: &Places) {
        for ended in std::mem::take(&mut self.ended) {
            let about = &ended.about;
            let region = self.regions.of_access(about.ends[1]);
            places.region(region).flows.close_receiver(ended.receiver);
            self.receivers.release(about.receiver, about.ends[1]);
            self.large_files.end(about.file, about.cell());
            self.think(about.source, ended.time);
            self.open -= 1;
        }
    }
}

impl FlowSetups {
    fn class(&self, ends: [u16; 2]) -> FlowClass {
        let mut classes = ends.map(|access| self.classes[access as usize]);
        classes.sort_unstable();
        match classes {
            [AccessClass::Direct, AccessClass::Direct] => FlowClass::Dd,
            [AccessClass::Direct, AccessClass::Fast] => FlowClass::Df,
            [AccessClass::Direct, _] => FlowClass::Dn,
            [AccessClass::Fast, AccessClass::Fast] => FlowClass::Ff,
            [AccessClass::Fast, _] => FlowClass::Fn,
            _ => FlowClass::Nn,
        }
    }
}

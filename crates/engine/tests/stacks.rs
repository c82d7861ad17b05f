//! Tests of connections of a foreign stack: bytes, timers, ECN, failures, and all impairments of datagrams.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::extras::{Extras, extras};
use common::{
    AT_ONCE, Records, add_datagrams, add_equal_access, add_flows, drop_tail, dumbbell, run, tcp,
};
use longhaul_engine::config::{ClockError, Flow, Recovery, Transport};
use longhaul_engine::measure::{EventKind, Totals};
use longhaul_engine::queue::{Capacity, QueueConfig};
use longhaul_engine::stack::{
    Datagram, EcnCodepoint, ForeignStack, HEADER_BYTES, Host, Stack, StackFactory, StackNote,
    StackReport, StackSetup,
};
use longhaul_engine::{Config, Loss};
use longhaul_keys::Profile;
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;

/// Faults of a toy stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    PanicsOnReceipt,
    PanicsAtStart,
    NeverAdvances,
    SendsTooMuch,
    LosesConnection,
}

/// Stack of a toy protocol. It sends a window of numbered datagrams, answers each received datagram, and retransmits
/// datagrams that were not answered in time. The contents are pseudo-random, with or without trailing zeros.
#[derive(Debug)]
struct Toy {
    setup: StackSetup,
    fault: Fault,
    window: usize,
    timeout: Span,
    next: u64,
    /// Numbers of the datagrams in flight, each with its expiry time.
    in_flight: BTreeMap<u64, Time>,
    lost: Vec<u64>,
    answers: Vec<(u64, EcnCodepoint)>,
    report: StackReport,
    delivered: BTreeMap<u64, usize>,
    started: bool,
    stopped: bool,
    notes: Vec<StackNote>,
}

impl Toy {
    fn content(&self, number: u64) -> Vec<u8> {
        let mut state = number ^ self.setup.seed;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as u8
        };
        let filled = 8 + usize::from(draw()) * 2;
        let mut bytes = number.to_be_bytes().to_vec();
        bytes.extend((0..filled).map(|_| draw()));
        let zeros = usize::from(draw()) * 3;
        bytes.resize(bytes.len() + zeros, 0);
        bytes
    }

    fn may_send_new(&self) -> bool {
        let done = self.setup.transfer.is_some_and(|total| self.next >= total);
        self.started && !self.stopped && !done && self.in_flight.len() < self.window
    }
}

impl Stack for Toy {
    fn start(&mut self, _: Time) {
        assert_ne!(self.fault, Fault::PanicsAtStart, "refuses to start");
        self.started = true;
    }

    fn stop(&mut self, _: Time) {
        self.stopped = true;
    }

    fn receive(&mut self, host: Host, now: Time, ecn: EcnCodepoint, datagram: Datagram<'_>) {
        let mut bytes = Vec::new();
        datagram.append_to(&mut bytes);
        let datagram = &bytes[..];
        let number = u64::from_be_bytes(datagram[..8].try_into().unwrap());
        match host {
            Host::Receiver => {
                assert!(
                    self.fault != Fault::PanicsOnReceipt || number < 5,
                    "number {number}"
                );
                assert_eq!(
                    datagram,
                    self.content(number),
                    "bytes have changed on their way"
                );
                self.delivered.insert(number, datagram.len());
                self.answers.push((number, ecn));
            }
            Host::Sender => {
                assert_eq!(datagram.len(), 9);
                if let Some(lost_at) = self.in_flight.remove(&number) {
                    self.report.rtt_samples += 1;
                    let sent = lost_at.since(Time::ZERO + self.timeout);
                    self.report.rtt_sum += now.since(Time::ZERO + sent);
                }
                self.report.cuts_ecn += u64::from(datagram[8]);
                let finished = self.setup.transfer == Some(self.next)
                    && self.in_flight.is_empty()
                    && self.lost.is_empty();
                if finished && self.report.finish.is_none() {
                    self.report.finish = Some(now);
                    self.notes.push(StackNote::Finished);
                }
                if self.fault == Fault::LosesConnection && number == 7 {
                    let reason = "the peer has gone".to_string();
                    self.notes.push(StackNote::ConnectionLost(reason));
                }
            }
        }
    }

    fn expire(&mut self, host: Host, now: Time) {
        assert_eq!(host, Host::Sender);
        let lost = &mut self.lost;
        self.in_flight.retain(|&number, at| {
            let late = *at <= now;
            lost.extend(late.then_some(number));
            !late
        });
    }

    fn poll(&mut self, host: Host, now: Time, datagram: &mut Vec<u8>) -> Option<EcnCodepoint> {
        assert!(datagram.is_empty());
        if host == Host::Receiver {
            let (number, ecn) = self.answers.pop()?;
            datagram.extend(number.to_be_bytes());
            datagram.push(u8::from(ecn == EcnCodepoint::Ce));
            return Some(EcnCodepoint::NotEct);
        }
        let number = if let Some(number) = self.lost.pop() {
            self.report.lost_pkts += 1;
            number
        } else if self.may_send_new() {
            self.next += 1;
            self.next - 1
        } else {
            return None;
        };
        self.in_flight.insert(number, now + self.timeout);
        *datagram = match self.fault {
            Fault::SendsTooMuch if number == 3 => vec![1; 70_000],
            _ => self.content(number),
        };
        Some(EcnCodepoint::Ect0)
    }

    fn deadline(&mut self, host: Host) -> Option<Time> {
        if self.fault == Fault::NeverAdvances && self.next > 20 {
            return Some(Time::ZERO);
        }
        let first = self.in_flight.values().min().copied();
        first.filter(|_| host == Host::Sender)
    }

    fn report(&self, _: Time) -> StackReport {
        StackReport {
            cwnd: Some(self.window as f64),
            in_flight: self.in_flight.len() as u64,
            delivered_bytes: self.delivered.values().map(|&len| len as u64).sum(),
            in_order_bytes: self.delivered.len() as u64,
            ..self.report
        }
    }

    fn restart_extremes(&mut self) {}

    fn take_notes(&mut self, notes: &mut Vec<StackNote>) {
        notes.append(&mut self.notes);
    }
}

#[derive(Debug)]
struct Toys {
    window: usize,
    fault: Fault,
}

impl StackFactory for Toys {
    fn make(&self, setup: &StackSetup) -> Box<dyn Stack> {
        Box::new(Toy {
            setup: *setup,
            fault: self.fault,
            window: self.window,
            timeout: Span::from_millis(300),
            next: 0,
            in_flight: BTreeMap::new(),
            lost: Vec::new(),
            answers: Vec::new(),
            report: StackReport::default(),
            delivered: BTreeMap::new(),
            started: false,
            stopped: false,
            notes: Vec::new(),
        })
    }
}

/// Adds `count` flows with stacks made by `toys`. Each flow transfers `transfer` datagrams; `None` means no limit.
fn add_toys(config: &mut Config, count: usize, toys: Toys, transfer: Option<u64>) {
    let factory = Arc::new(toys);
    for number in 0..count {
        let name = format!("toy-{}", config.flows.len() + number);
        config.flows.push(Flow {
            label: "toy".to_string(),
            bundle: name.clone(),
            name,
            from: 0,
            to: 1,
            start: AT_ONCE,
            stop: None,
            via: None,
            via_back: None,
            traced: Vec::new(),
            clock: ClockError::default(),
            transport: Transport::Stack(Arc::new(ForeignStack {
                factory: factory.clone(),
                congestion: "toy:window".to_string(),
                transfer,
                packet_bytes: 1500,
            })),
        });
    }
}

const SOUND: Toys = Toys {
    window: 30,
    fault: Fault::None,
};

fn path(queue: QueueConfig, seconds: u64) -> Config {
    let rate = Rate::from_bps(5_000_000);
    dumbbell(rate, Span::from_millis(10), queue, seconds)
}

fn codel() -> QueueConfig {
    let context = (Rate::from_bps(5_000_000), Span::from_millis(10));
    let limit = Capacity::Packets(1000);
    common::disciplines::queue(("fq-codel", Profile::Linux), limit, context, [])
}

/// Returns the results and records of two runs: one without captures, and one with captures. Captured packets are not
/// forwarded ahead of time.
fn ahead_and_on_time(config: &Config) -> [(Totals, Records); 2] {
    [false, true].map(|captured| {
        let mut config = config.clone();
        for link in &mut config.links {
            link.captured = captured;
        }
        let (mut totals, mut records) = run(&config);
        totals.events = 0;
        totals.events_pending_max = 0;
        records.packets.clear();
        (totals, records)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Checks that datagrams keep their bytes through every impairment, and that only those dropped by links are lost.
    /// Processing ahead of time gives the same results as processing on time.
    #[test]
    fn datagrams_survive_what_links_do(
        there in extras(), back in extras(), limit in 2u64..60, window in 1usize..80,
        loss in prop_oneof![Just(0.0), 0.0..0.05f64], fair in any::<bool>(), count in 1usize..4,
    ) {
        let queue = if fair { codel() } else { drop_tail(limit) };
        let mut config = path(queue, 4);
        config.links[0].direction.loss = Loss::Bernoulli(loss);
        there.add_to(&mut config.links[0]);
        back.add_to(&mut config.links[1]);
        add_datagrams(&mut config, Rate::from_bps(200_000));
        add_toys(&mut config, count, Toys { window, fault: Fault::None }, None);
        if fair {
            add_flows(&mut config, "tcp", 1, AT_ONCE, tcp(Recovery::Sack));
        }
        let [(one, records_one), (two, records_two)] = ahead_and_on_time(&config);
        prop_assert!(one.run_warnings.is_empty(), "{:?}", one.run_warnings);
        prop_assert_eq!(&one, &two);
        prop_assert_eq!(records_one, records_two);
        let link = &one.links[0].total;
        let sent: u64 = one.flows.iter().map(|flow| flow.total.sent_pkts).sum();
        // Impairments hold packets back, and not all packets of TCP are data.
        prop_assert!(fair || link.arrived_pkts <= sent + link.duplicated_pkts);
        for flow in &one.flows {
            let known = flow.total.delivered_pkts + flow.total.dropped_pkts;
            prop_assert!(known <= flow.total.sent_pkts + link.duplicated_pkts);
        }
    }

    /// Transfers complete after losses have stopped.
    #[test]
    fn transfers_complete(there in extras(), limit in 2u64..60, loss in 0.0..0.3f64) {
        let mut config = path(drop_tail(limit), 600);
        config.measure.every = None;
        config.links[0].direction.loss = Loss::Bernoulli(loss);
        there.add_to(&mut config.links[0]);
        for link in &mut config.links {
            Extras::end_losses(link, Time::ZERO + Span::from_secs(3));
        }
        add_toys(&mut config, 1, SOUND, Some(200));
        let (totals, records) = run(&config);
        prop_assert!(totals.flows[0].finish.is_some());
        prop_assert_eq!(totals.flows[0].total.in_order_bytes, 200);
        prop_assert!(records.events.iter().any(|event| event.kind == EventKind::Finish));
    }
}

/// Checks that a flow counts the marks and drops of its data, but not the drops of its receiver's answers. The marks
/// reach the receiver, which reports them to the sender.
#[test]
fn marks_and_drops_are_those_of_the_flow() {
    let mut config = path(codel(), 20);
    add_toys(
        &mut config,
        1,
        Toys {
            window: 80,
            ..SOUND
        },
        None,
    );
    let (totals, _) = run(&config);
    let (flow, link) = (&totals.flows[0].total, &totals.links[0].total);
    assert!(flow.marked_pkts > 10);
    assert_eq!(flow.marked_pkts, link.marked_pkts);
    // The marks of the last round trip, 14 datagrams each way, are still in flight.
    assert!((flow.marked_pkts - 40..=flow.marked_pkts).contains(&flow.cuts_ecn));
    let mut config = path(drop_tail(5), 20);
    add_toys(&mut config, 1, SOUND, None);
    config.links[1].direction.loss = Loss::Bernoulli(0.1);
    let (totals, _) = run(&config);
    let (flow, link) = (&totals.flows[0].total, &totals.links[0].total);
    assert!(flow.dropped_pkts > 10);
    assert_eq!(flow.dropped_pkts, link.dropped_pkts());
}

/// Checks that a failure of a protocol stack ends only the stack's connection, and that a warning gives the reason.
#[test]
fn failures_end_their_connection_alone() {
    let cases = [
        (Fault::PanicsOnReceipt, "the stack panicked: number 5"),
        (Fault::PanicsAtStart, "the stack panicked: assertion"),
        (Fault::NeverAdvances, "the stack asks to be called again"),
        (Fault::SendsTooMuch, "sent 70000 B in one datagram"),
        (Fault::LosesConnection, "the peer has gone"),
    ];
    for (fault, reason) in cases {
        let mut config = path(drop_tail(50), 5);
        add_toys(&mut config, 1, Toys { fault, ..SOUND }, None);
        add_toys(&mut config, 1, SOUND, Some(400));
        let (totals, records) = run(&config);
        let [warning] = &totals.run_warnings[..] else {
            panic!("{fault:?}: {:?}", totals.run_warnings);
        };
        assert!(
            warning.starts_with("flow `toy-0`: its connection was lost at "),
            "{warning}"
        );
        assert!(warning.contains(reason), "{warning}");
        let lost = records.events.iter();
        let lost = lost.filter(|event| event.kind == EventKind::ConnectionLost);
        assert_eq!(lost.map(|event| event.flow).collect::<Vec<_>>(), [0]);
        assert!(totals.flows[1].finish.is_some(), "{fault:?}");
    }
}

/// Checks that a stopped application's flow sends no new data.
#[test]
fn a_stopped_flow_sends_no_more() {
    let mut config = path(drop_tail(50), 10);
    add_toys(&mut config, 1, SOUND, None);
    config.flows[0].stop = Some(Time::ZERO + Span::from_secs(2));
    let (_, records) = run(&config);
    let sent = |at| {
        let at = Time::ZERO + Span::from_secs(at);
        let mut samples = records.flows.iter();
        samples.find(|sample| sample.time >= at).unwrap().sent_pkts
    };
    assert!(sent(1) < sent(2));
    assert_eq!(sent(3), sent(9));
}

/// Captures contain the datagrams of both directions with their sizes.
#[test]
fn captures_have_datagrams_with_their_sizes() {
    let mut config = path(drop_tail(50), 2);
    config
        .links
        .iter_mut()
        .for_each(|link| link.captured = true);
    add_toys(&mut config, 1, SOUND, None);
    let (totals, records) = run(&config);
    let data = records
        .packets
        .iter()
        .filter(|packet| packet.interface == 0);
    let bytes: u64 = data
        .inspect(|packet| assert!(packet.udp && !packet.reverse && packet.ect))
        .map(|packet| u64::from(packet.payload_bytes) + HEADER_BYTES as u64)
        .sum();
    assert_eq!(bytes, totals.links[0].total.arrived_bytes);
    let mut answers = records
        .packets
        .iter()
        .filter(|packet| packet.interface == 1);
    assert!(answers.all(|packet| packet.reverse && packet.payload_bytes == 9));
}

/// Checks that the closed form of access links gives the same results as ordinary links. The closed form is used for
/// 2048 or more links, unless packets are captured.
#[test]
fn many_access_links_agree_with_links() {
    let rate = Rate::from_bps(200_000_000);
    let mut config = dumbbell(rate, Span::from_millis(5), drop_tail(100), 1);
    add_flows(&mut config, "tcp", 2040, AT_ONCE, tcp(Recovery::Sack));
    add_toys(&mut config, 20, Toys { window: 3, ..SOUND }, None);
    add_equal_access(&mut config, Span::from_millis(1));
    for link in &mut config.links[2..] {
        link.sampled = false;
    }
    let [(one, records_one), (two, records_two)] = ahead_and_on_time(&config);
    assert!(one == two);
    assert!(records_one == records_two);
    assert!(one.flows[2050].total.delivered_pkts > 5);
}

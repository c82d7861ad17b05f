//! Differential test of the receiving end: delayed acknowledgements (RFC 5681 section 4.2),
//! selective ones (RFC 2018 section 4, RFC 2883), timestamps (RFC 7323 section 4.3), and echoes of
//! marks (RFC 3168, RFC 8257, RFC 9768).

use std::collections::BTreeSet;
use std::sync::Arc;

use longhaul_units::{Span, Time};

use super::super::{network, packet, run_to, tcp};
use super::Random;
use crate::config::{DelayedAck, Ecn, Recovery, Tcp, Timestamps};
use crate::network::End;
use crate::packet::{Flags, Packet};
use crate::transport::Env;
use crate::transport::tcp::Receiver;

/// An acknowledgement: its number, timestamp, flags, blocks, count of marks, and size in bytes.
#[derive(Debug, PartialEq)]
struct Answer {
    next: u64,
    stamp: Time,
    flags: Flags,
    blocks: Vec<(u64, u64)>,
    marks: Option<u16>,
    bytes: u16,
}

struct Rules {
    config: Tcp,
    end: u64,
    next: u64,
    beyond: BTreeSet<u64>,
    /// SACK blocks, the most recently changed first.
    blocks: Vec<(u64, u64)>,
    pending: u32,
    due: Time,
    stamp: Time,
    echoes: bool,
    /// Number of marked packets that have arrived, plus the initial value five (AccECN).
    marked: u64,
    /// Number of marked packets in the last report.
    reported: u64,
    /// True if the last packet was marked.
    last_marked: bool,
    answers: Vec<Answer>,
}

impl Rules {
    fn run(&mut self, until: Time) {
        if self.due <= until {
            self.answer(&[]);
        }
    }

    fn segment(&mut self, packet: &Packet) {
        let (seq, now) = (packet.seq, packet.time);
        let hurries = self.note_mark(packet.flags);
        if self.pending == 0 {
            self.stamp = packet.stamp;
        }
        if seq == self.next && self.beyond.is_empty() {
            self.next += 1;
            self.take_in_order(seq, hurries, now);
            return;
        }
        if seq <= self.next {
            self.stamp = packet.stamp;
        }
        let twice = seq > 0 && (seq < self.next || self.beyond.contains(&seq));
        self.beyond.extend((seq >= self.next).then_some(seq));
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
        if !self.config.reports_sack() {
            return self.answer(&[]);
        }
        self.arrange(seq);
        let mut blocks = self.blocks.clone();
        if twice && self.config.dsack {
            blocks.insert(0, (seq, seq + 1));
            blocks.truncate(3);
        }
        self.answer(&blocks);
    }

    /// Updates the SACK blocks after the arrival of segment `seq`. The block with this segment comes first, and the
    /// others keep their order. At most three blocks are kept.
    fn arrange(&mut self, seq: u64) {
        let holds = |other: &u64| self.beyond.contains(other);
        let mut blocks = Vec::new();
        if holds(&seq) {
            let left = (0..=seq).rev().take_while(holds).last().expect("itself");
            let right = (seq..).take_while(holds).last().expect("itself") + 1;
            blocks.push((left, right));
        }
        for &(left, right) in &self.blocks {
            let within = blocks
                .first()
                .is_some_and(|&(l, r)| l <= left && right <= r);
            if left >= self.next && !within {
                blocks.push((left, right));
            }
        }
        blocks.truncate(3);
        self.blocks = blocks;
    }

    fn take_in_order(&mut self, seq: u64, hurries: bool, now: Time) {
        let Some(delayed) = self.config.delayed_ack else {
            return self.answer(&[]);
        };
        self.pending += 1;
        let pushed = delayed.push && seq > 0 && seq + 1 == self.end;
        let handshake = seq == 0 && !delayed.delays_syn;
        if self.pending >= delayed.segments || handshake || hurries || pushed {
            self.answer(&[]);
        } else if self.pending == 1 {
            self.due = now + delayed.timeout;
        }
    }

    /// Records a packet's mark; returns true if it requires an immediate acknowledgement.
    fn note_mark(&mut self, flags: Flags) -> bool {
        let marked = flags.has(Flags::CE);
        match self.config.ecn {
            Ecn::Off | Ecn::Classic => {
                self.echoes = marked || self.echoes && !flags.has(Flags::CWR);
                false
            }
            Ecn::Dctcp => {
                let changes = marked != self.echoes;
                if changes && self.pending > 0 {
                    self.answer(&[]);
                }
                self.echoes = marked;
                changes
            }
            Ecn::Accurate => {
                self.marked += u64::from(marked);
                let first = marked && !self.last_marked;
                self.last_marked = marked;
                first || marked && self.marked - self.reported >= 2
            }
        }
    }

    fn answer(&mut self, blocks: &[(u64, u64)]) {
        (self.pending, self.due) = (0, Time::NEVER);
        let options = self.config.timestamps.bytes().unwrap_or(0) as u16;
        let of_blocks = if blocks.is_empty() {
            0
        } else {
            4 + 8 * blocks.len() as u16
        };
        let mut flags = Flags::ACK
            .with_if(Flags::ECE, self.echoes)
            .with_if(Flags::SYN, self.next == 1 && self.beyond.is_empty())
            .with_if(Flags::FIN, self.next == self.end);
        let mut of_marks = 0;
        let mut marks = None;
        if self.config.ecn == Ecn::Accurate {
            self.reported = self.marked;
            flags = flags.with_ace((self.marked % 8) as u8);
            marks = Some(self.marked as u16);
            // Three blocks leave no space for the option.
            of_marks = if blocks.len() == 3 { 0 } else { 12 };
        }
        self.answers.push(Answer {
            next: self.next,
            stamp: self.stamp,
            flags,
            blocks: blocks.to_vec(),
            marks,
            bytes: 40 + options + of_blocks + of_marks,
        });
    }
}

fn drawn(random: &mut Random) -> Tcp {
    let delayed = DelayedAck {
        timeout: Span::from_millis(100),
        segments: random.one_of(&[2, 2, 3]),
        delays_syn: random.below(2) == 0,
        quick: 0,
        push: random.below(2) == 0,
    };
    let ecn = [Ecn::Off, Ecn::Classic, Ecn::Dctcp, Ecn::Accurate];
    Tcp {
        delayed_ack: random.one_of(&[None, Some(delayed), Some(delayed)]),
        ecn: random.one_of(&ecn),
        dsack: random.below(2) == 0,
        sack_blocks: random.below(4) > 0,
        timestamps: random.one_of(&[Timestamps::Off, Timestamps::Standard(12)]),
        transfer: random.one_of(&[None, Some(120 * 1460)]),
        ..tcp(Recovery::Sack)
    }
}

fn seen(env: &Env, answer: &Packet) -> Answer {
    let sack = env.network.peek_sack(answer);
    Answer {
        next: answer.seq,
        stamp: answer.stamp,
        flags: answer.flags,
        blocks: sack.blocks(answer.seq).collect(),
        marks: sack.marks(),
        bytes: answer.bytes,
    }
}

/// Returns the acknowledgements that leave until `at`, with their contents on arrival at the sender.
fn answers_until(env: &mut Env, receiver: &mut Receiver, at: Time) -> Vec<Answer> {
    let sent = run_to(env, at, |env, _| receiver.on_timer(env));
    sent.iter().map(|answer| seen(env, answer)).collect()
}

fn live(random: &mut Random) {
    let config = drawn(random);
    let end = config.transfer.map_or(u64::MAX, |_| 121);
    let mut rules = Rules {
        config: config.clone(),
        end,
        next: 0,
        beyond: BTreeSet::new(),
        blocks: Vec::new(),
        pending: 0,
        due: Time::NEVER,
        stamp: Time::ZERO,
        echoes: false,
        marked: 5,
        reported: 5,
        last_marked: false,
        answers: Vec::new(),
    };
    let (mut env, path, _) = network(End::TcpSender);
    let mut receiver = Receiver::new(0, path, Arc::new(config), false);
    let mut now = Time::ZERO;
    for _ in 0..200 {
        now +=
            Span::from_micros(100 + random.below(60_000)) + Span::from_ps(random.below(1_000_000));
        let found = answers_until(&mut env, &mut receiver, now);
        rules.run(now);
        assert_eq!(
            found,
            std::mem::take(&mut rules.answers),
            "{:?}",
            rules.config
        );
        assert_eq!(receiver.due(), rules.due);
        let seq = match random.below(12) {
            0..6 => rules.next,
            6..11 => rules.next + random.below(12),
            _ => rules.next.saturating_sub(random.below(4)),
        };
        let flags = Flags::NONE
            .with_if(Flags::ECT.with(Flags::CE), random.below(5) == 0)
            .with_if(Flags::CWR, random.below(7) == 0);
        let segment = Packet {
            time: now,
            stamp: Time::ZERO + now.since(Time::ZERO) / 2,
            ..packet(seq.min(end - 1), flags, Time::ZERO)
        };
        env.network.now = now;
        receiver.on_segment(&segment, &mut env);
        rules.segment(&segment);
        assert_eq!(receiver.next(), rules.next);
    }
}

#[test]
fn receivers_answer_as_their_rfcs_say() {
    for life in 1..=60 {
        live(&mut Random(0x9e37_79b9 * life));
    }
}

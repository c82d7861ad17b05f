//! Second implementations of disciplines that decide on departure, from a packet's sojourn time.

use longhaul_units::{Bytes, Span, Time};

use super::{Rule, Waiting, assert_follows, mark, stream};
use crate::measure::ClassCounters;
use crate::packet::{Flags, Packet};
use crate::queue::cobalt::{CobaltConfig, CobaltParameters};
use crate::queue::codel::{CoDelConfig, CoDelParameters, CoDelVariant};
use crate::queue::dual_pi2::{Classifier, DualPi2Config};
use crate::queue::{Arrival, Capacity, Draws, DropReason, QueueConfig, Verdict};
use crate::random::Stream;

const MANY: u64 = 40;

/// Refuses an arriving packet if `limit` packets or more already wait. A packet that finds the link idle is never
/// refused.
pub(super) fn refuse_beyond(limit: u64, arrival: &Arrival, waiting: &Waiting) -> Verdict {
    if arrival.idle_since.is_none() && waiting.len() as u64 >= limit {
        Verdict::Drop(DropReason::Overflow)
    } else {
        Verdict::Accept
    }
}

/// CoDel, with `dodequeue` and `deque` of RFC 8289 section 5. In the variant of Linux (`codel_impl.h`), times are in
/// whole units of 1024 ns, an interval ends one unit later, and the root is approximated by one Newton step per drop.
#[derive(Clone, Debug)]
pub(super) struct CoDel {
    pub(super) parameters: CoDelParameters,
    pub(super) ecn: bool,
    first_above_time: u64,
    drop_next: u64,
    pub(super) count: u64,
    lastcount: u64,
    dropping: bool,
    /// Approximation of `1 / sqrt(count)` as a 16-bit fraction (`rec_inv_sqrt`); only Linux's variant uses it.
    root: u64,
}

impl CoDel {
    pub(super) fn new(parameters: CoDelParameters, ecn: bool) -> Self {
        Self {
            parameters,
            ecn,
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
            root: 0,
        }
    }

    fn linux(&self) -> bool {
        self.parameters.variant == CoDelVariant::Linux
    }

    /// Returns a time in units of the variant's clock: 1024 ns in Linux, otherwise 1 ps.
    fn units(&self, time: Time) -> u64 {
        if self.linux() {
            time.as_ps() / 1_024_000
        } else {
            time.as_ps()
        }
    }

    fn span(&self, span: Span) -> u64 {
        self.units(Time::ZERO + span)
    }

    fn control_law(&self, from: u64) -> u64 {
        let interval = self.span(self.parameters.interval);
        if self.linux() {
            from + ((interval * (self.root << 16)) >> 32)
        } else {
            from + (interval as f64 / (self.count as f64).sqrt()) as u64
        }
    }

    /// Improves the approximation of `1 / sqrt(count)` by one step, `x (3 - count x^2) / 2`. The arithmetic is in 64
    /// bits and wraps around; 16 bits of the result are kept.
    fn newton(&mut self) {
        let root = self.root << 16;
        let square = (root * root) >> 32;
        let rest = (3_u64 << 32).wrapping_sub(self.count.wrapping_mul(square)) >> 2;
        self.root = (rest.wrapping_mul(root) >> 31 >> 16) & 0xffff;
    }

    fn dodequeue(
        &mut self,
        now: Time,
        waiting: &mut Waiting,
        (of, counted): (impl Fn(&Packet) -> bool, impl Fn(&Packet) -> bool),
    ) -> (Option<Packet>, bool) {
        let packet = waiting.take(of);
        let at = self.units(now);
        let above = packet.as_ref().is_some_and(|packet| {
            let sojourn = at - self.units(packet.time);
            sojourn >= self.span(self.parameters.target)
                && waiting.bytes(counted) > self.parameters.max_packet.0
        });
        let mut ok_to_drop = false;
        if !above {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = at + self.span(self.parameters.interval);
        } else {
            ok_to_drop = at >= self.first_above_time + u64::from(self.linux());
        }
        (packet, ok_to_drop)
    }

    /// Drops and marks packets by CoDel, and returns the packet to send. `of` selects the queue's packets. CoDel acts
    /// only while the packets selected by `counted` have more bytes than the largest packet.
    pub(super) fn deque(
        &mut self,
        now: Time,
        waiting: &mut Waiting,
        of: impl Fn(&Packet) -> bool + Copy,
        counted: impl Fn(&Packet) -> bool + Copy,
    ) -> Option<Packet> {
        let at = self.units(now);
        let (mut packet, mut ok) = self.dodequeue(now, waiting, (of, counted));
        let may_mark = |packet: &Option<Packet>, ecn: bool| {
            ecn && packet.as_ref().is_some_and(|one| one.flags.has(Flags::ECT))
        };
        if self.dropping {
            self.dropping = ok;
            while self.dropping && at >= self.drop_next {
                self.count += 1;
                self.newton();
                if may_mark(&packet, self.ecn) {
                    self.drop_next = self.control_law(self.drop_next);
                    return packet.map(mark);
                }
                let number = packet.expect("it is ok to drop it").seq;
                waiting.dropped.push((number, DropReason::Early));
                (packet, ok) = self.dodequeue(now, waiting, (of, counted));
                self.dropping = ok;
                if ok {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok {
            if may_mark(&packet, self.ecn) {
                packet = packet.map(mark);
            } else {
                let number = packet.expect("it is ok to drop it").seq;
                waiting.dropped.push((number, DropReason::Early));
                (packet, _) = self.dodequeue(now, waiting, (of, counted));
            }
            let delta = self.count - self.lastcount;
            let recent = at < self.drop_next + 16 * self.span(self.parameters.interval);
            if delta > 1 && recent {
                self.count = delta;
                self.newton();
            } else {
                (self.count, self.root) = (1, 0xffff);
            }
            self.dropping = true;
            self.drop_next = self.control_law(at);
            self.lastcount = self.count;
        }
        packet
    }
}

impl Rule for CoDel {
    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        refuse_beyond(MANY, arrival, waiting)
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        self.deque(now, waiting, |_| true, |_| true)
    }
}

/// Returns parameters suited to queueing delays of about twenty milliseconds.
pub(super) fn parameters(variant: CoDelVariant) -> CoDelParameters {
    CoDelParameters {
        variant,
        target: Span::from_millis(2),
        interval: Span::from_millis(15),
        max_packet: Bytes(1500),
    }
}

#[test]
fn codel() {
    for variant in [CoDelVariant::Rfc8289, CoDelVariant::Linux] {
        for ecn in [false, true] {
            let config = CoDelConfig {
                limit: Capacity::Packets(MANY),
                ecn,
                control: parameters(variant),
            };
            let rule = || CoDel::new(parameters(variant), ecn);
            assert_follows(&QueueConfig::CoDel(config), rule);
        }
    }
}

/// COBALT, with `cobalt_should_drop`, `cobalt_queue_full` and `cobalt_queue_empty` of Linux 6.18 (`sch_cake.c`). Roots
/// are exact. While the queue is empty, the state decays as if `cobalt_queue_empty` were called again and again.
#[derive(Clone, Debug)]
pub(super) struct Cobalt {
    parameters: CobaltParameters,
    count: u64,
    drop_next: Time,
    dropping: bool,
    p_drop: f64,
    blue_timer: Time,
    /// True if the queue was found empty at its turn, and no packet has been taken since then.
    empty: bool,
}

impl Cobalt {
    pub(super) fn new(parameters: CobaltParameters) -> Self {
        Self {
            parameters,
            count: 0,
            drop_next: Time::ZERO,
            dropping: false,
            p_drop: 0.0,
            blue_timer: Time::ZERO,
            empty: false,
        }
    }

    /// Returns the time of the next drop after a drop at `from`: `from + interval / sqrt(count)`. A count of zero has
    /// the same effect as a count of one.
    fn control(&self, from: Time) -> Time {
        let count = self.count.max(1) as f64;
        from + Span::from_ps((self.parameters.interval.as_ps() as f64 / count.sqrt()) as u64)
    }

    fn forget_due(&mut self, now: Time) {
        while self.count > 0 && self.drop_next <= now {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next);
        }
    }

    /// Lowers BLUE's probability and the count of drops by all steps due by `now`, if `empty` is true. Packets may have
    /// joined the queue since `empty` was set.
    pub(super) fn rest(&mut self, now: Time) {
        if !self.empty {
            return;
        }
        let target = self.parameters.target;
        while self.p_drop > 0.0 && self.blue_timer + target <= now {
            self.p_drop = (self.p_drop - self.parameters.blue_down).max(0.0);
            self.blue_timer += target;
        }
        self.forget_due(now);
    }

    pub(super) fn queue_full(&mut self, now: Time) {
        if now.since(self.blue_timer) > self.parameters.target {
            self.p_drop = (self.p_drop + self.parameters.blue_up).min(1.0);
            self.blue_timer = now;
        }
        (self.dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
    }

    fn queue_empty(&mut self, now: Time) {
        if self.empty {
            return self.rest(now);
        }
        self.empty = true;
        if self.p_drop > 0.0 && now.since(self.blue_timer) > self.parameters.target {
            self.p_drop = (self.p_drop - self.parameters.blue_down).max(0.0);
            self.blue_timer = now;
        }
        self.dropping = false;
        self.forget_due(now);
    }

    /// Returns two flags: true if a packet must be dropped, and true if it must be marked.
    fn should_drop(
        &mut self,
        now: Time,
        packet: &Packet,
        draw: impl FnOnce() -> f64,
    ) -> (bool, bool) {
        self.empty = false;
        let sojourn = now.since(packet.time);
        let next_due = self.count > 0 && self.drop_next <= now;
        let over = sojourn > self.parameters.target && sojourn > self.parameters.mtu_time * 4;
        if over {
            if !self.dropping {
                self.drop_next = self.control(now);
            }
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let (mut drop, mut marks) = (false, false);
        if next_due && over {
            marks = self.parameters.ecn && packet.flags.has(Flags::ECT);
            drop = !marks;
            self.count += 1;
            self.drop_next = self.control(self.drop_next);
        } else if next_due {
            self.forget_due(now);
        }
        drop |= self.p_drop > 0.0 && draw() < self.p_drop;
        if self.count == 0 {
            self.drop_next = now + self.parameters.interval;
        } else if self.drop_next < now && !drop {
            self.drop_next = now;
        }
        (drop, marks && !drop)
    }

    /// Returns the packet to send, from the packets that `of` selects.
    pub(super) fn deque(
        &mut self,
        now: Time,
        waiting: &mut Waiting,
        of: impl Fn(&Packet) -> bool + Copy,
        stream: &mut Stream,
    ) -> Option<Packet> {
        loop {
            let Some(packet) = waiting.take(of) else {
                self.queue_empty(now);
                return None;
            };
            // The last packet of a queue is never dropped, and no random number is drawn for it.
            let last = waiting.first(of).is_none();
            let (drop, marks) =
                self.should_drop(now, &packet, || if last { 1.0 } else { stream.uniform() });
            if !drop || last {
                return Some(if marks { mark(packet) } else { packet });
            }
            waiting.dropped.push((packet.seq, DropReason::Early));
        }
    }
}

impl Cobalt {
    pub(super) fn blue(&self) -> f64 {
        self.p_drop
    }
}

struct AloneUnderCobalt(Cobalt, Stream);

impl Rule for AloneUnderCobalt {
    fn draws(&self) -> (Draws, bool) {
        (Draws::InCongestion, false)
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        self.0.rest(arrival.now);
        let verdict = refuse_beyond(MANY, arrival, waiting);
        if verdict != Verdict::Accept {
            self.0.queue_full(arrival.now);
        }
        verdict
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        self.0.deque(now, waiting, |_| true, &mut self.1)
    }

    fn probability(&self) -> Option<f64> {
        Some(self.0.blue())
    }
}

/// Compares COBALT with its rule, for two values of `interval`. With the shorter one, times between drops get shorter
/// than the transmission time of a packet.
#[test]
fn cobalt() {
    for (ecn, target_us, interval_us) in [
        (false, 2000, 15_000),
        (true, 2000, 15_000),
        (true, 7000, 15_000),
        (false, 4000, 1500),
        (true, 4000, 1500),
    ] {
        let control = CobaltParameters {
            ecn,
            target: Span::from_micros(target_us),
            interval: Span::from_micros(interval_us),
            mtu_time: Span::from_micros(1000),
            blue_up: 1.0 / 64.0,
            blue_down: 1.0 / 512.0,
        };
        let config = CobaltConfig {
            limit: Capacity::Packets(MANY),
            control,
        };
        let rule = || AloneUnderCobalt(Cobalt::new(control), stream());
        assert_follows(&QueueConfig::Cobalt(config), rule);
    }
}

/// DualPI2 by RFC 9332 appendix A in Linux's form (`sch_dualpi2.c`): packets are marked and dropped when they leave.
/// While packets wait in both queues, the classic queue gets a tenth of the bytes sent.
struct DualPi2 {
    config: DualPi2Config,
    p: f64,
    old_delay_s: f64,
    /// Bytes sent while packets waited in both queues: by the L4S queue, and by the classic queue. Both numbers are
    /// 1500 at first, and again whenever both queues are found empty.
    sent: (u64, u64),
    stream: Stream,
    counters: [ClassCounters; 2],
}

impl DualPi2 {
    fn is_l4s(&self, packet: &Packet) -> bool {
        match self.config.classifier {
            Classifier::Ect1 => packet.flags.has(Flags::ECT1) || packet.flags.has(Flags::CE),
            Classifier::AnyEct => packet.flags.has(Flags::ECT),
        }
    }

    fn draws(&mut self, p: f64) -> bool {
        self.stream.uniform() < p
    }

    /// Returns two flags: true if a packet must be dropped, and true if it must be marked.
    fn judge(&mut self, packet: &Packet, l4s: bool, waiting: &Waiting, now: Time) -> (bool, bool) {
        let overload = self.config.coupling * self.p > 1.0;
        let ect = packet.flags.has(Flags::ECT);
        let (mut drop, mut marks) = (false, false);
        if waiting.bytes(|_| true) >= 2 * self.config.mtu.0 && self.p > 0.0 {
            if l4s && !overload {
                marks = self.draws(self.config.coupling * self.p);
            } else {
                let both = self.draws(self.p) && self.draws(self.p);
                drop = both && (overload || !ect);
                marks = !drop && (l4s || both);
            }
        }
        let behind = waiting
            .packets
            .iter()
            .filter(|other| self.is_l4s(other))
            .count() as u64;
        let late = l4s && now.since(packet.time) > self.config.step;
        marks |= late && behind >= self.config.step_min && !drop;
        (drop, marks)
    }

    fn choose(&self, waiting: &Waiting) -> Option<bool> {
        let l4s = waiting.first(|packet| self.is_l4s(packet)).is_some();
        let classic = waiting.first(|packet| !self.is_l4s(packet)).is_some();
        let (of_l4s, of_classic) = self.sent;
        match (l4s, classic) {
            (false, false) => None,
            (true, true) => Some(of_l4s + of_classic <= 10 * of_classic),
            (l4s, _) => Some(l4s),
        }
    }
}

impl Rule for DualPi2 {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(6))
    }

    fn draws(&self) -> (Draws, bool) {
        (Draws::InCongestion, false)
    }

    fn classes(&self) -> Option<[ClassCounters; 2]> {
        Some(self.counters)
    }

    fn on_arrival(&mut self, arrival: &Arrival, packet: &Packet, waiting: &mut Waiting) -> Verdict {
        let verdict = refuse_beyond(MANY, arrival, waiting);
        let refused = u64::from(verdict != Verdict::Accept);
        self.counters[usize::from(!self.is_l4s(packet))].dropped_pkts += refused;
        verdict
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        loop {
            let Some(l4s) = self.choose(waiting) else {
                self.sent = (1500, 1500);
                return None;
            };
            let packet = waiting.take(|packet| self.is_l4s(packet) == l4s)?;
            let (drop, marks) = self.judge(&packet, l4s, waiting, now);
            if drop {
                self.counters[usize::from(!l4s)].dropped_pkts += 1;
                waiting.dropped.push((packet.seq, DropReason::Early));
                continue;
            }
            let other = waiting.first(|other| self.is_l4s(other) != l4s).is_some();
            let bytes = u64::from(packet.bytes) * u64::from(other);
            if l4s {
                self.sent.0 += bytes;
            } else {
                self.sent.1 += bytes;
            }
            let counters = &mut self.counters[usize::from(!l4s)];
            counters.served_pkts += 1;
            counters.waits_ps += u128::from(now.since(packet.time).as_ps());
            counters.marked_pkts += u64::from(marks && !packet.flags.has(Flags::CE));
            return Some(if marks { mark(packet) } else { packet });
        }
    }

    fn update(&mut self, now: Time, waiting: &Waiting) {
        let oldest = waiting.packets.iter().map(|packet| packet.time).min();
        let delay_s = oldest.map_or(0.0, |since| now.since(since).as_secs_f64());
        let excess = delay_s - self.config.target.as_secs_f64();
        self.p += self.config.alpha * excess + self.config.beta * (delay_s - self.old_delay_s);
        (self.p, self.old_delay_s) = (self.p.clamp(0.0, 1.0), delay_s);
    }

    fn probability(&self) -> Option<f64> {
        Some(self.p)
    }
}

#[test]
fn dualpi2() {
    for (classifier, step_min, gain) in [
        (Classifier::Ect1, 0, 1.0),
        (Classifier::Ect1, 2, 1.0),
        (Classifier::AnyEct, 0, 20.0),
    ] {
        let config = DualPi2Config {
            limit: Capacity::Packets(MANY),
            target: Span::from_millis(3),
            update: Span::from_millis(6),
            alpha: 0.8 * gain,
            beta: 8.0 * gain,
            coupling: 2.0,
            step: Span::from_millis(1),
            step_min,
            classic_share: 0.1,
            classifier,
            mtu: Bytes(1500),
        };
        let rule = || DualPi2 {
            config,
            p: 0.0,
            old_delay_s: 0.0,
            sent: (1500, 1500),
            stream: stream(),
            counters: [ClassCounters::default(); 2],
        };
        assert_follows(&QueueConfig::DualPi2(config), rule);
    }
}

//! BBR (draft-ietf-ccwg-bbr-05) on flows of MesoNet: delivery rates, pacing, and recoveries.

use super::*;

/// Packets per second that the receiver, the slowest part of the path, can take.
const RATE: f64 = 1000.0;
const RTT: Span = Span::from_millis(100);

fn bbr(lose: fn(&Packet, &Sender) -> bool) -> Path {
    let mut path = Start {
        packet_intervals: [Span::from_micros(50), Span::from_millis(1)],
        ..Start::new(RTT, u64::MAX)
    }
    .path("bbr3");
    path.lose = lose;
    path.connect();
    path
}

impl Path {
    fn probe(&self, wanted: &str) -> f64 {
        let mut value = f64::NAN;
        self.sender.congestion().probe(&mut |name, found| {
            if name == wanted {
                value = found;
            }
        });
        value
    }

    /// Returns the mean arrival rate of data packets between the times `from` and `to`, in packets
    /// per second. The times are in seconds.
    fn arrivals(&self, from: f64, to: f64) -> f64 {
        let between = |time: Time| (from..to).contains(&time.as_secs_f64());
        let data = self.seen.iter().filter(|seen| seen.1 == Kind::Data);
        data.filter(|seen| between(seen.0)).count() as f64 / (to - from)
    }
}

#[test]
fn it_finds_the_rate_of_the_path_and_leaves_no_queue() {
    let mut path = bbr(|_, _| false);
    path.run(at(20.0));
    let rate = path.probe("bandwidth_segments_per_s");
    assert!((rate / RATE - 1.0).abs() < 0.02, "{rate}");
    assert!((path.probe("min_rtt_s") - 0.101).abs() < 0.001);
    let arrivals = path.arrivals(10.0, 20.0);
    // The rate excludes the 200 ms at half a window every five seconds in which the path is not
    // full.
    assert!((0.95..1.01).contains(&(arrivals / RATE)), "{arrivals}");
    let srtt = path.sender.srtt();
    assert!(srtt < Span::from_millis(130), "{srtt:?}");
}

/// Checks that BBR paces. Between probes, packets leave one by one, 1 % slower than the path's rate, instead of in
/// bursts at the host's rate.
#[test]
fn it_sets_the_pace() {
    let mut path = bbr(|_, _| false);
    path.run(at(20.0));
    let data = path.seen.iter().filter(|seen| seen.1 == Kind::Data);
    let times: Vec<Time> = data.map(|seen| seen.0).collect();
    let late = &times[times.len() - 1000..];
    let bursts = late
        .windows(2)
        .filter(|pair| pair[1].since(pair[0]) < Span::from_micros(700))
        .count();
    assert_eq!(bursts, 0);
}

/// Checks that BBR keeps its rate if 1 % of the packets are lost; it tolerates 2 %. With this share of losses, standard
/// TCP has some 12 packets in flight.
#[test]
fn few_losses_leave_it_its_rate() {
    let mut path = bbr(|packet, _| packet.kind() == Kind::Data && packet.number() % 100 == 0);
    path.run(at(20.0));
    assert!(path.sender.signals().0 > 100);
    let arrivals = path.arrivals(10.0, 20.0);
    assert!(arrivals > 0.85 * RATE, "{arrivals}");
}

/// Checks that BBR sends at the path's rate again after all packets of a second were lost: the end of the recovery
/// restores the window (section 5.6.4.4 of the draft).
#[test]
fn it_has_its_rate_back_after_timeouts() {
    let mut path = bbr(|packet, sender| {
        packet.kind() == Kind::Data
            && (8000..9000).contains(&packet.number())
            && sender.signals().1 < 3
    });
    path.run(at(20.0));
    assert!(path.sender.signals().1 >= 1, "{:?}", path.sender.signals());
    let arrivals = path.arrivals(15.0, 20.0);
    assert!(arrivals > 0.9 * RATE, "{arrivals}");
}

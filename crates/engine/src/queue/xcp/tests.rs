//! Tests of XCP's arithmetic against numbers computed by hand.

use super::*;
use crate::packet::SackHandle;

/// Returns a router at a link of a million bytes per second.
fn xcp() -> Xcp {
    let config = XcpConfig {
        limit: Capacity::Packets(1000),
        alpha: 0.4,
        beta: 0.226,
        gamma: 0.1,
        rate: Rate::from_bps(8_000_000),
    };
    Xcp::new(config)
}

/// Header of a flow with ten segments per round trip of 100 ms, which requests more throughput than is available.
const TEN_IN_100_MS: XcpHeader = XcpHeader {
    rtt_s: 0.1,
    spacing_s: 0.01,
    change: 1e9,
    granted: false,
};

fn assert_near(value: f64, expected: f64) {
    let bound = 1e-9 * expected.abs().max(1.0);
    assert!((value - expected).abs() < bound, "{value}, not {expected}");
}

/// Lets `packets` packets of 1000 bytes arrive, and ends the control interval.
fn interval(xcp: &mut Xcp, packets: u64, header: &XcpHeader) {
    (0..packets).for_each(|_| xcp.on_arrival(1000, Some(header)));
    xcp.end_control_interval();
}

/// Returns the change of throughput that the router grants to a packet of 1000 bytes, in bytes per second.
fn granted(xcp: &mut Xcp, header: XcpHeader) -> f64 {
    let mut header = header;
    xcp.on_departure(1000, Some(&mut header), 0);
    assert!(header.granted);
    header.change
}

#[test]
fn spare_bandwidth_is_shared_by_spacing() {
    let mut xcp = xcp();
    // 20 kB in 50 ms are 400 kB/s. Of the remaining 600 kB/s, 240 kB/s are allocated. The spacings sum to 0.2 s, so
    // that each packet gets a twentieth. A tenth of the input is less than the allocation, so that nothing is shuffled.
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    assert_near(xcp.mean_rtt_s, 0.1);
    assert_eq!(xcp.interval, Span::from_millis(100));
    for _ in 0..20 {
        assert_near(granted(&mut xcp, TEN_IN_100_MS), 12_000.0);
    }
    // The whole change has been allocated.
    assert_near(xcp.gains_left, 0.0);
    assert_near(granted(&mut xcp, TEN_IN_100_MS), 0.0);
}

#[test]
fn overload_and_queue_are_taken_off_by_bytes_while_some_is_shuffled() {
    let mut xcp = xcp();
    interval(&mut xcp, 0, &TEN_IN_100_MS);
    xcp.interval = Span::from_millis(100);
    xcp.persistent_bytes = 10_000;
    // 110 kB in 100 ms are 100 kB/s too much, of which 40 kB/s are to be removed. The persistent queue is equivalent to
    // 100 kB/s for a round trip, for which another 22.6 kB/s are to be removed. A tenth of the input is 110 kB/s, of
    // which the remaining 47.4 kB/s are shuffled.
    interval(&mut xcp, 110, &TEN_IN_100_MS);
    assert_near(xcp.gains_left, 47_400.0);
    assert_near(xcp.losses_left, 110_000.0);
    // The spacings sum to 1.1 s and the bytes to 110 kB. A packet with a spacing of 10 ms thus gains 474 / 1.1 and
    // loses 1000.
    let share = 474.0 / 1.1 - 1000.0;
    assert_near(granted(&mut xcp, TEN_IN_100_MS), share);
    // The packets of a slower flow have a larger spacing: twice the gain for the same loss.
    let slower = XcpHeader {
        spacing_s: 0.02,
        ..TEN_IN_100_MS
    };
    assert_near(granted(&mut xcp, slower), 948.0 / 1.1 - 1000.0);
    assert_near(xcp.losses_left, 108_000.0);
    // A packet without a round-trip time gets no share of gains or losses.
    let first = XcpHeader {
        rtt_s: 0.0,
        ..TEN_IN_100_MS
    };
    let left = (xcp.gains_left, xcp.losses_left);
    assert_eq!(granted(&mut xcp, first), 0.0);
    assert_eq!((xcp.gains_left, xcp.losses_left), left);
    // The rest of the losses is less than the share of a packet.
    xcp.losses_left = 400.0;
    assert_near(granted(&mut xcp, slower), 948.0 / 1.1 - 400.0);
    assert_eq!(xcp.losses_left, 0.0);
}

#[test]
fn what_a_packet_does_not_want_is_taken_off_both_residues() {
    let mut xcp = xcp();
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    let modest = XcpHeader {
        change: 5000.0,
        ..TEN_IN_100_MS
    };
    // The share of the packet would be 12000; there are no losses to allocate that would offset the difference.
    assert_near(granted(&mut xcp, modest), 5000.0);
    assert_near(xcp.gains_left, 235_000.0);
    // With losses to allocate, the share is 474 / 1.1 - 1000, which an earlier router has reduced to -900.
    interval(&mut xcp, 0, &TEN_IN_100_MS);
    xcp.interval = Span::from_millis(100);
    xcp.persistent_bytes = 10_000;
    interval(&mut xcp, 110, &TEN_IN_100_MS);
    let poor = XcpHeader {
        change: -900.0,
        ..TEN_IN_100_MS
    };
    assert_near(granted(&mut xcp, poor), -900.0);
    let lost = 1000.0 + (474.0 / 1.1 - 1000.0 + 900.0);
    assert_near(xcp.losses_left, 110_000.0 - lost);
    assert_near(xcp.gains_left, 47_400.0 - (lost - 900.0));
}

#[test]
fn the_mean_round_trip_is_weighted_by_spacing() {
    let mut xcp = xcp();
    let satellite = XcpHeader {
        rtt_s: 3.0,
        spacing_s: 0.03,
        ..TEN_IN_100_MS
    };
    // Without a round-trip time, the spacing of a packet does not count.
    let first = XcpHeader {
        rtt_s: 0.0,
        spacing_s: 0.5,
        ..TEN_IN_100_MS
    };
    xcp.on_arrival(1000, Some(&satellite));
    xcp.on_arrival(1000, Some(&first));
    xcp.on_arrival(40, None);
    interval(&mut xcp, 1, &TEN_IN_100_MS);
    // A spacing of three seconds counts as one second: (1 * 0.03 + 0.1 * 0.01) / 0.04. All bytes count as input.
    assert_near(xcp.mean_rtt_s, 0.775);
    assert_near(xcp.loss, xcp.losses_left / 3040.0);
    assert_eq!(granted(&mut xcp, first), 0.0, "no round trip, no change");
}

#[test]
fn the_queue_that_does_not_drain_is_persistent() {
    let mut xcp = xcp();
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    // The first queue interval of 50 ms is over. In the next interval, the minimum of the queue counts.
    xcp.end_queue_interval(8000);
    assert_eq!(xcp.persistent_bytes, 0);
    // The queue interval is half of 100 ms minus 8 ms of queueing delay.
    assert_eq!(xcp.queue_in, Span::from_millis(46));
    for waiting in [9000, 3000, 5000] {
        let mut header = TEN_IN_100_MS;
        xcp.on_departure(1000, Some(&mut header), waiting);
    }
    xcp.end_queue_interval(200_000);
    assert_eq!(xcp.persistent_bytes, 3000);
    assert_eq!(xcp.queue_in, SHORTEST_QUEUE_INTERVAL);
}

/// Without XCP headers, the mean round-trip time returns to its initial value, and no packet gets an increase.
#[test]
fn the_mean_round_trip_starts_again_without_headers() {
    let mut xcp = xcp();
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    assert_near(xcp.mean_rtt_s, 0.1);
    xcp.on_arrival(1000, None);
    xcp.end_control_interval();
    assert_near(xcp.mean_rtt_s, 0.05);
    assert_eq!(xcp.interval, Span::from_millis(50));
    assert_eq!((xcp.gain, xcp.loss * 1000.0), (0.0, xcp.losses_left));
    assert_eq!(granted(&mut xcp, TEN_IN_100_MS), -xcp.loss * 1000.0);
}

/// Checks the shortest intervals, with round-trip times of 0.5 ms: control intervals of 1 ms, queue intervals of 2 ms.
#[test]
fn short_round_trips_have_intervals_of_a_millisecond() {
    let mut xcp = xcp();
    let short = XcpHeader {
        rtt_s: 0.0005,
        ..TEN_IN_100_MS
    };
    xcp.persistent_bytes = 1000;
    interval(&mut xcp, 50, &short);
    assert_eq!(
        (xcp.interval, xcp.control_in),
        (SHORTEST_INTERVAL, SHORTEST_INTERVAL)
    );
    // The mean round-trip time stays 0.5 ms: the queue of 1000 B lowers the rate by 0.226 * 1000 B / 0.5 ms. The input
    // equals the capacity, and a tenth of it is less than the change, so that nothing is shuffled.
    assert_near(xcp.losses_left, 452_000.0);
    assert_near(xcp.gains_left, 0.0);
    xcp.end_queue_interval(0);
    assert_eq!(xcp.queue_in, SHORTEST_QUEUE_INTERVAL);
}

/// The router reads the headers of data on arrival, even if the packet is refused, and sets their feedback when service
/// begins. Headers of acknowledgements do not change. Each departure records the remaining queue if it is the smallest.
#[test]
fn data_is_answered_and_answers_pass() {
    let mut xcp = xcp();
    let mut options = OptionStore::default();
    let mut with_header = |flags: Flags| Packet {
        sack: options.put_header(TEN_IN_100_MS, SackHandle::NONE),
        flags,
        ..Packet::data(0, 1000)
    };
    let (data, answer) = (with_header(Flags::ECT), with_header(Flags::ACK));
    (0..19).for_each(|_| xcp.observe_arrival(&data, &mut options));
    xcp.observe_arrival(&answer, &mut options);
    assert_eq!(xcp.arrived_bytes, 20_000);
    assert_near(xcp.spacings_s, 0.19);
    let arrival = Arrival {
        now: Time::ZERO,
        bytes: 1000,
        ecn_capable: true,
        low_priority: false,
        waiting_pkts: 999,
        waiting_bytes: 0,
        idle_since: None,
    };
    for (waiting_pkts, taken) in [
        (998, Ok(())),
        (999, Ok(())),
        (1000, Err(DropReason::Overflow)),
    ] {
        let arrival = Arrival {
            waiting_pkts,
            ..arrival
        };
        assert_eq!(xcp.enqueue(data, &arrival, &mut Effects::default()), taken);
    }
    xcp.update(Time::ZERO);
    assert_near(xcp.mean_rtt_s, 0.1);
    assert_eq!(xcp.least_bytes, 2000);
    for (mut packet, waiting, change) in [(answer, 1000, 1e9), (data, 1000, 240_000.0 / 19.0)] {
        xcp.packets = Packets::default();
        xcp.packets.push(data);
        xcp.stamp_departure(&mut packet, &mut options);
        assert_eq!(xcp.least_bytes, waiting);
        let header = options.header_mut(packet.sack).expect("it has one");
        assert_near(header.change, change);
        assert_eq!(header.granted, packet.flags == Flags::ECT);
    }
}

#[test]
fn both_intervals_run_side_by_side() {
    let mut xcp = xcp();
    (0..20).for_each(|_| xcp.on_arrival(1000, Some(&TEN_IN_100_MS)));
    // The first queue interval equals the control interval. The second one is 25 ms, before the control interval has
    // measured the round-trip time, and later ones are 50 ms.
    let mut intervals = Vec::new();
    for _ in 0..3 {
        intervals.push(xcp.until_update());
        xcp.update(Time::ZERO);
    }
    let ms = Span::from_millis;
    assert_eq!(intervals, [ms(50), ms(25), ms(50)]);
    assert_eq!((xcp.control_in, xcp.queue_in), (ms(25), ms(50)));
}

//! The router's arithmetic against numbers computed by hand.

use super::*;

/// Returns a router of a million bytes per second.
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

/// Header of a flow with ten segments per round trip of 100 ms that asks for more than is available.
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

/// Lets packets of 1000 bytes arrive, and ends the control interval.
fn interval(xcp: &mut Xcp, packets: u64, header: &XcpHeader) {
    (0..packets).for_each(|_| xcp.on_arrival(1000, Some(header)));
    xcp.end_control_interval();
}

/// Returns the share of a packet of 1000 bytes with this request.
fn granted(xcp: &mut Xcp, header: XcpHeader) -> f64 {
    let mut header = header;
    xcp.on_departure(1000, Some(&mut header), 0);
    assert!(header.granted);
    header.change
}

#[test]
fn spare_bandwidth_is_shared_by_spacing() {
    let mut xcp = xcp();
    // 20 kB in 50 ms are 400 kB/s: of the 600 kB/s left, 240 kB/s are given out. The spacings add up
    // to 0.2 s, so that each packet gets a twentieth. A tenth of the input is less: no shuffling.
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    assert_near(xcp.mean_rtt_s, 0.1);
    assert_eq!(xcp.interval, Span::from_millis(100));
    for _ in 0..20 {
        assert_near(granted(&mut xcp, TEN_IN_100_MS), 12_000.0);
    }
    // Everything has been allocated.
    assert_near(xcp.gains_left, 0.0);
    assert_near(granted(&mut xcp, TEN_IN_100_MS), 0.0);
}

#[test]
fn overload_and_queue_are_taken_off_by_bytes_while_some_is_shuffled() {
    let mut xcp = xcp();
    interval(&mut xcp, 0, &TEN_IN_100_MS);
    xcp.interval = Span::from_millis(100);
    xcp.persistent_bytes = 10_000;
    // 110 kB in 100 ms are 100 kB/s too much: 40 kB/s to take off. The queue is 100 kB/s of a round
    // trip: 22.6 kB/s more. Of the tenth of the input, 110 kB/s, 47.4 kB/s are left to shuffle.
    interval(&mut xcp, 110, &TEN_IN_100_MS);
    assert_near(xcp.gains_left, 47_400.0);
    assert_near(xcp.losses_left, 110_000.0);
    // Spacings of 1.1 s in all, and 110 kB: a packet of 10 ms gains 474 / 1.1 and loses 1000.
    let share = 474.0 / 1.1 - 1000.0;
    assert_near(granted(&mut xcp, TEN_IN_100_MS), share);
    // A slower flow's packets are further apart: twice the gain for the same loss.
    let slower = XcpHeader {
        spacing_s: 0.02,
        ..TEN_IN_100_MS
    };
    assert_near(granted(&mut xcp, slower), 948.0 / 1.1 - 1000.0);
    assert_near(xcp.losses_left, 108_000.0);
}

#[test]
fn what_a_packet_does_not_want_is_taken_off_both_residues() {
    let mut xcp = xcp();
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    let modest = XcpHeader {
        change: 5000.0,
        ..TEN_IN_100_MS
    };
    // The packet's share would be 12000; there are no losses to allocate that would offset the
    // difference.
    assert_near(granted(&mut xcp, modest), 5000.0);
    assert_near(xcp.gains_left, 235_000.0);
    // With losses to allocate, the share is 474 / 1.1 - 1000, of which an earlier router has left -900.
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
    let first = XcpHeader {
        rtt_s: 0.0,
        spacing_s: 0.0,
        ..TEN_IN_100_MS
    };
    xcp.on_arrival(1000, Some(&satellite));
    xcp.on_arrival(1000, Some(&first));
    xcp.on_arrival(40, None);
    interval(&mut xcp, 1, &TEN_IN_100_MS);
    // Three seconds count as one: (1 * 0.03 + 0.1 * 0.01) / 0.04. All bytes count as input.
    assert_near(xcp.mean_rtt_s, 0.775);
    assert_near(xcp.loss, xcp.losses_left / 3040.0);
    assert_eq!(granted(&mut xcp, first), 0.0, "no round trip, no change");
}

#[test]
fn the_queue_that_does_not_drain_is_persistent() {
    let mut xcp = xcp();
    interval(&mut xcp, 20, &TEN_IN_100_MS);
    // The first queue interval of 50 ms is over; in the next one, the minimum of the queue counts.
    xcp.end_queue_interval(8000);
    assert_eq!(xcp.persistent_bytes, 0);
    // Half of 100 ms less 8 ms of queue.
    assert_eq!(xcp.queue_in, Span::from_millis(46));
    for waiting in [9000, 3000, 5000] {
        let mut header = TEN_IN_100_MS;
        xcp.on_departure(1000, Some(&mut header), waiting);
    }
    xcp.end_queue_interval(200_000);
    assert_eq!(xcp.persistent_bytes, 3000);
    assert_eq!(xcp.queue_in, SHORTEST_QUEUE_INTERVAL);
}

#[test]
fn both_intervals_run_side_by_side() {
    let mut xcp = xcp();
    (0..20).for_each(|_| xcp.on_arrival(1000, Some(&TEN_IN_100_MS)));
    // The first intervals are equal; then the queue's is 25 ms, before the control interval has measured the round
    // trip, and 50 ms afterwards.
    let mut intervals = Vec::new();
    for _ in 0..3 {
        intervals.push(xcp.until_update());
        xcp.update(Time::ZERO);
    }
    let ms = Span::from_millis;
    assert_eq!(intervals, [ms(50), ms(25), ms(50)]);
    assert_eq!((xcp.control_in, xcp.queue_in), (ms(25), ms(50)));
}

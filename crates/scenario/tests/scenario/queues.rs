//! Queue disciplines: what the keys mean for the engine, and what is refused.

use longhaul_engine::queue::{Capacity, Counting, DropTail, QueueConfig};

use crate::{BASE, origin, refusal, with};

const QUEUE: &str = "topology.dumbbell.bottleneck.queue";

/// The bottleneck's queue of [`BASE`] with this in place of its own.
fn queue(table: &str) -> QueueConfig {
    with(&[&format!("{QUEUE}={table}")]).config().links[0]
        .queue
        .clone()
}

/// The message about this queue.
fn refused(table: &str) -> String {
    let own = r#"{ kind = "droptail", limit = "1 BDP" }"#;
    assert!(BASE.contains(own));
    refusal(&BASE.replacen(own, table, 1))
}

/// Every text is part of the message about this queue.
fn assert_refused(table: &str, parts: &[&str]) {
    let message = refused(table);
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn a_limit_may_be_a_time() {
    let limit = r#"{ kind = "droptail", limit = "10 ms" }"#;
    // 1 Gbit/s sends 1.25 MB in 10 ms.
    let expected = DropTail {
        limit: Capacity::Bytes(1_250_000),
        counting: Counting::Waiting,
    };
    assert_eq!(queue(limit), QueueConfig::DropTail(expected));
    let scenario = with(&[&format!("{QUEUE}={limit}")]);
    let origin = origin(&scenario, &format!("{QUEUE}.limit"));
    assert!(
        origin.contains("10 ms") && origin.contains("1 Gbps"),
        "{origin}"
    );
    assert_refused(
        r#"{ kind = "droptail", limit = "10 us" }"#,
        &["limit", "1250 B in 10 us", "less than one packet of 1500 B"],
    );
}

#[test]
fn a_full_queue_may_drop_its_head() {
    let expected = DropTail {
        limit: Capacity::Packets(7),
        counting: Counting::Waiting,
    };
    assert_eq!(
        queue(r#"{ kind = "droptail", limit = "7 packets", drop = "head" }"#),
        QueueConfig::HeadDrop(expected)
    );
    assert_refused(
        r#"{ kind = "droptail", drop = "haed" }"#,
        &["queue.drop", "`haed`", "did you mean `head`?", "tail, head"],
    );
}

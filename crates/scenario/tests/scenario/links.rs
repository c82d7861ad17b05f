//! What links do to packets: loss, change, reordering, duplication, delay boxes, emulation.

use longhaul_engine::{GilbertElliott, Loss};

use crate::{BASE, refusal, value, with};

const LINK: &str = "topology.dumbbell.bottleneck";

/// The base scenario with one more key of its link.
fn link_with(key: &str, value: &str) -> longhaul_scenario::Scenario {
    with(&[&format!("{LINK}.{key}={value}")])
}

/// The message about a key of the link, which stands on line 5.
fn link_refusal(text: &str, parts: &[&str]) {
    let message = refusal(&BASE.replacen("delay =", &format!("{text}, delay ="), 1));
    let heads = message
        .lines()
        .filter(|line| line.starts_with("wrong.toml:5:"));
    assert_eq!(heads.count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn bursts_give_the_channel_with_their_mean_length_and_rate() {
    let scenario = link_with("loss", "{ bursts = { loss_rate = 0.02, mean_length = 4 } }");
    let Loss::GilbertElliott(channel) = &scenario.config().links[0].loss else {
        panic!("{:?}", scenario.config().links[0].loss);
    };
    assert_eq!(channel.to_good, 0.25);
    assert!((channel.to_bad - 0.25 * 0.02 / 0.98).abs() < 1e-15);
    assert!((channel.loss_rate() - 0.02).abs() < 1e-15);
    assert_eq!(scenario.config().links[1].loss, Loss::None);
    let scenario = link_with("loss", "{ gilbert_elliott = { p = 0.01, r = 0.2 } }");
    let channel = GilbertElliott {
        to_bad: 0.01,
        to_good: 0.2,
        good_loss: 0.0,
        bad_loss: 1.0,
    };
    let loss = Loss::GilbertElliott(channel);
    assert_eq!(scenario.config().links[0].loss, loss);
    let resolved = "/topology/dumbbell/bottleneck/loss/gilbert_elliott/bad_loss";
    assert_eq!(value(&scenario, resolved), "1");
}

#[test]
fn impossible_losses_are_refused() {
    link_refusal(
        "loss = { bursts = { loss_rate = 0.9, mean_length = 4 } }",
        &["bottleneck.loss.bursts.loss_rate: ", "at most 0.800"],
    );
    link_refusal(
        "loss = { bursts = { loss_rate = 0.1, mean_length = 0.5 } }",
        &["mean_length: 0.5 is out of range", "from 1"],
    );
    link_refusal(
        "loss = { gilbert_elliott = { p = 0.1, r = 0.2, q = 0.2 } }",
        &["unknown key `q`", "allowed: p, r, good_loss, bad_loss"],
    );
    link_refusal(
        "loss = { bernoulli = 0.1, packets = [1] }",
        &["give one of `bernoulli`, `bursts`"],
    );
}

//! Checks of the loss of links.

use longhaul_engine::config::{LossBursts, LossKeys};
use longhaul_keys::Field;

use crate::document::{Table, join};
use crate::error::Diagnostic;

/// Checks the loss model at `key` of the table `holder`, if there is one; reports values that contradict each other.
pub(super) fn check<T>(holder: &Table, key: Field<T>, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(loss) = holder.table(key) else {
        return;
    };
    if loss.entries.len() != 1 {
        let message = "give one of `bernoulli`, `bursts`, `gilbert_elliott` and `packets`";
        return out.push(Diagnostic::at(holder, key, path, message));
    }
    let path = join(path, key.name());
    if !loss.read(LossKeys::packets).is_sorted_by(|a, b| a < b) {
        let message = "expected packet numbers in ascending order, each once";
        out.push(Diagnostic::at(loss, LossKeys::packets, &path, message));
    }
    if let Some(bursts) = loss.table(LossKeys::bursts) {
        check_bursts(bursts, &join(&path, LossKeys::bursts.name()), out);
    }
}

/// Checks that at least one packet passes between two bursts of losses.
fn check_bursts(bursts: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let LossBursts {
        loss_rate,
        mean_length: length,
    } = LossBursts::of(bursts);
    let highest = length / (1.0 + length);
    if loss_rate > highest {
        let message = format!(
            "bursts of {length} packets, with one packet or more between them, lose at most {highest:.3} \
             of all; expected a lower loss_rate or a larger mean_length"
        );
        out.push(Diagnostic::at(bursts, LossBursts::loss_rate, path, message));
    }
}

//! Goodput of completed flows by group, in batches (NIST SP 500-282, chapter 8: flow-group
//! statistics).

use serde::{Deserialize, Serialize};

use crate::records::{FlowGroup, GoodputBatch};

/// Goodputs that have not been reported yet, by group of flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Batches {
    /// Minimum number of completed flows in a batch, except in the last batch of a group.
    size: usize,
    groups: Vec<(Option<FlowGroup>, Vec<f64>)>,
}

impl Batches {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            groups: vec![(None, Vec::new()); FlowGroup::COUNT],
        }
    }

    /// Adds the goodput (packets/s) of a completed flow of `group`.
    pub(crate) fn add(&mut self, group: FlowGroup, goodput: f64) {
        let (name, goodputs) = &mut self.groups[group.index()];
        *name = Some(group);
        goodputs.push(goodput);
    }

    /// Reports a batch for each group with at least `self.size` completed flows, at the end of `interval`. At the end
    /// of the run (`last`), a single flow is enough.
    pub(crate) fn report(&mut self, interval: u64, last: bool, to: &mut dyn FnMut(&GoodputBatch)) {
        let least = if last { 1 } else { self.size.max(1) };
        for (group, goodputs) in &mut self.groups {
            if let &mut Some(group) = group
                && goodputs.len() >= least
            {
                to(&summary(group, interval, goodputs));
                goodputs.clear();
            }
        }
    }
}

/// Returns the statistics of `goodputs`, which it sorts.
fn summary(group: FlowGroup, interval: u64, goodputs: &mut [f64]) -> GoodputBatch {
    goodputs.sort_by(f64::total_cmp);
    let count = goodputs.len();
    let mean = goodputs.iter().sum::<f64>() / count as f64;
    let squares: f64 = goodputs.iter().map(|x| (x - mean) * (x - mean)).sum();
    let rank = |decile: usize| (count * decile).div_ceil(10).max(1) - 1;
    GoodputBatch {
        group,
        interval,
        count: count as u64,
        mean,
        deviation: libm::sqrt(squares / (count.max(2) - 1) as f64),
        min: goodputs[0],
        max: goodputs[count - 1],
        deciles: std::array::from_fn(|at| goodputs[rank(at + 1)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FileType, PathClass};

    #[test]
    fn a_batch_is_reported_when_it_is_full_and_the_rest_at_the_end() {
        let group = FlowGroup {
            file: FileType::Web,
            path: PathClass::Typical,
            fast_interface: false,
            alternate: true,
        };
        assert_eq!((group.number(), group.index()), (24, 47));
        let mut batches = Batches::new(20);
        let mut reports = Vec::new();
        for goodput in (1..=19).rev() {
            batches.add(group, f64::from(goodput));
        }
        batches.report(7, false, &mut |batch| reports.push(batch.clone()));
        assert!(reports.is_empty());
        batches.add(group, 20.0);
        batches.report(8, false, &mut |batch| reports.push(batch.clone()));
        batches.add(group, 5.0);
        batches.report(9, true, &mut |batch| reports.push(batch.clone()));
        let [full, rest] = reports.as_slice() else {
            panic!("{reports:?}");
        };
        // For 1 to 20, the mean is 10.5 and the variance 20 * 21 / 12.
        assert_eq!((full.interval, full.count, full.mean), (8, 20, 10.5));
        assert!((full.deviation - libm::sqrt(35.0)).abs() < 1e-12);
        assert_eq!((full.min, full.max), (1.0, 20.0));
        assert_eq!(
            full.deciles,
            [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0]
        );
        assert_eq!((rest.interval, rest.count, rest.deviation), (9, 1, 0.0));
        assert_eq!(rest.deciles, [5.0; 9]);
    }
}

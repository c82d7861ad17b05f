//! Changes of the rate, computed from gradients of the utility (section 4.2).

use serde::{Deserialize, Serialize};

use crate::parameter::Settings;

/// Number of successive steps in one direction up to which the confidence amplifier grows by one per step. After that,
/// it grows by two (WebRTC, pcc/bitrate_controller.cc).
const LINEAR_STEPS: i32 = 3;

/// Gradient ascent with a confidence amplifier and a dynamic change boundary. Rates are in Mbit/s.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Ascent {
    conversion: f64,
    boundary: f64,
    boundary_step: f64,
    /// Number of successive steps in one direction; negative for steps downwards.
    steps: i32,
    /// Number of steps by which the change boundary is raised (`k` in [`Self::bounded`]).
    moved: u32,
}

impl Ascent {
    pub fn new(settings: &Settings) -> Self {
        Self {
            conversion: settings.get("conversion"),
            boundary: settings.get("boundary"),
            boundary_step: settings.get("boundary_step"),
            steps: 0,
            moved: 0,
        }
    }

    /// Resets the count of successive steps and the change boundary.
    pub fn restart(&mut self) {
        (self.steps, self.moved) = (0, 0);
    }

    /// Returns the change of the rate; `gradient` is the gradient of the utility at `rate`.
    pub fn change(&mut self, rate: f64, gradient: f64) -> f64 {
        let direction = if gradient > 0.0 { 1 } else { -1 };
        if self.steps * direction <= 0 {
            self.restart();
        }
        self.steps += direction;
        let change = self.amplifier() * self.conversion * gradient.abs();
        f64::from(direction) * self.bounded(change, rate)
    }

    /// Returns the confidence amplifier m(tau).
    fn amplifier(&self) -> f64 {
        let steps = self.steps.abs();
        f64::from(steps.max(2 * steps - LINEAR_STEPS))
    }

    /// Limits a change of `rate` to the dynamic change boundary, `(omega0 + k delta) * rate`. A change that exceeds the
    /// boundary increases `k` by one. Any other change lowers `k` to the smallest value that allows this change.
    fn bounded(&mut self, change: f64, rate: f64) -> f64 {
        let allowed = |moved: u32| rate * (self.boundary + f64::from(moved) * self.boundary_step);
        if change > allowed(self.moved) {
            let change = allowed(self.moved);
            self.moved += 1;
            return change;
        }
        self.moved = (0..self.moved)
            .find(|&moved| change <= allowed(moved))
            .unwrap_or(self.moved);
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascent(boundary: f64) -> Ascent {
        Ascent {
            conversion: 1.0,
            boundary,
            boundary_step: 0.06,
            steps: 0,
            moved: 0,
        }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    /// Checks the confidence amplifier. Successive changes of the rate in one direction are 1, 2, 3, 5, 7 and 9 times
    /// the gradient. A change of direction begins again with 1.
    #[test]
    fn steps_in_one_direction_grow() {
        let mut ascent = ascent(1.0);
        for factor in [1.0, 2.0, 3.0, 5.0, 7.0, 9.0] {
            near(ascent.change(100.0, 0.5), factor * 0.5);
        }
        for factor in [1.0, 2.0, 3.0] {
            near(ascent.change(100.0, -0.2), factor * -0.2);
        }
        near(ascent.change(100.0, 0.5), 0.5);
    }

    /// Checks the change boundary. It is 5 % of the rate at first. Each change that exceeds the boundary raises it by
    /// another 6 % of the rate. A smaller change lowers the boundary to the lowest step that allows this change.
    #[test]
    fn changes_are_bounded() {
        let mut ascent = ascent(0.05);
        for bound in [5.0, 11.0, 17.0, 23.0] {
            near(ascent.change(100.0, -900.0), -bound);
        }
        // The change is limited to 29 %, and five steps down have an amplifier of 7.
        near(ascent.change(100.0, -2.0), -14.0);
        // The smallest boundary that allows this change is 17 %.
        assert_eq!(ascent.moved, 2);
        near(ascent.change(100.0, -900.0), -17.0);
        // The limit for a step upwards is the initial one.
        near(ascent.change(100.0, 900.0), 5.0);
    }
}

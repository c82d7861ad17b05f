//! Changes of the rate from gradients of the utility (section 4.2).

use serde::{Deserialize, Serialize};

use crate::parameter::Settings;

/// Number of steps in one direction up to which the change grows by one conversion factor per step;
/// then it grows by two (WebRTC, pcc/bitrate_controller.cc).
const LINEAR_STEPS: i32 = 3;

/// Gradient ascent with confidence amplifier and dynamic change boundary. Rates are in Mbit/s.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Ascent {
    conversion: f64,
    boundary: f64,
    boundary_step: f64,
    /// Number of steps in one direction; negative for steps downwards.
    steps: i32,
    /// Number of times by which the boundary has been moved.
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

    /// Restarts the count of steps in one direction.
    pub fn restart(&mut self) {
        (self.steps, self.moved) = (0, 0);
    }

    /// Returns the change of `rate`, given the gradient of the utility at this rate.
    pub fn change(&mut self, rate: f64, gradient: f64) -> f64 {
        let direction = if gradient > 0.0 { 1 } else { -1 };
        if self.steps * direction <= 0 {
            self.restart();
        }
        self.steps += direction;
        let change = self.amplifier() * self.conversion * gradient.abs();
        f64::from(direction) * self.bounded(change, rate)
    }

    /// Returns m(tau), the confidence amplifier.
    fn amplifier(&self) -> f64 {
        let steps = self.steps.abs();
        f64::from(steps.max(2 * steps - LINEAR_STEPS))
    }

    /// Bounds a change by omega = omega0 + k delta, where k counts changes beyond omega and falls to the smallest that
    /// lets a change pass.
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

    /// The change is theta0 m(tau) gamma: one, two, three, five and seven times the gradient; a
    /// change of direction restarts the count.
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

    /// The bounds are 5, 11 and 17 % of the rate as long as the gradient asks for more; then the
    /// smallest bound that allows the change.
    #[test]
    fn changes_are_bounded() {
        let mut ascent = ascent(0.05);
        for bound in [5.0, 11.0, 17.0, 23.0] {
            near(ascent.change(100.0, -900.0), -bound);
        }
        // The bound is at 29 %, and five steps down have an amplifier of 7.
        near(ascent.change(100.0, -2.0), -14.0);
        assert_eq!(ascent.moved, 2);
        near(ascent.change(100.0, -900.0), -17.0);
        // For a step upwards the bound is the initial one.
        near(ascent.change(100.0, 900.0), 5.0);
    }
}

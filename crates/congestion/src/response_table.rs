//! A tabulated function of the window, so that acknowledgements need no logarithms.
//!
//! The grid follows the floating-point format: every octave is divided into equal cells. The exponent and the leading
//! mantissa bits of a window give the number of its cell. The remaining bits give its position in the cell. Within a
//! cell, the function is interpolated linearly.
//!
//! Let `h = 2^-CELL_BITS` be the maximum width of a cell relative to the window. The interpolation's relative error is
//! at most `h^2 / 8 * |w^2 f''(w) / f(w)|`, plus rounding. The factor `h^2 / 8` is 1.9e-6.

/// Number of a window's mantissa bits that select one of the `2^CELL_BITS` cells of an octave.
const CELL_BITS: u32 = 8;
/// Number of mantissa bits that give the position within a cell.
const PLACE_BITS: u32 = f64::MANTISSA_DIGITS - 1 - CELL_BITS;

/// A tabulated function of the window.
#[derive(Debug, Default)]
pub struct ResponseTable {
    /// Number of the first cell in the table.
    first: u64,
    cells: Box<[Cell]>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Value of the function at the lower end of the cell.
    value: f64,
    /// Difference between the function's values at the upper and the lower end of the cell.
    rise: f64,
}

impl ResponseTable {
    /// Creates a table of a smooth `function` for windows from `from` to `to`. The table begins at the last boundary of
    /// a cell that is not above `from`, and ends at the last that is not above `to`. It does not cover its end.
    pub fn new(from: f64, to: f64, function: impl Fn(f64) -> f64) -> Self {
        assert!(
            0.0 < from && from <= to && to.is_finite(),
            "the range of a table"
        );
        let first = number(from);
        let edge = |number: u64| function(f64::from_bits(number << PLACE_BITS));
        let cell = |number| Cell {
            value: edge(number),
            rise: edge(number + 1) - edge(number),
        };
        Self {
            first,
            cells: (first..number(to)).map(cell).collect(),
        }
    }

    /// Returns the value of the function at `window`; `None` if the table does not cover this window.
    #[inline]
    pub fn at(&self, window: f64) -> Option<f64> {
        let cell = self
            .cells
            .get(number(window).wrapping_sub(self.first) as usize)?;
        let place = window.to_bits() & ((1 << PLACE_BITS) - 1);
        const CELL_WIDTH: f64 = (1_u64 << PLACE_BITS) as f64;
        Some(cell.value + cell.rise * (place as f64 / CELL_WIDTH))
    }
}

/// Returns the number of the cell that contains `window`.
#[inline]
fn number(window: f64) -> u64 {
    window.to_bits() >> PLACE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the error bound of a table of `f(w) = w^2`, with cells whose width is at most the fraction `h` of the
    /// window. The largest relative error is at most `h^2 / 4`, and within 10 % of this bound.
    #[test]
    fn the_error_bound_holds_and_is_reached() {
        // The bound `h^2 / 8 * |w^2 f'' / f|` is `h^2 / 4` here. The error is largest just above powers of two.
        let h = 1.0 / f64::from(1 << CELL_BITS);
        let table = ResponseTable::new(1.0, 1024.0, |w| w * w);
        let mut worst = 0.0_f64;
        for step in 0..1_023_000 {
            let window = 1.0 + f64::from(step) * 1e-3;
            let relative = table.at(window).unwrap() / (window * window) - 1.0;
            worst = worst.max(relative.abs());
        }
        assert!(worst <= h * h / 4.0, "{worst}");
        assert!(worst > 0.9 * h * h / 4.0, "{worst}");
    }

    #[test]
    fn a_linear_function_is_exact_and_continuous() {
        let table = ResponseTable::new(10.0, 100.0, |w| 3.0 * w + 1.0);
        for window in [10.0, 10.01, 15.999, 16.0, 63.9, 64.0, 99.49] {
            let found = table.at(window).unwrap();
            assert!(
                (found - (3.0 * window + 1.0)).abs() < 1e-12,
                "{window}: {found}"
            );
        }
    }

    #[test]
    fn windows_outside_are_not_covered() {
        let table = ResponseTable::new(32.0, 64.0, |w| w);
        for outside in [0.0, 1.0, 31.9, 64.0, 1e300, f64::INFINITY, f64::NAN] {
            assert_eq!(table.at(outside), None, "{outside}");
        }
    }
}

/** Figures of groups of rows. */

import type { Column } from "./columns";

export interface Five {
  low: number;
  quarter: number;
  median: number;
  threeQuarters: number;
  high: number;
  count: number;
}

/** Least, quartiles and largest of numbers; null of none. */
export function five(values: number[]): Five | null {
  if (!values.length) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) => {
    const place = part * (sorted.length - 1);
    const [low, high] = [Math.floor(place), Math.ceil(place)];
    return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
  };
  return {
    low: sorted[0],
    quarter: at(0.25),
    median: at(0.5),
    threeQuarters: at(0.75),
    high: sorted[sorted.length - 1],
    count: sorted.length,
  };
}

/** The values of a column for each group of another, of the rows in `mask`. */
export function byGroup(
  values: ArrayLike<number>,
  group: Column,
  order: number[],
  mask: Uint8Array,
): number[][] {
  const places = new Map(order.map((value, at) => [value, at]));
  const lists: number[][] = order.map(() => []);
  for (let row = 0; row < mask.length; row++) {
    if (!mask[row]) continue;
    const [value, at] = [values[row], places.get(group.values[row])];
    if (value === value && at !== undefined) lists[at].push(value);
  }
  return lists;
}

/** Mean and standard error; of fewer than two values, no error. */
export function mean(values: number[]): { mean: number; error: number } {
  let sum = 0;
  for (const value of values) sum += value;
  const middle = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - middle) ** 2;
  const deviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : NaN;
  return { mean: middle, error: deviation / Math.sqrt(values.length) };
}

/** The number of each row's condition: rows that agree in all `factors` have the same. */
export function conditions(factors: Column[], rows: number): Uint32Array {
  const numbers = new Map<string, number>();
  const all = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    const key = factors.map((factor) => factor.values[row]).join(" ");
    let number = numbers.get(key);
    if (number === undefined) numbers.set(key, (number = numbers.size));
    all[row] = number;
  }
  return all;
}

/** How far each row is from the mean of its condition. */
export function residuals(values: ArrayLike<number>, condition: Uint32Array): Float64Array {
  const count = condition.reduce((most, one) => Math.max(most, one + 1), 0);
  const [sums, sizes] = [new Float64Array(count), new Uint32Array(count)];
  for (let row = 0; row < condition.length; row++) {
    if (Number.isNaN(values[row])) continue;
    sums[condition[row]] += values[row];
    sizes[condition[row]]++;
  }
  return Float64Array.from(
    condition,
    (one, row) => values[row] - (sizes[one] > 1 ? sums[one] / sizes[one] : NaN),
  );
}

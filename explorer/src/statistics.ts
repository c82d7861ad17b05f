/** Figures of groups of rows. */

import { placesIn, POSITIONS, type Column } from "./columns";

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

export interface Mean {
  mean: number;
  error: number;
  count: number;
}

/** Mean and standard error of a column for each group of another, of the rows in `mask`; of fewer than two values, no
 * error. */
export function means(
  values: ArrayLike<number>,
  group: Column,
  order: number[],
  mask: Uint8Array,
): Mean[] {
  const places = placesOf(group, order);
  const [counts, sums, squares] = Array.from({ length: 3 }, () => new Float64Array(order.length));
  // Sums of squares keep their digits around a value of the column.
  const middle = Array.prototype.find.call(values, Number.isFinite) ?? 0;
  for (let row = 0; row < mask.length; row++) {
    const at = places[row];
    const value = values[row] - middle;
    if (!mask[row] || at === NO_GROUP || value !== value) continue;
    counts[at]++;
    sums[at] += value;
    squares[at] += value * value;
  }
  return order.map((_, at) => {
    const [count, sum] = [counts[at], sums[at]];
    const variance = Math.max(squares[at] - (sum * sum) / count, 0) / (count - 1);
    const error = count > 1 ? Math.sqrt(variance / count) : NaN;
    return { mean: middle + sum / count, error, count };
  });
}

const NO_GROUP = 255;
const placed = new WeakMap<Column, { key: string; places: Uint8Array }>();

/** The place of each row's group in an order. */
function placesOf(group: Column, order: number[]): Uint8Array {
  const key = order.join();
  const kept = placed.get(group);
  if (kept?.key === key) return kept.places;
  const places = placesIn(group, order, NO_GROUP);
  placed.set(group, { key, places });
  return places;
}

/** More rows than these have quartiles to a part of their axis, which takes no sorting. */
export const MANY_ROWS = 20_000;
const PARTS = 4096;

/** Least, quartiles and largest of a column for each group of another; of many rows to a 4,096th of the axis. */
export function fives(
  column: Column,
  group: Column,
  order: number[],
  mask: Uint8Array,
): (Five | null)[] {
  if (mask.length <= MANY_ROWS) return byGroup(column.values, group, order, mask).map(five);
  const places = placesOf(group, order);
  const counts = new Uint32Array(order.length * PARTS);
  const { positions } = column;
  for (let row = 0; row < mask.length; row++) {
    const at = places[row];
    if (at !== NO_GROUP && positions[row] <= POSITIONS) {
      counts[at * PARTS + (positions[row] >> 4)] += mask[row];
    }
  }
  return order.map((_, at) => fromCounts(column, counts.subarray(at * PARTS, (at + 1) * PARTS)));
}

function fromCounts(column: Column, counts: Uint32Array): Five | null {
  const count = counts.reduce((sum, one) => sum + one, 0);
  if (!count) return null;
  const at = (part: number): number => {
    let left = part * (count - 1);
    const place = counts.findIndex((one) => (left -= one) < 0);
    return column.at((place + 0.5) / PARTS);
  };
  return {
    low: at(0),
    quarter: at(0.25),
    median: at(0.5),
    threeQuarters: at(0.75),
    high: at(1),
    count,
  };
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

/** Conditions numbered anew: the one with the least mean of a column first, those without any last. */
export function byMean(condition: Uint32Array, values: ArrayLike<number>): Uint32Array {
  const count = condition.reduce((most, one) => Math.max(most, one + 1), 0);
  const [sums, sizes] = [new Float64Array(count), new Uint32Array(count)];
  for (let row = 0; row < condition.length; row++) {
    if (Number.isNaN(values[row])) continue;
    sums[condition[row]] += values[row];
    sizes[condition[row]]++;
  }
  const means = Array.from(sums, (sum, at) => (sizes[at] ? sum / sizes[at] : Infinity));
  const order = means
    .map((_, at) => at)
    .sort((one, other) => means[one] - means[other] || one - other);
  const place = new Uint32Array(count);
  order.forEach((one, at) => (place[one] = at));
  return condition.map((one) => place[one]);
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

import { expect, test } from "vitest";
import {
  byGroup,
  byMean,
  conditions,
  five,
  fives,
  MANY_ROWS,
  means,
  residuals,
} from "../src/statistics";
import { column, words } from "./data";

test("quartiles lie between values", () => {
  expect(five([4, 1, 3, 2])).toEqual({
    low: 1,
    quarter: 1.75,
    median: 2.5,
    threeQuarters: 3.25,
    high: 4,
    count: 4,
  });
  expect(five([])).toBeNull();
});

test("a mean has a standard error from two values on", () => {
  const kind = words("kind", ["a", "b", "none"], [0, 0, 1, 0]);
  const [a, b, none] = means([1, 3, 5, 1e9], kind, [0, 1, 2], Uint8Array.of(1, 1, 1, 0));
  expect(a).toEqual({ mean: 2, error: 1, count: 2 });
  expect(b).toMatchObject({ mean: 5, count: 1 });
  expect(b.error).toBeNaN();
  expect(none.count).toBe(0);
});

test("groups leave out rows that are not selected and values that are missing", () => {
  const group = words("algorithm", ["reno", "cubic"], [0, 1, 0, 1]);
  const mask = Uint8Array.of(1, 1, 0, 1);
  expect(byGroup([1, 2, 3, NaN], group, [0, 1], mask)).toEqual([[1], [2]]);
});

test("conditions with the least mean come first", () => {
  const values = [5, 7, 1, 3, NaN];
  expect([...byMean(Uint32Array.of(0, 0, 1, 1, 2), values)]).toEqual([1, 1, 0, 0, 2]);
});

test("residuals are taken from the mean of the same condition, and need two rows", () => {
  const rtt = column("rtt", [5, 5, 50], "factor");
  const loss = words("loss", ["low", "high"], [0, 0, 0]);
  const condition = conditions([rtt, loss], 3);
  expect([...condition]).toEqual([0, 0, 1]);
  expect([...residuals([10, 30, 7], condition)]).toEqual([-10, 10, NaN]);
});

test("quartiles of many rows are those of few, to a 4,096th of the axis", () => {
  const rows = 2 * MANY_ROWS;
  const values = Array.from({ length: rows }, (_, row) => Math.sin(row) ** 3);
  const kind = words(
    "kind",
    ["a", "b"],
    values.map((_, row) => row % 2),
  );
  const mask = Uint8Array.from(values, (value) => (value > -0.5 ? 1 : 0));
  const y = column("y", values);
  const exact = byGroup(values, kind, [0, 1], mask).map(five);
  fives(y, kind, [0, 1], mask).forEach((found, at) => {
    expect(found!.count).toBe(exact[at]!.count);
    for (const key of ["low", "quarter", "median", "threeQuarters", "high"] as const) {
      expect(Math.abs(found![key] - exact[at]![key])).toBeLessThan(2 / 4096);
    }
  });
});

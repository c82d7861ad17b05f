import { expect, test } from "vitest";
import { byGroup, conditions, five, mean, residuals } from "../src/statistics";
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
  expect(mean([1, 3])).toEqual({ mean: 2, error: 1 });
  expect(mean([5]).error).toBeNaN();
});

test("groups leave out rows that are not selected and values that are missing", () => {
  const group = words("algorithm", ["reno", "cubic"], [0, 1, 0, 1]);
  const mask = Uint8Array.of(1, 1, 0, 1);
  expect(byGroup([1, 2, 3, NaN], group, [0, 1], mask)).toEqual([[1], [2]]);
});

test("residuals are taken from the mean of the same condition, and need two rows", () => {
  const rtt = column("rtt", [5, 5, 50], "factor");
  const loss = words("loss", ["low", "high"], [0, 0, 0]);
  const condition = conditions([rtt, loss], 3);
  expect([...condition]).toEqual([0, 0, 1]);
  expect([...residuals([10, 30, 7], condition)]).toEqual([-10, 10, NaN]);
});

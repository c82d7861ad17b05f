import { expect, test } from "vitest";
import { spansOf, together } from "../src/views/when";

const times = [1, 2, 3, 4];
const values = [0, 0, 0, 0, 0, 2, 0, 5, 1, 0, 0, NaN];

test("who has any, from when to when, the first on top", () => {
  const spans = spansOf(values, 3, times, [0, 3]);
  expect(spans).toEqual([
    { row: 2, first: 0, last: 0, samples: 1, total: 1, largest: 1 },
    { row: 1, first: 1, last: 3, samples: 2, total: 7, largest: 5 },
  ]);
  const all = { first: 0, last: 3, samples: 3, total: 8, largest: 5 };
  expect(together(spans, values, 4)).toEqual(all);
  expect(together([], values, 4)).toBeNull();
});

test("an interval in which two have any is one", () => {
  const both = [1, 0, 2, 0, 0, 0, 3, 0];
  expect(together(spansOf(both, 2, times, [0, 3]), both, 4)?.samples).toBe(2);
});

test("only the part of the time that is looked at counts", () => {
  expect(spansOf(values, 3, times, [2, 3]).map(({ row, first }) => [row, first])).toEqual([[1, 3]]);
});

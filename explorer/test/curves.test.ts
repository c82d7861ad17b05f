import { expect, test } from "vitest";
import { inTurn } from "../src/views/curves";
import { column, table, words } from "./data";

test("curves are of each group in turn, the highest of each first", () => {
  const group = (row: number) => (row < 4 ? "cubic" : "bbr3");
  expect(inTurn([0, 1, 2, 3, 4, 5], group, 4)).toEqual([0, 4, 1, 5]);
  expect(inTurn([0, 1, 2, 3, 4], group, 7)).toEqual([0, 4, 1, 2, 3]);
  expect(inTurn([], group, 7)).toEqual([]);
});

test("a row is called by its levels, and by its name where these are not enough", () => {
  const runs = table([
    words("algorithm", ["cubic", "bbr3"], [0, 1, 1]),
    words("rate", ["100 Mbps", "1 Gbps"], [0, 1, 1]),
    column("loss", [0, 0.001, 0.001], "factor"),
    column("goodput_bps", [1, 2, 3]),
  ]);
  const names = runs.told([0, 1, 2]);
  expect(names.get(0)).toBe("cubic, 100 Mbps, loss 0");
  expect(names.get(1)).toBe("bbr3, 1 Gbps, loss 0.001 (row 2)");
  // Only what tells them apart is said.
  expect(runs.told([1, 2]).get(2)).toBe("row 3");
  expect(runs.told([1]).get(1)).toBe("bbr3, 1 Gbps, loss 0.001");
});

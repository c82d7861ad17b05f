import { expect, test } from "vitest";
import { sent } from "../src/remote";
import { column, table, words } from "./data";

const rows = table([
  column("row", [11, 22, 33]),
  words("kind", ["reno", "cubic", "hstcp"], [0, 1, 2]),
  column("y", [1, 2, 3]),
]);

test("filters mean the same for another sample", () => {
  expect(sent({ kind: "range", column: "y", range: [1, 2] }, rows)).toEqual({
    kind: "range",
    column: "y",
    range: [1, 2],
  });
  expect(sent({ kind: "range", column: "kind", range: [0.5, 2.5] }, rows)).toEqual({
    kind: "names",
    column: "kind",
    names: ["cubic", "hstcp"],
  });
  expect(sent({ kind: "groups", column: "kind", values: [2] }, rows)).toEqual({
    kind: "names",
    column: "kind",
    names: ["hstcp"],
  });
  expect(sent({ kind: "rows", rows: [0, 2] }, rows)).toEqual({ kind: "rows", rows: [11, 33] });
  expect(
    sent({ kind: "box", x: "y", y: "kind", xRange: [0, 1], yRange: [-0.5, 0.5] }, rows),
  ).toEqual({ kind: "box", x: "y", y: "kind", xRange: [0, 1], yRange: ["reno"] });
});

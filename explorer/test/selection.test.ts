import { expect, test } from "vitest";
import type { Filter } from "../src/filters";
import { Selection } from "../src/selection";
import { Series } from "../src/series";
import { Blobs, type SeriesEntry } from "../src/catalogue";
import { blob, column, table, words } from "./data";

const algorithm = words("algorithm", ["reno", "cubic"], [0, 1, 0, 1]);
const goodput = column("goodput", [10, 20, 30, 40]);
const delay = column("delay", [4, 3, 2, 1]);
const runs = table([algorithm, goodput, delay]);

test("filters of several views hold together, and each goes alone", () => {
  const selection = new Selection(runs, null);
  let told = 0;
  selection.onChange(() => told++);
  selection.set("axis", { kind: "range", column: "goodput", range: [15, 45] });
  expect(selection.rows()).toEqual([1, 2, 3]);
  selection.set("boxes", { kind: "groups", column: "algorithm", values: [1] });
  expect([selection.rows(), selection.count]).toEqual([[1, 3], 2]);
  selection.set("axis", null);
  expect(selection.rows()).toEqual([1, 3]);
  selection.set("boxes", null);
  expect([selection.count, selection.isFiltered, told]).toEqual([4, false, 4]);
});

test("a box is between two columns", () => {
  const selection = new Selection(runs, null);
  const xRange: [number, number] = [10, 30];
  selection.set("scatter", { kind: "box", x: "goodput", y: "delay", xRange, yRange: [2, 3] });
  expect(selection.rows()).toEqual([1, 2]);
});

test("rows are picked one by one", () => {
  const selection = new Selection(runs, null);
  selection.toggle(2);
  selection.toggle(0);
  expect(selection.rows()).toEqual([0, 2]);
  selection.toggle(2);
  expect(selection.rows()).toEqual([0]);
  selection.toggle(0);
  expect(selection.isFiltered).toBe(false);
});

test("a filter in values stays the same on a logarithmic axis", () => {
  const selection = new Selection(runs, null);
  const filter: Filter = { kind: "range", column: "goodput", range: [15, 35] };
  goodput.isLogarithmic = true;
  selection.set("axis", filter);
  goodput.isLogarithmic = false;
  expect(selection.rows()).toEqual([1, 2]);
});

test("curves are selected that go through a box", async () => {
  const entry: SeriesEntry = {
    table: "runs",
    times: { blob: 0, encoding: "f64" },
    elements: 4,
    measures: [{ name: "drops", unit: "", about: "", blob: 1, encoding: "f64" }],
    shown: [],
    lost: "",
    note: "",
  };
  const drops = Float64Array.of(0, 0, 0, 0, 5, 0, 0, 0, 5, 5, 5, 5);
  const texts = [blob(Float64Array.of(1, 2, 3)), blob(drops)];
  const series = await Series.read(entry, new Blobs((at) => texts[at]));
  await series.load("drops");
  const selection = new Selection(runs, series);
  const range: [number, number] = [4, 6];
  selection.set("curves", { kind: "curves", measure: "drops", time: [1.9, 2.2], range });
  expect(selection.rows()).toEqual([1, 3]);
  // A line crosses a box that no sample lies in.
  const between: [number, number] = [2, 3];
  selection.set("curves", { kind: "curves", measure: "drops", time: [2.4, 2.6], range: between });
  expect(selection.rows()).toEqual([1, 2]);
  expect([0, 1.4, 1.6, 9].map((time) => series.nearest(time))).toEqual([0, 0, 1, 2]);
});

import { expect, test } from "vitest";
import { Signal } from "../src/context";
import { relate, Relation } from "../src/related";
import { Selection } from "../src/selection";
import { words } from "../src/filters";
import { column, table } from "./data";

const linked = (rows: number) => {
  const one = table([column("y", [...Array(rows).keys()])]);
  return {
    table: one,
    selection: new Selection(one, null),
    restyled: new Signal(),
    restyle: () => {},
  };
};

test("a pick in one table selects in the other, and the other way round", () => {
  const [flows, links] = [linked(3), linked(2)];
  // The first flow takes both links, the second one the first, the third one the second.
  relate(flows, links, new Relation([0, 0, 1, 2], [0, 1, 0, 1]));
  flows.selection.toggle(1);
  expect(links.selection.rows()).toEqual([0]);
  flows.selection.replaceAll([]);
  expect(links.selection.isFiltered).toBe(false);
  links.selection.toggle(1);
  expect(flows.selection.rows()).toEqual([0, 2]);
  expect(links.selection.rows()).toEqual([1]);
  const [[key, filter]] = flows.selection.entries;
  expect(words(filter, flows.table, String)).toBe("of row 2");
  // As a link restores it.
  flows.selection.replaceAll([]);
  expect(links.selection.isFiltered).toBe(false);
  flows.selection.replaceAll([[key, filter]]);
  expect(links.selection.rows()).toEqual([1]);
  flows.selection.set(key, null);
  expect(links.selection.isFiltered).toBe(false);
});

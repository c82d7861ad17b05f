import { expect, test } from "vitest";
import { byGroup, matches, meaning, type Named } from "../src/finder";

const loss: Named = {
  name: "loss_rate_TP3",
  unit: "",
  about: "data packets that went in less those that came out",
  group: "TP3",
};

test("a column is found by its name, by what it means, and by both", () => {
  for (const asked of ["", "loss", "LOSS tp3", "packets came out", "rate less"]) {
    expect(matches(loss, asked), asked).toBe(true);
  }
  for (const asked of ["goodput", "loss TP1"]) expect(matches(loss, asked), asked).toBe(false);
});

test("names without a heading come first, headings in order", () => {
  const entries = [loss, { name: "cell" }, { name: "y1", group: "TP1" }, { ...loss, name: "z" }];
  expect(byGroup(entries).map(([group, all]) => [group, all.length])).toEqual([
    ["", 1],
    ["TP3", 2],
    ["TP1", 1],
  ]);
});

test("what is known of a name is said", () => {
  expect(meaning({ name: "a", unit: "s", about: "time" })).toBe("(s) time");
  expect(meaning({ name: "a" })).toBe("");
});

import { expect, test } from "vitest";
import { coloursOf } from "../src/theme";

test("nine groups have nine colours, those of algorithms as in all plots", () => {
  const names = ["BIC", "CTCP", "FAST", "HTCP", "reno", "a", "b", "c", "d"];
  const colours = coloursOf(names, { bic: "#56b4e9", reno: "#e69f00" });
  expect(new Set(colours).size).toBe(9);
  expect([colours[0], colours[4]]).toEqual(["#56b4e9", "#e69f00"]);
});

test("two algorithms of one colour differ where they stand beside each other", () => {
  const colours = coloursOf(["x", "y"], { x: "#111111", y: "#111111" });
  expect(new Set(colours).size).toBe(2);
});

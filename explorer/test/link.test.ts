import { expect, test } from "vitest";
import { decode, encode, type State } from "../src/link";

test("a link gives back what was shown, whatever characters names have", () => {
  const state: State = {
    page: "64 runs",
    table: "runs",
    filters: [["boxes", { kind: "groups", column: "mean = µ", values: [1] }]],
    colour: "algorithm",
    logarithmic: ["loss"],
    sample: 7,
    range: [0, 99],
    views: { scatter: { x: "α", y: "β" } },
  };
  const text = encode(state);
  expect(text).toMatch(/^[\w-]+$/);
  expect(decode(text)).toEqual(state);
});

test("a damaged link is none", () => {
  expect(decode("%%%")).toBeNull();
  expect(decode(btoa('{"a":1}'))).toBeNull();
});

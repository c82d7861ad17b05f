import { expect, test } from "vitest";
import type { Ink } from "../src/svg";
import { cutAt, fit, fitEnd, forgetCuts, write } from "../src/text";

/** Ten pixels a character. */
function ink(): Ink & { said: string[] } {
  const said: string[] = [];
  return {
    said,
    textAlign: "left",
    measureText: (text: string) => ({ width: 10 * text.length }),
    fillText: (text: string) => said.push(text),
    fillRect: () => {},
  } as unknown as Ink & { said: string[] };
}

test("as much of a name as there is room for", () => {
  expect(fit(ink(), "goodput", 70)).toBe("goodput");
  expect(fit(ink(), "goodput", 69)).toBe("goodp…");
  expect(fitEnd(ink(), "goodput_TP3", 45)).toBe("…TP3");
});

test("what was cut is said in full where it stands, until all is drawn anew", () => {
  const on = ink();
  write(on, "goodput_bps", 100, 50, 60);
  write(on, "loss", 100, 90, 60);
  expect(on.said).toEqual(["goodp…", "loss"]);
  expect(cutAt(on, 130, 52)).toBe("goodput_bps");
  expect(cutAt(on, 130, 90)).toBeNull();
  expect(cutAt(on, 170, 52)).toBeNull();
  forgetCuts(on);
  expect(cutAt(on, 130, 52)).toBeNull();
});

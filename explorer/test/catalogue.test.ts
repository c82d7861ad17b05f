import { expect, test } from "vitest";
import { Blobs } from "../src/catalogue";
import { blob } from "./data";

test("blobs come out as they went in, and steps of a range as values", async () => {
  const texts = [
    blob(Float64Array.of(1.5, NaN, -3e300)),
    blob(Uint16Array.of(0, 65_534, 65_535)),
    blob(Uint8Array.of(2, 0, 1)),
    Buffer.from(Float32Array.of(0.5, 2).buffer).toString("base64"),
  ];
  const blobs = new Blobs((at) => texts[at]);
  const exact = await blobs.numbers({ blob: 0, encoding: "f64" });
  expect([...exact]).toEqual([1.5, NaN, -3e300]);
  const steps = await blobs.numbers({ blob: 1, encoding: "u16", offset: 10, scale: 0.5 });
  expect([...steps]).toEqual([10, 32_777, NaN]);
  const codes = await blobs.codes({ blob: 2, encoding: "u8" });
  expect([...codes]).toEqual([2, 0, 1]);
  const raw = await blobs.numbers({ blob: 3, encoding: "f32", raw: true });
  expect([...raw]).toEqual([0.5, 2]);
});

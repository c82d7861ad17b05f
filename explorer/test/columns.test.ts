import { expect, test } from "vitest";
import { NOWHERE, number, numbers, POSITIONS } from "../src/columns";
import { column, words } from "./data";

test("positions go from the least to the largest value, and missing values are nowhere", () => {
  const goodput = column("goodput", [10, 20, NaN, 40]);
  const third = Math.round(POSITIONS / 3);
  expect([...goodput.positions]).toEqual([0, third, NOWHERE, POSITIONS]);
  expect(goodput.positionOf(20)).toBe(third);
  expect(goodput.positionOf(1e9)).toBe(POSITIONS);
  expect(goodput.at(0.5)).toBeCloseTo(25);
});

test("a logarithmic axis gives each factor of ten the same length, and has room for zero", () => {
  const loss = column("loss", [1e-5, 1e-4, 1e-3]);
  loss.isLogarithmic = true;
  expect([...loss.positions]).toEqual([0, POSITIONS / 2, POSITIONS]);
  const drops = column("drops", [0, 100]);
  drops.isLogarithmic = true;
  expect([...drops.positions]).toEqual([0, POSITIONS]);
  expect(drops.positionOf(1)).toBeGreaterThan(POSITIONS / 4);
});

test("a column of one value is in the middle", () => {
  expect([...column("cuts", [0, 0]).positions]).toEqual([POSITIONS / 2, POSITIONS / 2]);
});

test("categories are spread evenly and keep their names", () => {
  const algorithm = words("algorithm", ["reno", "cubic"], [1, 0]);
  expect([...algorithm.positions]).toEqual([(3 * POSITIONS) / 4, POSITIONS / 4].map(Math.round));
  expect(algorithm.text(0)).toBe("cubic");
});

test("numbers are written with few digits", () => {
  expect([0, 0.25, 1234, 12_345_678, 0.000012, NaN].map(number)).toEqual([
    "0",
    "0.25",
    "1234",
    "12.3M",
    "1.2e-5",
    "–",
  ]);
});

test("numbers beside each other have as many digits as tell them apart", () => {
  expect(numbers([0, 5e6, 1e7])).toEqual(["0", "5M", "10M"]);
  expect(numbers([7_966_000, 7_968_000])).toEqual(["7.966M", "7.968M"]);
  expect(numbers([1032, 1034, 1036])).toEqual(["1032", "1034", "1036"]);
  expect(numbers([0.5, 1])).toEqual(["0.5", "1"]);
});

/** Many rows on few pixels: how many there are in each cell of a grid, and their mean colour. */

import { POSITIONS } from "./columns";
import { channels } from "./theme";

/** Rows from which on points are counted instead of drawn one by one. */
export const MANY = 4000;

/** A picture of the points of all rows, or of those in `mask`: coloured, or in one colour. */
export function cloud(
  x: Uint16Array,
  y: Uint16Array,
  mask: Uint8Array | null,
  columns: number,
  lines: number,
  codes: Uint8Array | null,
  palette: string[],
): HTMLCanvasElement {
  const cells = columns * lines;
  const counts = new Uint32Array(cells);
  const channel = (at: number) => Float32Array.from(palette, (colour) => channels(colour)[at]);
  const [red, green, blue] = [channel(0), channel(1), channel(2)];
  // Of one cell, the sums of the channels of all of its points.
  const sums = codes ? new Float32Array(3 * cells) : null;
  const [xStep, yStep] = [(columns - 1e-3) / POSITIONS, (lines - 1e-3) / POSITIONS];
  let most = 0;
  for (let i = 0; i < x.length; i++) {
    if ((mask && !mask[i]) || x[i] > POSITIONS || y[i] > POSITIONS) continue;
    const cell = (lines - 1 - ((y[i] * yStep) | 0)) * columns + ((x[i] * xStep) | 0);
    const count = ++counts[cell];
    if (count > most) most = count;
    if (sums) {
      const code = codes![i];
      sums[3 * cell] += red[code];
      sums[3 * cell + 1] += green[code];
      sums[3 * cell + 2] += blue[code];
    }
  }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, lines];
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, lines);
  const scale = most > 1 ? 0.7 / Math.log(most) : 0;
  for (let cell = 0; cell < cells; cell++) {
    const count = counts[cell];
    if (!count) continue;
    image.data[4 * cell] = sums ? sums[3 * cell] / count : red[0];
    image.data[4 * cell + 1] = sums ? sums[3 * cell + 1] / count : green[0];
    image.data[4 * cell + 2] = sums ? sums[3 * cell + 2] / count : blue[0];
    image.data[4 * cell + 3] = 255 * (0.3 + scale * Math.log(count));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** How many rows, or rows in `mask`, are in each of so many parts of an axis. */
export function histogram(at: Uint16Array, mask: Uint8Array | null, bins: number): Uint32Array {
  const counts = new Uint32Array(bins);
  const step = (bins - 1e-3) / POSITIONS;
  for (let i = 0; i < at.length; i++) {
    if ((!mask || mask[i]) && at[i] <= POSITIONS) counts[(at[i] * step) | 0]++;
  }
  return counts;
}

/** How many rows in `mask` go from each bin of one axis to each of another. */
export function transitions(
  from: Uint16Array,
  to: Uint16Array,
  mask: Uint8Array | null,
  bins: number,
): Uint32Array {
  const counts = new Uint32Array(bins * bins);
  const step = (bins - 1e-3) / POSITIONS;
  for (let i = 0; i < from.length; i++) {
    if ((mask && !mask[i]) || from[i] > POSITIONS || to[i] > POSITIONS) continue;
    counts[((from[i] * step) | 0) * bins + ((to[i] * step) | 0)]++;
  }
  return counts;
}

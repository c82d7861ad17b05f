/** Many rows on few pixels: how many there are in each cell of a grid, and their mean colour. */

import { POSITIONS } from "./columns";
import { channels } from "./theme";

/** Rows from which on points are counted instead of drawn one by one. */
export const MANY = 4000;
/** In a table of many rows, points are counted from fewer on: many panels draw them at each move of a brush. */
export const FEW = 500;

/** The cell of each row in a picture of so many cells, and before it those of the groups before its own. */
interface Places {
  key: string;
  y: Uint16Array;
  codes: Uint8Array | null;
  cells: Uint32Array;
}

/** Kept while rows and colours stay: a brush changes only who is counted. */
const placed = new WeakMap<Uint16Array, Map<string, Places>>();

function placesOf(
  x: Uint16Array,
  y: Uint16Array,
  codes: Uint8Array | null,
  columns: number,
  lines: number,
  groups: number,
): Uint32Array {
  const key = `${columns} ${lines} ${groups}`;
  const kept = placed.get(x) ?? new Map<string, Places>();
  placed.set(x, kept);
  for (const one of kept.values()) {
    if (one.key === key && one.y === y && one.codes === codes) return one.cells;
  }
  const all = columns * lines;
  const [xStep, yStep] = [(columns - 1e-3) / POSITIONS, (lines - 1e-3) / POSITIONS];
  const cells = new Uint32Array(x.length);
  for (let i = 0; i < x.length; i++) {
    const code = codes ? codes[i] : 0;
    cells[i] =
      x[i] > POSITIONS || y[i] > POSITIONS
        ? groups * all
        : code * all + (lines - 1 - ((y[i] * yStep) | 0)) * columns + ((x[i] * xStep) | 0);
  }
  if (kept.size >= mostPlaces(x.length)) kept.delete(kept.keys().next().value!);
  kept.set(`${key} ${counter++}`, { key, y, codes, cells });
  return cells;
}
let counter = 0;
/** Pictures of one column whose cells are kept: all of a matrix of eight columns, of very long tables fewer. */
function mostPlaces(rows: number): number {
  return Math.max(8, Math.min(20, Math.floor(4e6 / rows)));
}
/** Of more groups each row adds its own colour. */
const FEW_GROUPS = 12;

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
  const all = columns * lines;
  const groups = codes ? palette.length : 1;
  const few = groups <= FEW_GROUPS;
  const cells = placesOf(x, y, few ? codes : null, columns, lines, few ? groups : 1);
  const channel = (at: number) => Float32Array.from(palette, (colour) => channels(colour)[at]);
  const [red, green, blue] = [channel(0), channel(1), channel(2)];
  const totals = new Uint32Array(all + 1);
  const sums = new Float32Array(3 * all);
  if (few && groups > 1) {
    const counts = new Uint32Array(groups * all + 1);
    if (mask) for (let i = 0; i < cells.length; i++) counts[cells[i]] += mask[i];
    else for (let i = 0; i < cells.length; i++) counts[cells[i]]++;
    for (let code = 0, at = 0; code < groups; code++) {
      const [r, g, b] = [red[code], green[code], blue[code]];
      for (let cell = 0; cell < all; cell++, at++) {
        const count = counts[at];
        if (!count) continue;
        totals[cell] += count;
        sums[3 * cell] += count * r;
        sums[3 * cell + 1] += count * g;
        sums[3 * cell + 2] += count * b;
      }
    }
  } else {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if ((mask && !mask[i]) || cell >= all) continue;
      const code = codes ? codes[i] : 0;
      totals[cell]++;
      sums[3 * cell] += red[code];
      sums[3 * cell + 1] += green[code];
      sums[3 * cell + 2] += blue[code];
    }
  }
  let most = 0;
  for (let cell = 0; cell < all; cell++) if (totals[cell] > most) most = totals[cell];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, lines];
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, lines);
  // Of few rows each is seen well.
  let drawn = 0;
  for (let cell = 0; cell < all; cell++) drawn += totals[cell];
  const least = drawn > MANY ? 0.3 : 0.75;
  const scale = most > 1 ? (1 - least) / Math.log(most) : 0;
  const { data } = image;
  for (let cell = 0; cell < all; cell++) {
    const count = totals[cell];
    if (!count) continue;
    data[4 * cell] = sums[3 * cell] / count;
    data[4 * cell + 1] = sums[3 * cell + 1] / count;
    data[4 * cell + 2] = sums[3 * cell + 2] / count;
    data[4 * cell + 3] = 255 * (least + scale * Math.log(count));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const whole = new WeakMap<Uint16Array, Map<number, Uint32Array>>();

/** How many rows, or rows in `mask`, are in each of so many parts of an axis. */
export function histogram(at: Uint16Array, mask: Uint8Array | null, bins: number): Uint32Array {
  if (mask) return counted(at, mask, bins);
  const kept = whole.get(at) ?? new Map<number, Uint32Array>();
  whole.set(at, kept);
  const counts = kept.get(bins) ?? counted(at, null, bins);
  kept.set(bins, counts);
  return counts;
}

function counted(at: Uint16Array, mask: Uint8Array | null, bins: number): Uint32Array {
  const counts = new Uint32Array(bins);
  const step = (bins - 1e-3) / POSITIONS;
  for (let i = 0; i < at.length; i++) {
    if (at[i] <= POSITIONS) counts[(at[i] * step) | 0] += mask ? mask[i] : 1;
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
  // One more cell takes rows that are nowhere.
  const counts = new Uint32Array(bins * bins + 1);
  const cells = placesOf(to, from, null, bins, bins, 1);
  if (mask) for (let i = 0; i < cells.length; i++) counts[cells[i]] += mask[i];
  else for (let i = 0; i < cells.length; i++) counts[cells[i]]++;
  // The cells of a picture have their first line on top.
  return Uint32Array.from({ length: bins * bins }, (_, at) => {
    const bin = (at / bins) | 0;
    return counts[(bins - 1 - bin) * bins + (at % bins)];
  });
}

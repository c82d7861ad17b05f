/** Values over time of the rows of a table. */

import type { Blobs, MeasureEntry, SeriesEntry } from "./catalogue";
import type { Range } from "./filters";

export interface Measure {
  entry: MeasureEntry;
  /** `times` values for each element, one after the other. */
  values: ArrayLike<number>;
  min: number;
  max: number;
}

export class Series {
  private readonly measures = new Map<string, Measure>();
  private readonly pending = new Map<string, Promise<Measure>>();

  constructor(
    readonly entry: SeriesEntry,
    readonly times: ArrayLike<number>,
    private readonly blobs: Blobs,
  ) {}

  static async read(entry: SeriesEntry, blobs: Blobs): Promise<Series> {
    return new Series(entry, await blobs.numbers(entry.times), blobs);
  }

  get names(): string[] {
    return this.entry.measures.map((measure) => measure.name);
  }

  /** A measure that has been loaded. */
  measure(name: string): Measure | undefined {
    return this.measures.get(name);
  }

  /** Reads a measure out of the page, the first time that it is asked for. */
  load(name: string): Promise<Measure> {
    let pending = this.pending.get(name);
    if (!pending) {
      const entry = this.entry.measures.find((measure) => measure.name === name);
      if (!entry) return Promise.reject(new Error(`there is no measure ${name}`));
      pending = this.blobs.numbers(entry).then((values) => {
        const measure = { entry, values, ...extent(values) };
        this.measures.set(name, measure);
        return measure;
      });
      this.pending.set(name, pending);
    }
    return pending;
  }

  /** The number of the sample nearest to a time. */
  nearest(time: number): number {
    const { times } = this;
    let [low, high] = [0, times.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && time - times[low - 1] < times[low] - time ? low - 1 : low;
  }

  /** Marks in `passes` the elements whose curve of a measure goes through a box. */
  through(name: string, time: Range, [low, high]: Range, passes: Uint8Array): void {
    const values = this.measures.get(name)?.values;
    if (!values) return;
    const { times } = this;
    const first = Math.max(this.nearest(time[0]) - 1, 0);
    const last = Math.min(this.nearest(time[1]) + 1, times.length - 1);
    // Between two samples a curve is a straight line, of which what is in the box counts.
    const inside = (start: number, at: number): boolean => {
      const [here, there] = [values[start + at], values[start + at + 1]];
      const length = times[at + 1] - times[at];
      const value = (when: number) => here + ((there - here) * (when - times[at])) / length;
      const [from, to] = [Math.max(times[at], time[0]), Math.min(times[at + 1], time[1])];
      if (from > to) return false;
      const ends = [value(from), value(to)];
      return Math.min(...ends) <= high && Math.max(...ends) >= low;
    };
    for (let element = 0; element < this.entry.elements; element++) {
      const start = element * times.length;
      for (let at = first; at < last; at++) {
        if (inside(start, at)) {
          passes[element] = 1;
          break;
        }
      }
    }
  }
}

function extent(values: ArrayLike<number>): { min: number; max: number } {
  let [min, max] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (values[i] < min) min = values[i];
    if (values[i] > max) max = values[i];
  }
  if (min > max) return { min: 0, max: 1 };
  return min === max ? { min: min - 0.5, max: max + 0.5 } : { min, max };
}

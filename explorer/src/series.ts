/** Values over time of the rows of a table. */

import type { Blobs, MeasureEntry, SeriesEntry } from "./catalogue";
import type { Range } from "./columns";

export interface Measure {
  entry: MeasureEntry;
  /** `times` values for each element, one after the other. */
  values: ArrayLike<number>;
  min: number;
  max: number;
}

/** What a measure is in a part of the time, in few bins: as much as a picture of that width can show. */
export interface Envelope {
  /** The first sample of each bin. */
  firsts: Uint32Array;
  /** Least and largest value of each element in each bin; infinite, the wrong way round, where there is none. */
  low: Float32Array;
  high: Float32Array;
  /** Of each element, least, largest and mean value; none has NaN as its mean. */
  least: Float64Array;
  most: Float64Array;
  mean: Float64Array;
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

  private readonly envelopes = new Map<string, { key: string; envelope: Envelope }>();

  /** The envelope of a loaded measure from one sample to another; the last one of each measure is kept. */
  envelope(measure: Measure, [from, to]: [number, number], width: number): Envelope {
    const samples = to - from + 1;
    const bins = Math.max(Math.min(Math.round(width), samples), 1);
    const key = `${from} ${to} ${bins}`;
    const kept = this.envelopes.get(measure.entry.name);
    if (kept?.key === key) return kept.envelope;
    const { elements } = this.entry;
    const firsts = Uint32Array.from({ length: bins + 1 }, (_, at) =>
      Math.floor(from + (at * samples) / bins),
    );
    const [low, high] = [new Float32Array(elements * bins), new Float32Array(elements * bins)];
    const [least, most] = [new Float64Array(elements), new Float64Array(elements)];
    const mean = new Float64Array(elements);
    for (let element = 0; element < elements; element++) {
      const start = element * this.times.length;
      let [all, above, sum, count] = [Infinity, -Infinity, 0, 0];
      for (let bin = 0; bin < bins; bin++) {
        let [small, large] = [Infinity, -Infinity];
        for (let at = start + firsts[bin]; at < start + firsts[bin + 1]; at++) {
          const value = measure.values[at];
          if (value !== value) continue;
          if (value < small) small = value;
          if (value > large) large = value;
          sum += value;
          count++;
        }
        low[element * bins + bin] = small;
        high[element * bins + bin] = large;
        if (small < all) all = small;
        if (large > above) above = large;
      }
      [least[element], most[element], mean[element]] = [all, above, sum / count];
    }
    const envelope = { firsts: firsts.subarray(0, bins), low, high, least, most, mean };
    this.envelopes.set(measure.entry.name, { key, envelope });
    return envelope;
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

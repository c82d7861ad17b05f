/** Columns in memory, and their positions on an axis, which all views work with. */

import { format } from "d3-format";
import { scaleLinear, scaleLog, scaleSymlog } from "d3-scale";
import type { Blobs, ColumnEntry, TableEntry } from "./catalogue";
import { MANY_NAMES, type Named } from "./finder";

/** Positions on an axis: 0 to 65,534 from its lower to its upper end. */
export const POSITIONS = 65_534;
/** The position of what is missing. */
export const NOWHERE = 65_535;

/** A part of a column's axis, in values, so that it means the same on another scale. */
export type Range = [low: number, high: number];

const plain = format(".6~g");
const short = format(".3~s");
const long = format(".6~s");
const small = format(".3~e");

/** A number as people write it: digits where there are few, prefixes where there are many. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-3) return small(value).replace("−", "-");
  if (size >= 1e6) return size < 1e15 ? short(value) : small(value);
  return plain(value);
}

export class Column {
  readonly name: string;
  /** Of a number, the value; of text, its code. */
  readonly values: ArrayLike<number>;
  readonly categories: readonly string[] | null;
  readonly min: number;
  readonly max: number;
  private logarithmic = false;
  private placed: Uint16Array | null = null;

  constructor(
    readonly entry: ColumnEntry,
    values: ArrayLike<number>,
  ) {
    this.name = entry.name;
    this.values = values;
    this.categories = entry.categories ?? null;
    if (this.categories) {
      [this.min, this.max] = [-0.5, this.categories.length - 0.5];
    } else {
      let [min, max] = [Infinity, -Infinity];
      for (let i = 0; i < values.length; i++) {
        if (!Number.isFinite(values[i])) continue;
        if (values[i] < min) min = values[i];
        if (values[i] > max) max = values[i];
      }
      if (min > max) [min, max] = [0, 1];
      const half = Math.abs(min) / 2 || 0.5;
      if (min === max) [min, max] = [min - half, max + half];
      [this.min, this.max] = [min, max];
    }
  }

  get title(): string {
    return this.entry.unit ? `${this.name} (${this.entry.unit})` : this.name;
  }

  get isLogarithmic(): boolean {
    return this.logarithmic;
  }

  set isLogarithmic(is: boolean) {
    if (is !== this.logarithmic) this.placed = null;
    this.logarithmic = is;
  }

  /** From values to 0 to 1 along an axis. Logarithms of what is not positive only would be nowhere: such axes are
   * logarithmic away from zero. */
  scale() {
    const { min, max } = this;
    if (!this.logarithmic || this.categories) return scaleLinear([min, max], [0, 1]);
    if (min > 0) return scaleLog([min, max], [0, 1]);
    const size = Math.max(Math.abs(min), Math.abs(max));
    return scaleSymlog([min, max], [0, 1]).constant(size / 1e4);
  }

  /** The positions of all rows. */
  get positions(): Uint16Array {
    this.placed ??= this.place();
    return this.placed;
  }

  private place(): Uint16Array {
    const { values, min, max } = this;
    const placed = new Uint16Array(values.length);
    if (this.logarithmic && !this.categories) {
      const scale = this.scale();
      for (let i = 0; i < values.length; i++) {
        const value = values[i];
        placed[i] = Number.isFinite(value) ? Math.round(POSITIONS * scale(value)) : NOWHERE;
      }
      return placed;
    }
    const factor = POSITIONS / (max - min);
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      placed[i] = Number.isFinite(value) ? Math.round((value - min) * factor) : NOWHERE;
    }
    return placed;
  }

  /** The position of a value, which may lie outside. */
  positionOf(value: number): number {
    const at = POSITIONS * this.scale()(value);
    return Math.min(Math.max(Math.round(at), 0), POSITIONS);
  }

  /** The value at a part of the axis, from 0 to 1. */
  at(part: number): number {
    if (part <= 0) return this.min;
    return part >= 1 ? this.max : this.scale().invert(part);
  }

  /** A row's value as text. */
  text(row: number): string {
    const value = this.values[row];
    if (this.categories) return this.categories[value] ?? "–";
    // Rows that differ little are told apart.
    return Math.abs(value) >= 1e6 && Math.abs(value) < 1e15 ? long(value) : number(value);
  }

  /** A row's level as text that says of what a number is. */
  level(row: number): string {
    if (this.categories) return this.text(row);
    return [this.name, this.text(row), this.entry.unit].filter((part) => part).join(" ");
  }
}

/** Numbers beside each other, with as many digits as tell them apart. */
export function numbers(values: number[]): string[] {
  const plainly = values.map((value) => number(Number(value.toPrecision(3))));
  const all = new Set(values).size;
  if (new Set(plainly).size === all) return plainly;
  const isLarge = values.some((value) => Math.abs(value) >= 1e6);
  for (let digits = 4; digits < 16; digits++) {
    const write = format(`.${digits}~${isLarge ? "s" : "g"}`);
    const texts = values.map((value) => write(value).replace("−", "-"));
    if (new Set(texts).size === all) return texts;
  }
  return values.map(String);
}

/** Headings of columns in long lists, by what they are. */
const ROLES = { factor: "factors", response: "responses", name: "names and numbers" };

/** Columns as lists have them: with what they mean, and, where they are many, under headings. */
export function named(columns: Column[]): Named[] {
  return columns.map(({ name, entry: { unit, about, group, role } }) => ({
    name,
    unit,
    about,
    group: columns.length > MANY_NAMES ? group || ROLES[role] : "",
  }));
}

export class Table {
  private readonly byName: Map<string, Column>;

  constructor(
    readonly entry: TableEntry,
    readonly columns: Column[],
  ) {
    this.byName = new Map(columns.map((column) => [column.name, column]));
  }

  static async read(entry: TableEntry, blobs: Blobs): Promise<Table> {
    const columns = entry.columns.map(async (column) => {
      const values = column.categories ? blobs.codes(column) : blobs.numbers(column);
      return new Column(column, await values);
    });
    return new Table(entry, await Promise.all(columns));
  }

  get rows(): number {
    return this.entry.rows;
  }

  column(name: string): Column | undefined {
    return this.byName.get(name);
  }

  /** The columns that hold numbers. */
  get numeric(): Column[] {
    return this.columns.filter((column) => !column.categories);
  }

  /** The columns whose values are few: what rows may be grouped by. */
  get grouping(): Column[] {
    return this.columns.filter((column) => groups(column).length <= MOST_GROUPS);
  }

  /** Factors that were varied. */
  get factors(): Column[] {
    return this.columns.filter(
      (column) => column.entry.role === "factor" && groups(column).length > 1,
    );
  }

  /** Those of them that have few levels. */
  get leveled(): Column[] {
    return this.factors.filter((factor) => groups(factor).length <= MOST_GROUPS);
  }

  /** What a row is called. */
  label(row: number): string {
    const column = this.entry.label ? this.column(this.entry.label) : undefined;
    return column ? column.text(row) : `row ${row + 1}`;
  }

  /** Rows in words: their levels of the factors in which they differ, with what a row is called where several have the
   * same, or no factor. */
  told(rows: number[]): Map<number, string> {
    const differ = (factor: Column) =>
      rows.some((row) => factor.values[row] !== factor.values[rows[0]]);
    const factors = this.factors.filter((factor) => rows.length < 2 || differ(factor));
    if (!factors.length) return new Map(rows.map((row) => [row, this.label(row)]));
    const said = new Map(
      rows.map((row) => [row, factors.map((factor) => factor.level(row)).join(", ")]),
    );
    const times = (text: string) => [...said.values()].filter((one) => one === text).length;
    return new Map(
      [...said].map(([row, text]) => [
        row,
        times(text) > 1 ? `${text} (${this.label(row)})` : text,
      ]),
    );
  }
}

/** More groups than these cannot be told apart. */
export const MOST_GROUPS = 40;

const grouped = new WeakMap<Column, number[]>();

/** The different values of a column in order; of too many to tell apart, some, one more than these. */
export function groups(column: Column): number[] {
  let found = grouped.get(column);
  if (!found) {
    // Of so few, looking through a list is quicker than a set.
    const different: number[] = [];
    for (let i = 0; i < column.values.length && different.length <= MOST_GROUPS; i++) {
      const value = column.values[i];
      if (value === value && !different.includes(value)) different.push(value);
    }
    found = different.sort((one, other) => one - other);
    grouped.set(column, found);
  }
  return found;
}

/** The place of each row's value in an order of few values; `none` where it has none. */
export function placesIn(column: Column, order: number[], none: number): Uint8Array {
  const { values } = column;
  const places = new Uint8Array(values.length);
  for (let i = 0; i < places.length; i++) {
    const at = order.indexOf(values[i]);
    places[i] = at < 0 ? none : at;
  }
  return places;
}

/** A group's value as text. */
export function groupName(column: Column, value: number): string {
  return column.categories ? column.categories[value] : number(value);
}

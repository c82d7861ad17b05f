/** Who has any of a measure, and from when to when: a line for each group of rows, and for each row below it. */

import { groupName, groups, number, type Column } from "../columns";
import type { Context } from "../context";
import type { Measure, Series } from "../series";
import { toggleGroup } from "./groups";

/** When a row has any, in a part of the time. */
export interface Span {
  row: number;
  first: number;
  last: number;
  samples: number;
  total: number;
  largest: number;
}

/** The spans of all rows that have any from one sample to another, in order of their beginnings. */
export function spansOf(
  values: ArrayLike<number>,
  rows: number,
  times: ArrayLike<number>,
  [from, to]: [number, number],
): Span[] {
  const found: Span[] = [];
  for (let row = 0; row < rows; row++) {
    const start = row * times.length;
    const span: Span = { row, first: -1, last: -1, samples: 0, total: 0, largest: 0 };
    for (let at = from; at <= to; at++) {
      const value = values[start + at];
      if (!(value > 0)) continue;
      if (span.first < 0) span.first = at;
      span.last = at;
      span.samples++;
      span.total += value;
      if (value > span.largest) span.largest = value;
    }
    if (span.first >= 0) found.push(span);
  }
  return found.sort((one, other) => one.first - other.first || one.row - other.row);
}

/** One span over those of several rows: an interval in which several have any is one. */
export function together(
  spans: Span[],
  values: ArrayLike<number>,
  samples: number,
): Omit<Span, "row"> | null {
  if (!spans.length) return null;
  const having = new Uint8Array(samples);
  for (const { row, first, last } of spans) {
    for (let at = first; at <= last; at++) if (values[row * samples + at] > 0) having[at] = 1;
  }
  return {
    first: Math.min(...spans.map(({ first }) => first)),
    last: Math.max(...spans.map(({ last }) => last)),
    samples: having.reduce((sum, one) => sum + one, 0),
    total: spans.reduce((sum, { total }) => sum + total, 0),
    largest: Math.max(...spans.map(({ largest }) => largest)),
  };
}

/** Measures that count something, of which there is a total. */
const COUNTED = /(dropped|lost|marked|arrived)(_\w+)?_pkts$/;

/** The table, to be filled anew with what is selected. */
export class When {
  readonly element = document.createElement("div");
  private readonly sheet = document.createElement("table");
  private group: Column | null = null;

  constructor(
    private readonly context: Context,
    private readonly series: Series,
  ) {
    this.element.className = "rows when";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "region");
    this.element.setAttribute("aria-label", "Who has any, from when to when");
    this.element.append(this.sheet);
  }

  /** What rows are coloured by, if its groups are fewer than half of them. */
  private grouping(): Column | null {
    const { table, colourColumn } = this.context;
    const several = colourColumn?.categories ? groups(colourColumn).length : 0;
    return several > 0 && several < table.rows / 2 ? colourColumn : null;
  }

  fill(measure: Measure, spans: Span[]): void {
    const { table, selection } = this.context;
    this.group = this.grouping();
    this.sheet.replaceChildren();
    const isCounted = COUNTED.test(measure.entry.name);
    const { unit } = measure.entry;
    const inUnit = unit ? ` (${unit})` : "";
    const head = this.sheet.createTHead().insertRow();
    for (const [text, about] of [
      ...(this.group ? [[this.group.name, "group"]] : []),
      [table.entry.label ?? "", "name"],
      ["first (s)", "end of the first interval with any"],
      ["last (s)", "end of the last interval with any"],
      ["intervals", "how many intervals have any"],
      ...(isCounted ? [[`in all${inUnit}`, "sum over these intervals"]] : []),
      [`largest${inUnit}`, "the most in an interval"],
    ]) {
      const cell = document.createElement("th");
      [cell.textContent, cell.title] = [text, about];
      head.append(cell);
    }
    const body = this.sheet.createTBody();
    const mine = spans.filter(({ row }) => selection.mask[row]);
    const figures = (line: HTMLTableRowElement, span: Omit<Span, "row"> | null) => {
      const { times } = this.series;
      const cells = span
        ? [
            number(times[span.first]),
            number(times[span.last]),
            number(span.samples),
            ...(isCounted ? [number(span.total)] : []),
            number(Number(span.largest.toPrecision(3))),
          ]
        : ["never", "", "", ...(isCounted ? [""] : []), ""];
      for (const text of cells) {
        const cell = line.insertCell();
        [cell.textContent, cell.className] = [text, "number"];
      }
    };
    const cell = (line: HTMLTableRowElement, text: string) =>
      (line.insertCell().textContent = text);
    for (const value of this.group ? groups(this.group) : []) {
      const of = (row: number) => this.group!.values[row] === value;
      let all = 0;
      for (let row = 0; row < table.rows; row++) if (of(row) && selection.mask[row]) all++;
      if (!all) continue;
      const some = mine.filter(({ row }) => of(row));
      const line = body.insertRow();
      line.className = "group";
      line.title = "Keep this group, or several";
      line.addEventListener("click", () => toggleGroup(this.context, "when", this.group!, value));
      cell(line, groupName(this.group!, value));
      cell(line, `${some.length} of ${all} have any`);
      figures(line, together(some, measure.values, this.series.times.length));
    }
    for (const span of mine) {
      const line = body.insertRow();
      line.dataset.row = String(span.row);
      if (this.group) cell(line, this.group.text(span.row));
      cell(line, table.label(span.row));
      figures(line, span);
      line.addEventListener("click", () => selection.toggle(span.row));
    }
  }
}

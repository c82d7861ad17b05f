/** Filters: what a brush stands for, as plain data that a link can hold, and the rows that pass it. */

import type { Range, Table } from "./columns";
import type { Series } from "./series";

export type Filter =
  | { kind: "range"; column: string; range: Range }
  | { kind: "box"; x: string; y: string; xRange: Range; yRange: Range }
  | { kind: "groups"; column: string; values: number[] }
  /** `through` says which rows of another table they belong to, if they were chosen there. */
  | { kind: "rows"; rows: number[]; through?: { rows: number[]; names: string[] } }
  | { kind: "curves"; measure: string; time: Range; range: Range };

/** Sets in `passes` whether each row passes a filter: 1 or 0. */
export function apply(
  filter: Filter,
  table: Table,
  series: Series | null,
  passes: Uint8Array,
): void {
  switch (filter.kind) {
    case "range":
      within(table, filter.column, filter.range, passes, false);
      break;
    case "box":
      within(table, filter.x, filter.xRange, passes, false);
      within(table, filter.y, filter.yRange, passes, true);
      break;
    case "groups": {
      const values = table.column(filter.column)?.values;
      const wanted = new Set(filter.values);
      for (let i = 0; i < passes.length; i++) passes[i] = values && wanted.has(values[i]) ? 1 : 0;
      break;
    }
    case "rows":
      passes.fill(0);
      for (const row of filter.rows) if (row < passes.length) passes[row] = 1;
      break;
    case "curves":
      passes.fill(0);
      series?.through(filter.measure, filter.time, filter.range, passes);
  }
}

function within(
  table: Table,
  name: string,
  [low, high]: Range,
  passes: Uint8Array,
  and: boolean,
): void {
  const column = table.column(name);
  if (!column) return;
  // By values, not by places on an axis, so that a filter means the same on another scale.
  const { values } = column;
  for (let i = 0; i < passes.length; i++) {
    const inside = values[i] >= low && values[i] <= high ? 1 : 0;
    passes[i] = and ? passes[i] & inside : inside;
  }
}

/** A filter in words. */
export function words(filter: Filter, table: Table, text: (value: number) => string): string {
  const part = ([low, high]: Range) => `${text(low)} to ${text(high)}`;
  switch (filter.kind) {
    case "range": {
      const names = table.column(filter.column)?.categories;
      if (!names) return `${filter.column} ${part(filter.range)}`;
      const [low, high] = filter.range;
      return `${filter.column} ${names.filter((_, code) => code >= low && code <= high).join(", ")}`;
    }
    case "box":
      return `${filter.x} ${part(filter.xRange)}, ${filter.y} ${part(filter.yRange)}`;
    case "groups": {
      const column = table.column(filter.column);
      const names = filter.values.map((value) => column?.categories?.[value] ?? text(value));
      return `${filter.column} ${names.join(", ")}`;
    }
    case "rows": {
      if (filter.through) {
        const more = filter.through.rows.length - filter.through.names.length;
        return `of ${filter.through.names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
      }
      const names = filter.rows.slice(0, 3).map((row) => table.label(row));
      const more = filter.rows.length - names.length;
      return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
    }
    case "curves":
      return `${filter.measure} ${part(filter.range)} from ${text(filter.time[0])} to ${text(filter.time[1])} s`;
  }
}

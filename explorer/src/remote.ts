/** Asks the server that serves the page about all rows of a table of which the page has a sample. */

import { Blobs, type TableEntry } from "./catalogue";
import { number, type Range, type Table } from "./columns";
import { words, type Filter } from "./filters";

/** A filter that means the same for every sample: names instead of codes, rows by their number in the whole table. */
export type Sent =
  | { kind: "range"; column: string; range: Range }
  | { kind: "box"; x: string; y: string; xRange: Range | string[]; yRange: Range | string[] }
  | { kind: "names"; column: string; names: string[] }
  | { kind: "groups"; column: string; values: number[] }
  | { kind: "rows"; rows: number[] };

/** What a sample was taken within: filters, and how they are called. */
export interface Within {
  filter: Sent;
  words: string;
}

/** The column that numbers the rows of the whole table. */
const ROW = "row";

export function sent(filter: Filter, table: Table): Sent {
  const side = (name: string, [low, high]: Range): Range | string[] => {
    const names = table.column(name)?.categories;
    return names ? names.filter((_, code) => code >= low && code <= high) : [low, high];
  };
  switch (filter.kind) {
    case "range": {
      const range = side(filter.column, filter.range);
      return typeof range[0] === "number"
        ? { kind: "range", column: filter.column, range: filter.range }
        : { kind: "names", column: filter.column, names: range as string[] };
    }
    case "box":
      return {
        ...filter,
        xRange: side(filter.x, filter.xRange),
        yRange: side(filter.y, filter.yRange),
      };
    case "groups": {
      const names = table.column(filter.column)?.categories;
      return names
        ? { kind: "names", column: filter.column, names: filter.values.map((code) => names[code]) }
        : filter;
    }
    case "rows": {
      const numbers = table.column(ROW)!.values;
      return { kind: "rows", rows: filter.rows.map((row) => numbers[row]) };
    }
    case "curves":
      throw new Error("tables that are served have no curves");
  }
}

/** The filters of a selection, to be added to those that a sample was taken within. */
export function within(filters: [string, Filter][], table: Table): Within[] {
  return filters.map(([, filter]) => ({
    filter: sent(filter, table),
    words: words(filter, table, number),
  }));
}

async function ask(what: string, question: object): Promise<Response> {
  const answer = await fetch(what, { method: "POST", body: JSON.stringify(question) });
  if (!answer.ok) throw new Error(`the server says ${answer.status} ${answer.statusText}`);
  return answer;
}

/** How many rows of the whole table pass. */
export async function count(table: string, filters: Sent[]): Promise<number> {
  const answer = await ask("count", { table, filters });
  return ((await answer.json()) as { rows: number }).rows;
}

/** A sample of the rows that pass. */
export async function closer(
  table: string,
  filters: Sent[],
): Promise<{ entry: TableEntry; blobs: Blobs }> {
  const answer = await ask("closer", { table, filters });
  const { entry, blobs } = (await answer.json()) as { entry: TableEntry; blobs: string[] };
  return { entry, blobs: new Blobs((blob) => blobs[blob]) };
}

/** Where all rows that pass are to be had as a file. */
export function file(kind: string, table: string, filters: Sent[]): string {
  return `selected.${kind}?q=${encodeURIComponent(JSON.stringify({ table, filters }))}`;
}

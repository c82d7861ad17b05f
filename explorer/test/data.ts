/** A small table for tests. */

import { deflateSync } from "node:zlib";
import type { ColumnEntry, TableEntry } from "../src/catalogue";
import { Column, Table } from "../src/columns";

const plain = { blob: 0, encoding: "f64" as const, unit: "", about: "", group: "" };

export function column(name: string, values: number[], role: ColumnEntry["role"] = "response") {
  return new Column({ ...plain, name, role }, Float64Array.from(values));
}

export function words(name: string, categories: string[], codes: number[]): Column {
  return new Column({ ...plain, name, role: "factor", categories }, Uint16Array.from(codes));
}

export function table(columns: Column[]): Table {
  const entry: TableEntry = {
    name: "runs",
    title: "",
    rows: columns[0].values.length,
    columns: columns.map((one) => one.entry),
    label: null,
    colour: null,
    shown: [],
    clusters: null,
    competitor: null,
    there: "",
    isPartial: false,
    samples: "",
    note: "",
  };
  return new Table(entry, columns);
}

/** A blob as the page holds it. */
export function blob(values: ArrayBufferView): string {
  return deflateSync(new Uint8Array(values.buffer)).toString("base64");
}

/** The selected rows as files. */

import { parquetWriteBuffer } from "hyparquet-writer";
import type { Column, Table } from "./columns";

export function csv(table: Table, rows: number[]): Blob {
  const quote = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [table.columns.map((column) => quote(column.name)).join(",")];
  for (const row of rows) {
    const cells = table.columns.map((column) => {
      const value = column.values[row];
      if (column.categories) return quote(column.categories[value] ?? "");
      return Number.isNaN(value) ? "" : String(value);
    });
    lines.push(cells.join(","));
  }
  return new Blob([lines.join("\n") + "\n"], { type: "text/csv" });
}

export function parquet(table: Table, rows: number[]): Blob {
  const columnData = table.columns.map((column) => ({
    name: column.name,
    data: rows.map((row) => {
      const value = column.values[row];
      if (column.categories) return column.categories[value] ?? null;
      if (Number.isNaN(value)) return null;
      return column.entry.whole ? BigInt(value) : value;
    }),
    type: typeOf(column),
    nullable: true,
  }));
  const buffer = parquetWriteBuffer({ columnData });
  return new Blob([buffer], { type: "application/vnd.apache.parquet" });
}

function typeOf(column: Column): "STRING" | "INT64" | "DOUBLE" {
  if (column.categories) return "STRING";
  return column.entry.whole ? "INT64" : "DOUBLE";
}

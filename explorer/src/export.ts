/** The selected rows as files. */

import { parquetWriteBuffer } from "hyparquet-writer";
import type { Table } from "./columns";

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
      return Number.isNaN(value) ? null : value;
    }),
    type: column.categories ? ("STRING" as const) : ("DOUBLE" as const),
    nullable: true,
  }));
  const buffer = parquetWriteBuffer({ columnData });
  return new Blob([buffer], { type: "application/vnd.apache.parquet" });
}

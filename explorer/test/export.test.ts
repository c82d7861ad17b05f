import { build } from "esbuild";
import { parquetReadObjects } from "hyparquet";
import { expect, test } from "vitest";
import type { Table } from "../src/columns";
import { withoutUnused } from "../unused.mjs";
import { column, table, words } from "./data";

test("what the page bundles of the Parquet writer writes words, numbers, and what is missing", async () => {
  const { outputFiles } = await build({
    entryPoints: ["src/export.ts"],
    bundle: true,
    write: false,
    format: "esm",
    plugins: [withoutUnused],
  });
  const text = Buffer.from(outputFiles[0].text).toString("base64");
  const module: { parquet: (table: Table, rows: number[]) => Blob } = await import(
    `data:text/javascript;base64,${text}`
  );
  const sent = column("sent", [3, 4, 5]);
  sent.entry.whole = true;
  const runs = table([
    words("algorithm", ["reno", "cubic"], [1, 0, 0]),
    sent,
    column("loss", [0.5, NaN, 0.25]),
  ]);
  const file = await module.parquet(runs, [0, 1, 2]).arrayBuffer();
  expect(await parquetReadObjects({ file })).toEqual([
    { algorithm: "cubic", sent: 3n, loss: 0.5 },
    { algorithm: "reno", sent: 4n, loss: null },
    { algorithm: "reno", sent: 5n, loss: 0.25 },
  ]);
});

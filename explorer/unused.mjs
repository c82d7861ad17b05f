// Parts of the Parquet writer for columns that tables of runs do not have: variants, places on
// earth and differences as an encoding. They are a fifteenth of the page's script.
import { readFileSync } from "node:fs";

const UNUSED = /hyparquet-writer[\\/]src[\\/](variant|wkb|geospatial|delta)\.js$|hyparquet[\\/]src[\\/](variant|wkb|bloom|delta)\.js$/;
const EXPORTED = /^export (?:async )?(?:function\*?|class|const) (\w+)/gm;

/** Puts functions that only throw into the places of what these modules export. */
export const withoutUnused = {
  name: "without-unused",
  setup: (build) =>
    build.onLoad({ filter: UNUSED }, ({ path }) => ({
      contents: [...readFileSync(path, "utf8").matchAll(EXPORTED)]
        .map(([, name]) => `export function ${name}() { throw new Error("not bundled: ${name}"); }`)
        .join("\n"),
    })),
};

// What the page's script never calls, a tenth of it if bundled: of the Parquet writer columns that
// tables of runs do not have (variants, places on earth, differences as an encoding), and colours of
// the scales, whose ranges are numbers.
import { readFileSync } from "node:fs";

const UNUSED = [
  /hyparquet-writer[\\/]src[\\/](variant|wkb|geospatial|delta)\.js$/,
  /hyparquet[\\/]src[\\/](variant|wkb|bloom|delta)\.js$/,
  /d3-color[\\/]dist[\\/]d3-color\.mjs$/,
];
const EXPORTED = /^export (?:async )?(?:function\*?|class|const) (\w+)|^export \{ (.+) \}/gm;

const names = (text) =>
  [...text.matchAll(EXPORTED)].flatMap(([, name, list]) => (list ? list.split(", ") : [name]));
const throwing = (name) => `export function ${name}() { throw new Error("not bundled: ${name}"); }`;

/** Puts functions that only throw into the places of what these modules export. */
export const withoutUnused = {
  name: "without-unused",
  setup: (build) =>
    UNUSED.forEach((filter) =>
      build.onLoad({ filter }, ({ path }) => ({
        contents: names(readFileSync(path, "utf8")).map(throwing).join("\n"),
      })),
    ),
};

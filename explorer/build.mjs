// Bundles the page's script and style into the package; `longhaul explore` puts them into each page.
// What they were built from is written beside them, so that a test can tell whether they are up to date.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { withoutUnused } from "./unused.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const built = here("../python/longhaul/explore/built");

const { metafile } = await build({
  entryPoints: { explorer: here("src/main.ts"), "explorer-style": here("src/style.css") },
  outdir: built,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  plugins: [withoutUnused],
});

// The licences of what is bundled ask to go along.
const packages = Object.keys(metafile.inputs).map((name) => /node_modules\/([^/]+)/.exec(name)?.[1]);
const licences = [...new Set(packages)]
  .filter((name) => name)
  .sort()
  .map((name) => {
    const folder = here(`node_modules/${name}`);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name}\n\n${file ? readFileSync(`${folder}/${file}`, "utf8").trim() : "MIT"}\n`;
  });
writeFileSync(`${built}/third-party-licences.txt`, licences.join(`\n${"-".repeat(80)}\n\n`));

const sources = readdirSync(here("src"), { recursive: true })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.(ts|css)$/.test(name))
  .map((name) => `src/${name}`);
const hash = createHash("sha256");
for (const name of [...sources, "package-lock.json", "unused.mjs"].sort()) {
  hash.update(`${name}\0`).update(readFileSync(here(name))).update("\0");
}
writeFileSync(`${built}/sources.sha256`, `${hash.digest("hex")}\n`);

/** The page: reads what it holds, and shows one table at a time with all views that suit it. */

import { Card, Choice, Checks, save, type Size, type View } from "./card";
import { Blobs, type Catalogue } from "./catalogue";
import { groups, named, number, Table } from "./columns";
import { Context } from "./context";
import { csv, parquet } from "./export";
import { words } from "./filters";
import { decode, encode, type State } from "./link";
import * as remote from "./remote";
import { Relation, relate } from "./related";
import { Selection } from "./selection";
import { Series } from "./series";
import { forgetTheme } from "./theme";
import { carpet, MOST_LINES } from "./views/carpet";
import { curves } from "./views/curves";
import { boxes, distribution, effects, toggleGroup } from "./views/groups";
import { heatMap } from "./views/heatmap";
import { isFlat, network } from "./views/network";
import { parallel } from "./views/parallel";
import { byCondition, comparable } from "./views/residuals";
import { rowTable } from "./views/rows";
import { matrix, scatter } from "./views/scatter";

const catalogue = JSON.parse(byId("catalogue").textContent!) as Catalogue;
const blobs = new Blobs((blob) => byId(`blob-${blob}`).textContent!);

/** The table that is shown, with its views by name. */
interface Shown {
  context: Context;
  /** Of the tables that belong to it, whose curves and network stand beside its own. */
  others: Context[];
  views: Map<string, View>;
  tables: Choice;
  colours: Choice;
  logarithms: Checks;
  /** What the sample was taken within, of a table that is served. */
  within: remote.Within[];
}

let shown: Shown | null = null;
/** How each table was left, to be found so again. */
const left = new Map<string, State>();
/** Counts what was asked for: a table that was asked for before another one is not shown after it. */
let asked = 0;

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

async function show(name: string, state: State | null): Promise<void> {
  const whole = catalogue.tables.find((table) => table.name === name) ?? catalogue.tables[0];
  const turn = ++asked;
  const within = (catalogue.served && whole.whole && state?.within) || [];
  const part = within.length ? await closer(whole.name, within) : null;
  const entry = part?.entry ?? whole;
  const context = await contextOf(await Table.read(entry, part?.blobs ?? blobs));
  const others = part ? [] : await related(context);
  if (turn !== asked) return;
  const { selection } = context;
  const views = layOut(context, others);
  shown = { context, others, views, within, ...toolbar(context) };
  if (state) await restore(shown, state);
  selection.onChange(told);
  told();
  document.body.dataset.ready = entry.name;
  marked();
}

/** A table with its curves and its network. Curves of the same times have the same clock. */
async function contextOf(table: Table, beside?: Context): Promise<Context> {
  const { name } = table.entry;
  const seriesEntry = catalogue.series.find((series) => series.table === name);
  const series = seriesEntry ? await Series.read(seriesEntry, blobs) : null;
  const picture = catalogue.networks.find((network) => network.table === name) ?? null;
  const isInStep = series && beside?.series?.times.length === series.times.length;
  const selection = new Selection(table, series);
  const clock = isInStep ? beside.clock : undefined;
  return new Context(table, series, picture, selection, catalogue.colours, clock);
}

/** The tables that belong to the one that is shown, linked with it. */
async function related(context: Context): Promise<Context[]> {
  const { name } = context.table.entry;
  const found: Context[] = [];
  for (const entry of catalogue.relations) {
    if (entry.table !== name && entry.to !== name) continue;
    const theirs = entry.table === name ? entry.to : entry.table;
    const table = catalogue.tables.find((one) => one.name === theirs)!;
    const other = await contextOf(await Table.read(table, blobs), context);
    relate(context, other, await Relation.read(entry, name, blobs));
    found.push(other);
  }
  return found;
}

/** Marks when all that is in sight is drawn, for what measures the page. */
function marked(): void {
  const isDrawn = !document.body.hasAttribute("data-drawing");
  if (isDrawn) performance.mark("first view");
  else requestAnimationFrame(() => setTimeout(marked));
}

/** Makes the cards of all views that a table has something for. */
function layOut(context: Context, others: Context[]): Map<string, View> {
  const { table, series } = context;
  const page = byId("views");
  page.replaceChildren();
  const views = new Map<string, View>();
  const add = (
    name: string,
    title: string,
    hint: string,
    size: Size,
    make: (card: Card) => View,
    of = context,
  ) => {
    const card = new Card(name, title, hint, size);
    card.caption = () => captionOf(of);
    page.append(card.element);
    views.set(name, make(card));
    const tell = () => card.says(nothing(of));
    of.selection.onChange(tell);
    tell();
  };
  const lacks: [view: string, what: string][] = [];
  // The question of most who open a campaign comes first.
  if (table.leveled.length) {
    add(
      "effects",
      "Which factor matters",
      "Mean and its standard error over all selected rows at each level, not over replications as longhaul analyze has; the largest effect first. ± is half the range of the means. Click a level to keep its rows.",
      "wide",
      (card) => effects(context, card),
    );
  } else {
    lacks.push(["Which factor matters", "needs a column that is a factor, with 2 to 40 levels"]);
  }
  const firstOf = (one: Series) => one.entry.shown[0] ?? one.names[0];
  const lostOf = (one: Series) => one.entry.lost || firstOf(one);
  const pictured = [context, ...others].find((one) => one.network && one.series);
  if (pictured) {
    const [of, picture] = [pictured.series!, pictured.network!];
    add(
      "network",
      "Network",
      "Click a router or link, or drag around several, to follow them in all views.",
      isFlat(picture) ? "narrow" : "tall",
      (card) => network(pictured, card, of, picture, firstOf(of)),
    );
  }
  if (series) {
    const [first, second] = [...series.entry.shown, ...series.names];
    const hint = "Drag a box: curves through it are selected. Click: that moment everywhere.";
    add("curves", "Over time", hint, "narrow", (card) => curves(context, card, series, first));
    if (second && second !== first) {
      add("curves2", "Over time, beside it", hint, "narrow", (card) =>
        curves(context, card, series, second),
      );
    }
    const beside = others.filter((other) => other.series);
    // The last one fills its line.
    const before = (pictured && isFlat(pictured.network!) ? 1 : 0) + (views.has("curves2") ? 2 : 1);
    const isOdd = (before + beside.length) % 2 === 1;
    for (const other of beside) {
      const [theirs, { name }] = [other.series!, other.table.entry];
      const size = isOdd && other === beside[beside.length - 1] ? "wide" : "narrow";
      add(
        `curves-${name.replaceAll(" ", "-")}`,
        `Over time: ${name}`,
        `Of the selected ${table.entry.name}. Picking one here selects the ${table.entry.name} that belong to it.`,
        size,
        (card) => curves(other, card, theirs, firstOf(theirs)),
        other,
      );
    }
  }
  const who =
    "A line for each that has any, the first on top, redder the more; below, from when to when. Drag over lines to select those with any in the box; click: that moment everywhere; click a name to pick it.";
  if (series && table.rows > 1 && table.rows <= MOST_LINES) {
    add("carpet", "Who has any, and when", who, "wide", (card) =>
      carpet(context, card, series, lostOf(series)),
    );
  }
  for (const other of others) {
    const { series: theirs, table: of } = other;
    // Flows that a link was picked for are few; the links themselves are asked for losses.
    if (!theirs?.entry.lost || of.rows < 2 || of.rows > MOST_LINES) continue;
    const title = `Who has any, and when: ${of.entry.name}`;
    const name = `carpet-${of.entry.name.replaceAll(" ", "-")}`;
    add(name, title, who, "wide", (card) => carpet(other, card, theirs, lostOf(theirs)), other);
  }
  if (!series && table.entry.samples) lacks.push(["Over time", `needs ${table.entry.samples}`]);
  add(
    "parallel",
    "Parallel coordinates",
    "Drag along an axis to keep the rows in between; click it to let all through again.",
    "wide",
    (card) => parallel(context, card),
  );
  if (table.numeric.length > 0) {
    add("scatter", "Scatter", "Drag a box to select; click a point to pick it.", "tall", (card) =>
      scatter(context, card),
    );
    add("distribution", "Distribution", "Pale: all rows. Drag to select.", "narrow", (card) =>
      distribution(context, card),
    );
  }
  if (table.numeric.length && table.grouping.some((column) => groups(column).length > 1)) {
    add(
      "boxes",
      "Box plots",
      "Least, quartiles, largest of the selected rows. Click a group to keep it.",
      "narrow",
      (card) => boxes(context, card),
    );
  } else {
    lacks.push(["Box plots", "need numbers, and a column with 2 to 40 values to group them by"]);
  }
  if (comparable(context)) {
    add(
      "residuals",
      "Residuals by condition",
      "How far each row is from the mean of the rows under the same condition, conditions ordered by that mean: who is far from zero where it is low stands out there. Point at one for its factors; drag to select.",
      "wide",
      (card) => byCondition(context, card),
    );
  } else {
    lacks.push([
      "Residuals by condition",
      "need two or more competitors, such as algorithms, in rows that agree in all other factors" +
        (table.rows > 50_000 ? ", and at most 50,000 rows" : ""),
    ]);
  }
  // A heat map of many columns has their names over the whole width.
  const size = (table.entry.clusters?.columns.length ?? 0) > 10 ? "wide" : "narrow";
  if (table.numeric.length > 1) {
    add("matrix", "Scatter matrix", "Drag in a panel to select.", size, (card) =>
      matrix(context, card),
    );
  }
  if (table.entry.clusters) {
    add(
      "heatmap",
      "Heat map",
      "Columns in standard deviations from their mean; rows that are alike are neighbours. Drag to select.",
      size,
      (card) => heatMap(context, card),
    );
  } else {
    lacks.push(["Heat map", "needs 3 to 400 rows with numbers for the same two or more responses"]);
  }
  add("rows", "Rows", "Click a heading to sort, a row to pick it.", "wide", (card) =>
    rowTable(context, card),
  );
  if (lacks.length) page.append(notShown(lacks));
  return views;
}

/** What other views the data would need more for. */
function notShown(lacks: [view: string, what: string][]): HTMLElement {
  const list = document.createElement("details");
  list.className = "not-shown";
  const summary = document.createElement("summary");
  summary.textContent = `Not shown for this table: ${lacks.map(([view]) => view).join(", ")}`;
  list.append(summary);
  for (const [view, what] of lacks) {
    const line = document.createElement("p");
    line.textContent = `${view} ${what}.`;
    list.append(line);
  }
  return list;
}

/** Why no row is selected, and how to undo that; null if any is. */
function nothing({ selection, table }: Context): string | null {
  if (selection.count || !table.rows) return null;
  const said = selection.entries.map(([, filter]) => words(filter, table, number) || "no row");
  const all = said.length > 1 ? "all of these together" : "this";
  return `Nothing selected: no row passes ${all}: ${said.join("; ")}. Press Escape, or Select all at the top, or take one of the filters there away.`;
}

/** What a picture that is kept says: of what it is, what was selected, what colours mean. */
function captionOf({ selection, table, colouring, colourColumn }: Context) {
  const { entry } = table;
  const said = selection.entries.map(([, filter]) => words(filter, table, number));
  const count = `${selection.count.toLocaleString("en")} of ${table.rows.toLocaleString("en")} rows`;
  const title = entry.title ? `${entry.name}: ${entry.title}` : entry.name;
  return {
    lines: [
      [catalogue.title, title].filter((text, at, all) => all.indexOf(text) === at).join(", "),
      [
        said.length ? `${count} selected: ${said.join("; ")}` : count,
        entry.isPartial && entry.there,
      ]
        .filter((text) => text)
        .join("; "),
      ...(colourColumn ? [`coloured by ${colourColumn.title}:`] : []),
    ],
    legend: colouring.legend.map(({ name, colour }) => ({ name, colour })),
  };
}

function toolbar(context: Context): Pick<Shown, "tables" | "colours" | "logarithms"> {
  const { table } = context;
  const bar = byId("choices");
  const tables = new Choice(
    "Table",
    catalogue.tables.map((one) => one.name),
    table.entry.name,
    (name) => {
      left.set(table.entry.name, stateNow());
      void show(name, left.get(name) ?? null);
    },
    {
      titles: new Map(
        catalogue.tables.map(({ name, title, rows }) => [
          name,
          `${title ? `${name}: ${title}` : name} (${rows.toLocaleString("en")} rows)`,
        ]),
      ),
      shown: `Table, one of ${catalogue.tables.length}`,
    },
  );
  const colours = new Choice(
    "Colour",
    [{ name: "one", about: "the same colour for all rows" }, ...named(table.columns)],
    context.colourColumn?.name ?? "one",
    (name) => {
      context.colourBy(table.column(name) ?? null);
      legend(context);
    },
  );
  const logarithms = new Checks("Logarithmic", named(table.numeric), [], (chosen) => {
    for (const column of table.numeric) column.isLogarithmic = chosen.includes(column.name);
    context.restyle();
  });
  bar.replaceChildren(
    ...(catalogue.tables.length > 1 ? [tables.element] : []),
    colours.element,
    logarithms.element,
  );
  legend(context);
  const there = byId("there");
  there.textContent = table.entry.there;
  there.hidden = !table.entry.there;
  there.classList.toggle("partial", table.entry.isPartial);
  byId("note").textContent = [
    ...catalogue.warnings,
    catalogue.tables.length === 1 && table.entry.title,
    table.entry.note,
    context.series?.entry.note,
  ]
    .filter((text) => text)
    .join(" ");
  return { tables, colours, logarithms };
}

function legend(context: Context): void {
  const entries = context.colouring.legend;
  const list = byId("legend");
  list.replaceChildren();
  const column = context.colourColumn;
  for (const { name, colour, value } of entries ?? []) {
    const entry = document.createElement("li");
    const spot = document.createElement("span");
    spot.style.background = colour;
    if (column && value === value) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = `Keep the rows of ${name}, or of several`;
      button.append(spot, name);
      button.addEventListener("click", () => toggleGroup(context, "legend", column, value));
      entry.append(button);
    } else entry.append(spot, name);
    list.append(entry);
  }
}

/** A sample of the rows that pass, while the page says that it waits for one. */
async function closer(table: string, within: remote.Within[]) {
  byId("count").textContent = "asking for a sample …";
  try {
    return await remote.closer(
      table,
      within.map(({ filter }) => filter),
    );
  } catch (error) {
    byId("note").textContent = `No answer: ${String(error)}`;
    throw error;
  }
}

/** All that the selection passes, in the words of the server. */
function passed(): remote.Sent[] {
  const { context, within } = shown!;
  const { selection, table } = context;
  return [...within, ...remote.within(selection.entries, table)].map(({ filter }) => filter);
}

/** A server counts all rows, not those of the sample: when the selection has stayed for a while. */
const WAIT_MS = 250;
let counting = 0;

function count(): void {
  const { context, within } = shown!;
  const { selection, table } = context;
  const text = (count: number) => count.toLocaleString("en");
  const ofAll = table.entry.whole;
  const told = byId("count");
  clearTimeout(counting);
  if (!ofAll) {
    told.textContent = `${text(selection.count)} of ${text(table.rows)} rows selected`;
    return;
  }
  const inSample = `${text(selection.count)} of ${text(table.rows)} in the sample`;
  const all = (selected: string) => `${selected} of ${text(ofAll)} rows selected: ${inSample}`;
  if (!selection.isFiltered) {
    told.textContent = all(text(ofAll));
  } else if (!catalogue.served) {
    told.textContent = `${inSample} selected, of ${text(ofAll)} rows`;
  } else {
    told.textContent = all("…");
    const before = shown;
    const filters = passed();
    counting = window.setTimeout(() => {
      const mine = counting;
      remote.count(table.entry.name, filters).then(
        (rows) => {
          if (shown === before && counting === mine) told.textContent = all(text(rows));
        },
        (error) => (told.textContent = `${inSample} selected. No answer: ${String(error)}`),
      );
    }, WAIT_MS);
  }
  byId("closer").hidden = !catalogue.served || !selection.isFiltered;
  byId("wider").hidden = !within.length;
}

/** Says what is selected, and by which filters. */
function told(): void {
  const { context, within } = shown!;
  const { selection, table } = context;
  byId("closer").hidden = byId("wider").hidden = true;
  count();
  const list = byId("filters");
  list.replaceChildren(
    ...within.map(({ words }) => {
      const chip = document.createElement("span");
      chip.className = "chip";
      chip.textContent = words;
      return chip;
    }),
  );
  for (const [key, filter] of selection.entries) {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = "chip";
    chip.textContent = `${words(filter, table, number)} ×`;
    chip.title = "Remove this filter";
    chip.addEventListener("click", () => selection.set(key, null));
    list.append(chip);
  }
  byId("clear").hidden = !selection.isFiltered;
}

function stateNow(): State {
  const { context, views } = shown!;
  return {
    page: catalogue.title,
    table: context.table.entry.name,
    ...(shown!.within.length ? { within: shown!.within } : {}),
    filters: context.selection.entries,
    colour: context.colourColumn?.name ?? null,
    logarithmic: context.table.numeric.filter((one) => one.isLogarithmic).map((one) => one.name),
    sample: context.clock.sample,
    range: context.clock.range,
    views: Object.fromEntries([...views].map(([name, view]) => [name, view.settings()])),
  };
}

async function restore(
  { context, views, colours, logarithms }: Shown,
  state: State,
): Promise<void> {
  const { table, selection, series, clock } = context;
  logarithms.set(state.logarithmic);
  for (const column of table.numeric) {
    column.isLogarithmic = state.logarithmic?.includes(column.name) ?? false;
  }
  colours.set(state.colour ?? "one");
  context.colourBy(table.column(state.colour ?? "") ?? null);
  legend(context);
  for (const [name, settings] of Object.entries(state.views ?? {})) {
    views.get(name)?.restore(settings);
  }
  const measures = state.filters.map(([, filter]) => filter.kind === "curves" && filter.measure);
  await Promise.all(measures.map((name) => name && series?.load(name)));
  selection.replaceAll(state.filters);
  if (Array.isArray(state.range)) clock.zoom(...state.range);
  clock.go(state.sample ?? 0);
}

function bind(): void {
  byId("clear").addEventListener("click", () => shown?.context.selection.replaceAll([]));
  byId("closer").addEventListener("click", () => {
    const { context, within } = shown!;
    const { selection, table } = context;
    const more = remote.within(selection.entries, table);
    void show(table.entry.name, { ...stateNow(), filters: [], within: [...within, ...more] });
  });
  byId("wider").addEventListener("click", () => {
    const { within, ...state } = stateNow();
    void show(state.table, { ...state, filters: [], within: within?.slice(0, -1) });
  });
  byId("csv").addEventListener("click", () => keep("csv", csv));
  byId("parquet").addEventListener("click", () => keep("parquet", parquet));
  byId("link").addEventListener("click", () => {
    history.replaceState(null, "", `#${encode(stateNow())}`);
    const told = (text: string) => (byId("link").textContent = text);
    navigator.clipboard?.writeText(location.href).then(
      () => told("Link copied"),
      () => told("Link is in the address"),
    );
    setTimeout(() => told("Link to this view"), 2500);
  });
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = getComputedStyle(root).getPropertyValue("--dark").trim() === "1";
    root.dataset.theme = dark ? "light" : "dark";
    restyle();
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    document.documentElement.dataset.theme = system.matches ? "dark" : "light";
    restyle();
  };
  system.addEventListener("change", follow);
  follow();
  addEventListener("hashchange", () => void open());
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") shown?.context.selection.replaceAll([]);
    const inField = event.target instanceof HTMLElement && event.target.matches("input, select");
    if (!shown?.context.series || inField) return;
    const { clock } = shown.context;
    if (event.key === "ArrowRight") clock.go(clock.sample + 1);
    if (event.key === "ArrowLeft") clock.go(clock.sample - 1);
  });
}

function restyle(): void {
  forgetTheme();
  shown?.context.restyle();
}

function keep(kind: string, write: (table: Table, rows: number[]) => Blob): void {
  const { table, selection } = shown!.context;
  if (catalogue.served && table.entry.whole) {
    const link = document.createElement("a");
    link.href = remote.file(kind, table.entry.name, passed());
    link.download = "";
    link.click();
    return;
  }
  save(write(table, selection.rows()), `${table.entry.name.replaceAll(" ", "-")}.${kind}`);
}

async function open(): Promise<void> {
  const linked = location.hash.length > 1;
  const read = linked ? decode(location.hash.slice(1)) : null;
  const state = read?.page === catalogue.title ? read : null;
  await show(state?.table ?? catalogue.tables[0].name, state);
  if (linked && !state) byId("note").textContent = "The link is damaged, or of another page.";
}

bind();
void open();

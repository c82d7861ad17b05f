/** A heat map of standardised columns, rows that are alike beside each other, with the tree that says how alike. */

import type { Card, View } from "../card";
import { number } from "../columns";
import type { Context } from "../context";
import { watch } from "../gestures";
import { fitEnd, noteCut, widest, write } from "../text";
import { ramp, SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";

const TREE = 90;
/** Names of columns stand at an angle above; of so many pixels at most. */
const LONGEST = 190;
const SLOPE = Math.SQRT1_2;
/** Columns beside each other that are narrower than this have no room for all names. */
const NARROW = 15;
const BELOW = ["#2166ac", "#92c5de", "#f7f7f7"];
const ABOVE = ["#f7f7f7", "#f4a582", "#b2182b"];

export function heatMap(context: Context, card: Card): View {
  const { table, selection } = context;
  const clusters = table.entry.clusters!;
  const columns = clusters.columns
    .map((name) => table.column(name))
    .filter((column) => column !== undefined);
  const standard = columns.map((column) => {
    const values = clusters.rows.map((row) => column.values[row]).filter((one) => one === one);
    const middle = values.reduce((sum, one) => sum + one, 0) / Math.max(values.length, 1);
    const squares = values.reduce((sum, one) => sum + (one - middle) ** 2, 0);
    return { middle, deviation: Math.sqrt(squares / Math.max(values.length - 1, 1)) || 1 };
  });
  const count = clusters.order.length;
  const each = Math.min(Math.max(640 / count, 4), 20);
  // About as many pixels as the names take.
  const longest = Math.max(...columns.map(({ name }) => name.length), 1) * 6.4;
  const room = Math.min(longest, LONGEST);
  const HEAD = Math.round(room * SLOPE) + 20;
  const surface = card.surface(() => HEAD + Math.round(count * each) + 10, "Heat map with tree");
  let names = 14;
  const cells = () => ({ left: TREE, width: surface.width - TREE - names });
  surface.show((ink) => {
    ink.font = SMALL_FONT;
    const labels = clusters.rows.map((row) => table.label(row));
    if (each >= 10) names = Math.min(widest(ink, labels) + 16, 0.35 * surface.width);
    const { left, width } = cells();
    const cell = width / columns.length;
    clusters.order.forEach((leaf, at) => {
      const row = clusters.rows[leaf];
      const y = HEAD + at * each;
      columns.forEach((column, place) => {
        const value = (column.values[row] - standard[place].middle) / standard[place].deviation;
        ink.fillStyle = Number.isNaN(value)
          ? theme().paper
          : value < 0
            ? ramp(BELOW, 1 + value / 2.5)
            : ramp(ABOVE, value / 2.5);
        ink.globalAlpha = selection.mask[row] ? 1 : 0.18;
        ink.fillRect(left + place * cell, y, cell + 0.3, each + 0.3);
      });
      ink.globalAlpha = 1;
      ink.fillStyle = context.colouring.colour(row);
      ink.fillRect(left + width + 2, y, 5, each - 0.5);
      if (each >= 10) {
        ink.fillStyle = selection.mask[row] ? theme().ink : theme().muted;
        ink.font = SMALL_FONT;
        ink.textAlign = "left";
        ink.textBaseline = "middle";
        write(ink, table.label(row), left + width + 11, y + each / 2, names - 14);
      }
    });
    ink.fillStyle = theme().ink;
    ink.font = SMALL_FONT;
    columns.forEach((column, place) => {
      ink.save();
      ink.translate(left + (place + 0.5) * cell, HEAD - 5);
      ink.rotate(-Math.PI / 4);
      ink.textAlign = "left";
      ink.textBaseline = "middle";
      // Those that there is room for; the others are said where they are pointed at.
      const free = cell >= NARROW || place % Math.ceil(NARROW / cell) === 0;
      // A name that goes beyond the edge is cut there.
      const start = left + (place + 0.5) * cell;
      const reach = Math.min(room, (surface.width - start) / SLOPE - 4);
      const shown = fitEnd(ink, column.name, reach);
      if (free) ink.fillText(shown, 0, 0);
      ink.restore();
      const at: [number, number] = [left + place * cell, left + (place + 1) * cell];
      noteCut(ink, column.title, [at[0], HEAD - 24, at[1], HEAD]);
    });
    tree();

    function tree(): void {
      const place = new Map(clusters.order.map((leaf, at) => [leaf, HEAD + (at + 0.5) * each]));
      const highest =
        clusters.merges.reduce((most, [, , height]) => Math.max(most, height), 0) || 1;
      const reach = new Map<number, number>();
      ink.strokeStyle = theme().muted;
      ink.lineWidth = 1;
      ink.beginPath();
      clusters.merges.forEach(([one, other, height], at) => {
        const x = left - 4 - (height / highest) * (TREE - 12);
        const [y0, y1] = [place.get(one)!, place.get(other)!];
        ink.moveTo(reach.get(one) ?? left - 4, y0);
        ink.lineTo(x, y0);
        ink.lineTo(x, y1);
        ink.lineTo(reach.get(other) ?? left - 4, y1);
        place.set(count + at, (y0 + y1) / 2);
        reach.set(count + at, x);
      });
      ink.stroke();
    }
  });
  const rowAt = ([, y]: [number, number]): number | null => {
    const leaf = clusters.order[Math.floor((y - HEAD) / each)];
    return leaf === undefined ? null : clusters.rows[leaf];
  };
  watch(surface.canvas, {
    drag: (from, to) => {
      const [first, last] = [from[1], to[1]].sort((one, other) => one - other);
      const rows = clusters.order
        .filter((_, at) => HEAD + (at + 1) * each > first && HEAD + at * each < last)
        .map((leaf) => clusters.rows[leaf]);
      selection.set("heat map", rows.length ? { kind: "rows", rows } : null);
    },
    click: (at) => {
      const row = rowAt(at);
      if (selection.filter("heat map")) selection.set("heat map", null);
      else if (row !== null) selection.toggle(row);
    },
    move: (at) => {
      const row = at && rowAt(at);
      context.point(row);
      const { left, width } = cells();
      const column = at && columns[Math.floor(((at[0] - left) / width) * columns.length)];
      const text =
        row === null || !column
          ? null
          : `${table.label(row)}\n${column.title} ${number(column.values[row])}`;
      tooltip(surface.canvas, at, text);
    },
  });
  selection.onChange(() => surface.redraw());
  context.restyled.listen(() => surface.redraw());
  return { settings: () => ({}), restore: () => {} };
}

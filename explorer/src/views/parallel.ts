/** Parallel coordinates: an axis for each column, a line for each row. */

import { brushed, line, ticks } from "../axis";
import type { Card, View } from "../card";
import { groups, named, POSITIONS, type Column, type Range } from "../columns";
import type { Context } from "../context";
import { FEW, MANY, transitions } from "../density";
import { watch } from "../gestures";
import type { Ink } from "../svg";
import { fit, noteCut, write } from "../text";
import { FONT, SMALL_FONT, theme } from "../theme";

const [TOP, BOTTOM, SIDE] = [44, 14, 56];
/** Bins of an axis where lines are too many to draw one by one. */
const BINS = 48;

export function parallel(context: Context, card: Card): View {
  const { table, selection } = context;
  const names = table.columns.map((column) => column.name);
  let shown = table.entry.shown.filter((name) => names.includes(name));
  const surface = card.surface((width) => (width < 500 ? 260 : 320), "Parallel coordinates");
  let drawn: { column: string; from: number; to: number } | null = null;

  const columns = (): Column[] => {
    const most = Math.max(2, Math.floor((surface.width - 2 * SIDE) / 62) + 1);
    const all = shown.map((name) => table.column(name)).filter((column) => column !== undefined);
    return all.slice(0, most);
  };
  const place = (at: number, of: number) =>
    SIDE + (of > 1 ? (at * (surface.width - 2 * SIDE)) / (of - 1) : 0);
  const height = () => surface.height - TOP - BOTTOM;
  const y = (position: number) => TOP + (1 - position / POSITIONS) * height();

  const lines = (ink: Ink, rows: number[], colours: boolean) => {
    const axes = columns();
    const at = axes.map((column) => column.positions);
    const { codes, palette } = context.colouring;
    const kinds = colours ? palette.length : 1;
    for (let kind = 0; kind < kinds; kind++) {
      if (colours) ink.strokeStyle = palette[kind];
      ink.beginPath();
      for (const row of rows) {
        if (colours && codes[row] !== kind) continue;
        let pen = false;
        for (let axis = 0; axis < at.length; axis++) {
          const position = at[axis][row];
          if (position > POSITIONS) {
            pen = false;
            continue;
          }
          const [x, height] = [place(axis, at.length), y(position)];
          if (pen) ink.lineTo(x, height);
          else ink.moveTo(x, height);
          pen = true;
        }
      }
      ink.stroke();
    }
  };

  /** Lines between bins, the more opaque the more rows go along. */
  const bundles = (ink: Ink, mask: Uint8Array | null) => {
    const axes = columns();
    for (let axis = 0; axis + 1 < axes.length; axis++) {
      const counts = transitions(axes[axis].positions, axes[axis + 1].positions, mask, BINS);
      let most = 1;
      for (const count of counts) if (count > most) most = count;
      const scale = 1 / Math.log(most + 1);
      const [x0, x1] = [place(axis, axes.length), place(axis + 1, axes.length)];
      const centre = (bin: number) => y(((bin + 0.5) / BINS) * POSITIONS);
      const steps = 6;
      for (let step = 1; step <= steps; step++) {
        ink.globalAlpha = (0.9 * step * step) / (steps * steps);
        ink.beginPath();
        for (let cell = 0; cell < counts.length; cell++) {
          const count = counts[cell];
          if (!count || Math.ceil(Math.log(count + 1) * scale * steps) !== step) continue;
          ink.moveTo(x0, centre((cell / BINS) | 0));
          ink.lineTo(x1, centre(cell % BINS));
        }
        ink.stroke();
      }
    }
    ink.globalAlpha = 1;
  };

  const frame = (ink: Ink) => {
    const { ink: dark, muted } = theme();
    const axes = columns();
    axes.forEach((column, at) => {
      const x = place(at, axes.length);
      ink.strokeStyle = muted;
      ink.lineWidth = 1;
      line(ink, x, TOP, x, TOP + height());
      ink.fillStyle = dark;
      ink.font = FONT;
      ink.textAlign = at === 0 ? "left" : at === axes.length - 1 ? "right" : "center";
      ink.textBaseline = "alphabetic";
      const edge = at === 0 ? 4 : at === axes.length - 1 ? surface.width - 4 : x;
      // Names stand on two levels, so that they have twice the room.
      const gap = axes.length > 1 ? place(1, axes.length) - place(0, axes.length) : surface.width;
      const ends = at === 0 || at === axes.length - 1;
      write(ink, column.title, edge, at % 2 ? 30 : 14, (ends ? 1.4 : 1.9) * gap);
      ink.font = SMALL_FONT;
      ink.fillStyle = muted;
      const right = at < axes.length - 1;
      ink.textAlign = right ? "left" : "right";
      ink.textBaseline = "middle";
      for (const { part, text } of ticks(column, height() / (column.categories ? 28 : 70))) {
        const label = fit(ink, text, Math.min(0.75 * gap, 150));
        const { width } = ink.measureText(label);
        const [left, middle] = [x + (right ? 3 : -3 - width), y(part * POSITIONS)];
        if (label !== text) noteCut(ink, text, [left, middle - 7, left + width, middle + 7]);
        // Lines below shine through, pale.
        ink.save();
        ink.globalAlpha = 0.9;
        ink.fillStyle = theme().paper;
        ink.fillRect(left, middle - 7, width + 2, 14);
        ink.restore();
        ink.fillText(label, x + (right ? 4 : -4), middle);
      }
      const filter = selection.filter(`axis ${column.name}`);
      if (drawn?.column === column.name) brushed(ink, x - 7, drawn.from, x + 7, drawn.to);
      else if (filter?.kind === "range") {
        const [low, high] = filter.range.map((value) => y(column.positionOf(value)));
        brushed(ink, x - 7, high, x + 7, low);
      }
    });
  };

  surface.show((ink) => {
    const many = table.rows > MANY;
    const key = `${shown.join("\t")}|${context.style}`;
    surface.layer(ink, "all", key, (under) => {
      under.strokeStyle = theme().faint;
      under.lineWidth = 1;
      if (many) bundles(under, null);
      else lines(under, [...Array(table.rows).keys()], false);
    });
    ink.lineWidth = 1;
    if (selection.count > (many ? 2 * FEW : MANY)) {
      ink.strokeStyle = theme().accent;
      bundles(ink, selection.mask);
    } else {
      ink.globalAlpha = selection.count > 200 ? 0.5 : 0.85;
      lines(ink, selection.fewRows(), true);
      ink.globalAlpha = 1;
    }
    if (context.pointedRow !== null) {
      ink.strokeStyle = theme().ink;
      ink.lineWidth = 2.5;
      lines(ink, [context.pointedRow], false);
    }
    frame(ink);
  });

  const axisAt = (x: number): Column | null => {
    const axes = columns();
    const at = axes.findIndex((_, i) => Math.abs(place(i, axes.length) - x) < 24);
    return at < 0 ? null : axes[at];
  };
  const value = (column: Column, at: number) =>
    column.at(Math.min(Math.max(1 - (at - TOP) / height(), 0), 1));
  watch(surface.canvas, {
    drag: (from, to, done) => {
      const column = axisAt(from[0]);
      if (!column) return;
      const ends = [value(column, from[1]), value(column, to[1])];
      const range = ends.sort((one, other) => one - other) as Range;
      drawn = done ? null : { column: column.name, from: from[1], to: to[1] };
      selection.set(`axis ${column.name}`, { kind: "range", column: column.name, range });
    },
    click: ([x, at]) => {
      const column = axisAt(x);
      if (!column) return;
      if (selection.filter(`axis ${column.name}`) || !column.categories) {
        selection.set(`axis ${column.name}`, null);
        return;
      }
      // A click at a name takes the rows of that name.
      const nearest = groups(column).reduce((one, other) =>
        Math.abs(y(column.positionOf(other)) - at) < Math.abs(y(column.positionOf(one)) - at)
          ? other
          : one,
      );
      const range: Range = [nearest - 0.5, nearest + 0.5];
      selection.set(`axis ${column.name}`, { kind: "range", column: column.name, range });
    },
  });
  const checks = card.checks("Axes", named(table.columns), shown, (chosen) => {
    // Those that were there keep their order.
    const kept = shown.filter((name) => chosen.includes(name));
    shown = [...kept, ...chosen.filter((name) => !kept.includes(name))];
    surface.redraw();
  });
  selection.onChange(() => surface.redraw());
  context.restyled.listen(() => surface.redraw());
  context.pointed.listen(() => surface.redraw());
  return {
    settings: () => ({ axes: shown }),
    restore: ({ axes }) => {
      checks.set(axes);
      if (Array.isArray(axes)) shown = axes.filter((name) => names.includes(String(name)));
      surface.redraw();
    },
  };
}

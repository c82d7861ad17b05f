/** Scatter plots: two columns against each other, and a matrix of several. */

import { axisBelow, axisLeft, brushed, ticks, type Frame } from "../axis";
import type { Card, View } from "../card";
import { named, POSITIONS, type Column, type Range } from "../columns";
import type { Context } from "../context";
import { cloud, FEW, histogram, MANY } from "../density";
import type { Surface } from "../surface";
import { watch } from "../gestures";
import type { Ink } from "../svg";
import { write } from "../text";
import { SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";

/** Draws the rows of a table in a frame: all of them pale below, those that are selected above. */
function points(
  context: Context,
  surface: Surface,
  ink: Ink,
  frame: Frame,
  x: Column,
  y: Column,
  radius: number,
): void {
  const { table, selection } = context;
  const [xs, ys] = [x.positions, y.positions];
  const grid = radius < 3 ? 1.5 : 2;
  const size = [frame.width / grid, frame.height / grid].map((length) =>
    Math.max(Math.round(length), 1),
  );
  const spots = (on: Ink, rows: Iterable<number>, kind: number | null) => {
    const { codes } = context.colouring;
    on.beginPath();
    for (const row of rows) {
      if (kind !== null && codes[row] !== kind) continue;
      if (xs[row] > POSITIONS || ys[row] > POSITIONS) continue;
      const at = frame.left + (xs[row] / POSITIONS) * frame.width;
      const height = frame.top + (1 - ys[row] / POSITIONS) * frame.height;
      on.moveTo(at + radius, height);
      on.arc(at, height, radius, 0, 2 * Math.PI);
    }
    on.fill();
  };
  const many = table.rows > MANY;
  const key = `${x.name}\t${y.name}\t${context.style}\t${frame.width}\t${frame.height}`;
  surface.layer(ink, `${frame.left} ${frame.top}`, key, (under) => {
    const { faint } = theme();
    if (many) {
      const image = cloud(xs, ys, null, size[0], size[1], null, [faint]);
      under.drawImage(image, frame.left, frame.top, frame.width, frame.height);
    } else {
      under.fillStyle = faint;
      spots(under, Array(table.rows).keys(), null);
    }
  });
  const { codes, palette } = context.colouring;
  if (selection.count > (many ? FEW : MANY)) {
    const image = cloud(xs, ys, selection.mask, size[0], size[1], codes, palette);
    ink.drawImage(image, frame.left, frame.top, frame.width, frame.height);
  } else {
    palette.forEach((colour, kind) => {
      ink.fillStyle = colour;
      spots(ink, selection.fewRows(), kind);
    });
  }
  if (context.pointedRow !== null) {
    ink.fillStyle = theme().ink;
    spots(ink, [context.pointedRow], null);
  }
}

/** The row nearest to a place, if one is near. */
function nearest(
  context: Context,
  frame: Frame,
  x: Column,
  y: Column,
  [left, top]: [number, number],
): number | null {
  const [xs, ys] = [x.positions, y.positions];
  let [best, row]: [number, number | null] = [64, null];
  for (let i = 0; i < xs.length; i++) {
    if (xs[i] > POSITIONS || ys[i] > POSITIONS || !context.selection.mask[i]) continue;
    const dx = frame.left + (xs[i] / POSITIONS) * frame.width - left;
    const dy = frame.top + (1 - ys[i] / POSITIONS) * frame.height - top;
    const distance = dx * dx + dy * dy;
    if (distance < best) [best, row] = [distance, i];
  }
  return row;
}

function ranges(frame: Frame, x: Column, y: Column, from: number[], to: number[]): [Range, Range] {
  const part = (value: number, start: number, length: number) =>
    Math.min(Math.max((value - start) / length, 0), 1);
  const across = [from[0], to[0]].map((at) => x.at(part(at, frame.left, frame.width)));
  const up = [from[1], to[1]].map((at) => y.at(1 - part(at, frame.top, frame.height)));
  const sorted = (pair: number[]) => pair.sort((one, other) => one - other) as Range;
  return [sorted(across), sorted(up)];
}

function filtered(context: Context, key: string, frame: Frame, x: Column, y: Column, ink: Ink) {
  const filter = context.selection.filter(key);
  if (filter?.kind !== "box" || filter.x !== x.name || filter.y !== y.name) return;
  const [x0, x1] = filter.xRange.map(
    (value) => frame.left + (x.positionOf(value) / POSITIONS) * frame.width,
  );
  const [y0, y1] = filter.yRange.map(
    (value) => frame.top + (1 - y.positionOf(value) / POSITIONS) * frame.height,
  );
  brushed(ink, x0, y0, x1, y1);
}

export function scatter(context: Context, card: Card): View {
  const { table, selection } = context;
  const names = named(table.columns);
  const responses = table.numeric.filter(
    (column) => column.entry.role === "response" && table.entry.shown.includes(column.name),
  );
  const firsts = [...responses, ...table.numeric, ...table.columns].map((column) => column.name);
  const surface = card.surface(
    (width) => Math.min(Math.max(0.7 * width, 260), 420),
    "Scatter plot of two columns",
  );
  const redraw = () => surface.redraw();
  const across = card.choice("x", names, firsts[0], redraw);
  const up = card.choice("y", names, firsts[1] ?? firsts[0], redraw);
  const columns = (): [Column, Column] => [table.column(across.value)!, table.column(up.value)!];
  const frame = (): Frame => ({
    left: 62,
    top: 26,
    width: surface.width - 78,
    height: surface.height - 68,
  });
  surface.show((ink) => {
    const [x, y] = columns();
    const box = frame();
    axisBelow(ink, box, ticks(x, box.width / 80), x.title);
    axisLeft(ink, box, ticks(y, 6), y.title);
    points(context, surface, ink, box, x, y, 3.2);
    filtered(context, "scatter", box, x, y, ink);
  });
  watch(surface.canvas, {
    drag: (from, to) => {
      const [x, y] = columns();
      const [xRange, yRange] = ranges(frame(), x, y, from, to);
      selection.set("scatter", { kind: "box", x: x.name, y: y.name, xRange, yRange });
    },
    click: (at) => {
      const [x, y] = columns();
      const row = nearest(context, frame(), x, y, at);
      if (row !== null && !selection.filter("scatter")) selection.toggle(row);
      else selection.set("scatter", null);
    },
    move: (at) => {
      const [x, y] = columns();
      const row = at && nearest(context, frame(), x, y, at);
      context.point(row);
      tooltip(
        surface.canvas,
        at,
        row === null
          ? null
          : `${table.label(row)}\n${x.title} ${x.text(row)}\n${y.title} ${y.text(row)}`,
      );
    },
  });
  selection.onChange(redraw);
  context.restyled.listen(redraw);
  context.pointed.listen(redraw);
  return {
    settings: () => ({ x: across.value, y: up.value }),
    restore: ({ x, y }) => {
      across.set(x);
      up.set(y);
      redraw();
    },
  };
}

export function matrix(context: Context, card: Card): View {
  const { table, selection } = context;
  const names = named(table.columns);
  const numeric = table.entry.shown.filter((name) => !table.column(name)?.categories);
  const surface = card.surface((width) => Math.min(width, 620), "Matrix of scatter plots");
  const checks = card.checks("Columns", names, numeric.slice(-4), () => surface.redraw());
  const columns = () =>
    checks.chosen
      .slice(0, 8)
      .map((name) => table.column(name))
      .filter((column) => column !== undefined);
  const frames = (): { at: Frame; x: Column; y: Column }[] => {
    const all = columns();
    const gap = 6;
    const width = (surface.width - 16) / all.length - gap;
    const height = (surface.height - 16) / all.length - gap;
    return all.flatMap((y, line) =>
      all.map((x, at) => ({
        at: { left: 10 + at * (width + gap), top: 10 + line * (height + gap), width, height },
        x,
        y,
      })),
    );
  };
  surface.show((ink) => {
    const { muted, faint, ink: dark } = theme();
    for (const { at, x, y } of frames()) {
      ink.strokeStyle = faint;
      ink.lineWidth = 1;
      ink.strokeRect(at.left, at.top, at.width, at.height);
      if (x !== y) {
        points(context, surface, ink, at, x, y, 2);
        filtered(context, "matrix", at, x, y, ink);
        continue;
      }
      const bins = 24;
      const all = histogram(x.positions, null, bins);
      const some = histogram(x.positions, selection.mask, bins);
      const most = Math.max(...all, 1);
      const bar = at.width / bins;
      for (let bin = 0; bin < bins; bin++) {
        for (const [counts, colour] of [
          [all, faint],
          [some, theme().accent],
        ] as const) {
          const height = (counts[bin] / most) * (at.height - 18);
          ink.fillStyle = colour;
          ink.fillRect(at.left + bin * bar, at.top + at.height - height, bar - 0.5, height);
        }
      }
      ink.fillStyle = dark;
      ink.font = SMALL_FONT;
      ink.textAlign = "left";
      ink.textBaseline = "top";
      write(ink, x.title, at.left + 3, at.top + 3, at.width - 6);
      ink.fillStyle = muted;
    }
  });
  watch(surface.canvas, {
    drag: (from, to) => {
      const cell = frames().find(({ at }) => inside(at, from));
      if (!cell || cell.x === cell.y) return;
      const [xRange, yRange] = ranges(cell.at, cell.x, cell.y, from, to);
      selection.set("matrix", { kind: "box", x: cell.x.name, y: cell.y.name, xRange, yRange });
    },
    click: () => selection.set("matrix", null),
  });
  const redraw = () => surface.redraw();
  selection.onChange(redraw);
  context.restyled.listen(redraw);
  context.pointed.listen(redraw);
  return {
    settings: () => ({ columns: checks.chosen }),
    restore: (settings) => {
      checks.set(settings.columns);
      redraw();
    },
  };
}

function inside(frame: Frame, [x, y]: [number, number]): boolean {
  const [dx, dy] = [x - frame.left, y - frame.top];
  return dx >= 0 && dy >= 0 && dx <= frame.width && dy <= frame.height;
}

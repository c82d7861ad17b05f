/** A response by the groups of a column: distributions, boxes, and the effects of all factors. */

import { axisBelow, axisLeft, line, sideRoom, ticks, type Frame } from "../axis";
import type { Card, View } from "../card";
import { groupName, groups, named, number, numbers, POSITIONS, type Column } from "../columns";
import type { Context } from "../context";
import { histogram } from "../density";
import { byGroup, five, fives, means } from "../statistics";
import type { Named } from "../finder";
import { watch } from "../gestures";
import { write } from "../text";
import { FONT, SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";
import { scaleLinear } from "d3-scale";

/** The columns a response is chosen from, and the first choice. */
export function responses(context: Context): { names: Named[]; first: string } {
  const { table } = context;
  const measured = table.numeric.filter((column) => column.entry.role === "response");
  const all = measured.length ? measured : table.numeric;
  const first = all.find(({ name }) => table.entry.shown.includes(name)) ?? all[0];
  return { names: named(all), first: first.name };
}

export function distribution(context: Context, card: Card): View {
  const { table, selection } = context;
  const { names, first } = responses(context);
  const surface = card.surface((width) => Math.min(Math.max(0.45 * width, 200), 280), "Histogram");
  const redraw = () => surface.redraw();
  const choice = card.choice("of", names, first, redraw);
  const frame = (): Frame => ({
    left: 52,
    top: 26,
    width: surface.width - 66,
    height: surface.height - 68,
  });
  surface.show((ink) => {
    const column = table.column(choice.value)!;
    const box = frame();
    const bins = Math.max(10, Math.min(60, Math.round(box.width / 10)));
    const all = histogram(column.positions, null, bins);
    const some = histogram(column.positions, selection.mask, bins);
    const most = Math.max(...all, 1);
    axisBelow(ink, box, ticks(column, box.width / 80), column.title);
    const parts = most % 2 ? [0, 1] : [0, 0.5, 1];
    const marks = parts.map((part) => ({ part, text: number(part * most) }));
    axisLeft(ink, box, marks, "rows");
    const bar = box.width / bins;
    for (let bin = 0; bin < bins; bin++) {
      for (const [counts, colour] of [
        [all, theme().faint],
        [some, theme().accent],
      ] as const) {
        const height = (counts[bin] / most) * box.height;
        ink.fillStyle = colour;
        ink.fillRect(box.left + bin * bar, box.top + box.height - height, bar - 1, height);
      }
    }
  });
  watch(surface.canvas, {
    drag: (from, to) => {
      const column = table.column(choice.value)!;
      const box = frame();
      const part = (x: number) => Math.min(Math.max((x - box.left) / box.width, 0), 1);
      const ends = [column.at(part(from[0])), column.at(part(to[0]))];
      const [low, high] = ends.sort((one, other) => one - other);
      const range: [number, number] = [low, high];
      selection.set("distribution", { kind: "range", column: column.name, range });
    },
    click: () => selection.set("distribution", null),
  });
  selection.onChange(redraw);
  context.restyled.listen(redraw);
  return {
    settings: () => ({ of: choice.value }),
    restore: ({ of }) => {
      choice.set(of);
      redraw();
    },
  };
}

export function boxes(context: Context, card: Card): View {
  const { table, selection } = context;
  const { names, first } = responses(context);
  const grouping = table.grouping.filter((column) => groups(column).length > 1);
  const by = grouping.map((column) => column.name);
  const start = table.entry.colour && by.includes(table.entry.colour) ? table.entry.colour : by[0];
  const heightOf = () => 58 + 24 * (of ? groups(of).length : 1);
  let of = table.column(start);
  const surface = card.surface(heightOf, "Box plots");
  const choice = card.choice("of", names, first, () => surface.redraw());
  const group = card.choice("by", named(grouping), start, (name) => {
    of = table.column(name);
    surface.refit();
  });
  let left = 110;
  const frame = (): Frame => ({
    left,
    top: 10,
    width: surface.width - left - 16,
    height: surface.height - 54,
  });
  surface.show((ink) => {
    const column = table.column(choice.value)!;
    if (!of) return;
    const order = groups(of);
    const texts = order.map((value) => groupName(of!, value));
    left = sideRoom(ink, texts, surface.width);
    const box = frame();
    const at = (value: number) => box.left + (column.positionOf(value) / POSITIONS) * box.width;
    axisBelow(ink, box, ticks(column, box.width / 80), column.title);
    const filter = selection.filter("boxes");
    const picked = filter?.kind === "groups" && filter.column === of.name ? filter.values : null;
    fives(column, of, order, selection.mask).forEach((figures, place) => {
      const y = box.top + ((place + 0.5) * box.height) / order.length;
      const colour = colourOf(context, of!, order[place]);
      ink.font = SMALL_FONT;
      ink.textAlign = "right";
      ink.textBaseline = "middle";
      ink.fillStyle = picked?.includes(order[place]) ? theme().accent : theme().ink;
      write(ink, texts[place], box.left - 6, y, box.left - 8);
      if (!figures) return;
      ink.strokeStyle = colour;
      ink.fillStyle = colour;
      ink.lineWidth = 1.5;
      line(ink, at(figures.low), y, at(figures.high), y);
      ink.globalAlpha = 0.45;
      const [left, right] = [at(figures.quarter), at(figures.threeQuarters)];
      ink.fillRect(left, y - 7, Math.max(right - left, 1), 14);
      ink.globalAlpha = 1;
      ink.lineWidth = 2.5;
      line(ink, at(figures.median), y - 8, at(figures.median), y + 8);
    });
  });
  const groupAt = ([, y]: [number, number]): number | null => {
    if (!of) return null;
    const box = frame();
    const order = groups(of);
    return order[Math.floor(((y - box.top) / box.height) * order.length)] ?? null;
  };
  watch(surface.canvas, {
    click: (at) => {
      const value = groupAt(at);
      if (value !== null && of) toggleGroup(context, "boxes", of, value);
    },
    move: (at) => {
      const value = at && groupAt(at);
      const column = table.column(choice.value)!;
      if (value === null || !of) return tooltip(surface.canvas, null, null);
      const [values] = byGroup(column.values, of, [value], selection.mask);
      const figures = five(values);
      const text =
        figures &&
        `${groupName(of, value)}: ${figures.count} rows\nmedian ${number(figures.median)}\nquartiles ${number(figures.quarter)}, ${number(figures.threeQuarters)}\n${number(figures.low)} to ${number(figures.high)}`;
      tooltip(surface.canvas, at, text);
    },
  });
  const redraw = () => surface.redraw();
  selection.onChange(redraw);
  context.restyled.listen(redraw);
  return {
    settings: () => ({ of: choice.value, by: group.value }),
    restore: (settings) => {
      choice.set(settings.of);
      group.set(settings.by);
      of = table.column(group.value);
      surface.refit();
    },
  };
}

/** Pixels of a line of factors, and what each of them needs of its width. */
const [EFFECTS_HEIGHT, LEAST_EACH] = [280, 90];

/** The mean of a response at each level of each factor: the one whose line is steepest matters most. */
export function effects(context: Context, card: Card): View {
  const { table, selection } = context;
  const { names, first } = responses(context);
  // Where the page is narrow, factors stand in several lines.
  const inLine = (width: number) =>
    Math.max(1, Math.min(table.leveled.length, Math.floor((width - 74) / LEAST_EACH)));
  const heightOf = (width: number) =>
    EFFECTS_HEIGHT * Math.ceil(table.leveled.length / inLine(width));
  const surface = card.surface(heightOf, "Main effects of the factors");
  const choice = card.choice("on", names, first, () => surface.redraw());

  interface Effect {
    factor: Column;
    levels: { value: number; mean: number; error: number; count: number }[];
    range: number;
  }
  const found = (): Effect[] => {
    const column = table.column(choice.value)!;
    const effects = table.leveled.map((factor) => {
      const order = groups(factor);
      // Levels stay that a click here has taken out.
      const mask = selection.without(`effects ${factor.name}`);
      const levels = means(column.values, factor, order, mask)
        .map((level, at) => ({ value: order[at], ...level }))
        .filter((level) => level.count > 0);
      const middles = levels.map((level) => level.mean);
      return { factor, levels, range: Math.max(...middles) - Math.min(...middles) };
    });
    return effects.sort((one, other) => other.range - one.range);
  };
  let drawn: { x: number; y: number; factor: Column; value: number; text: string }[] = [];
  surface.show((ink, width) => {
    const column = table.column(choice.value)!;
    const all = found();
    const effects = all.filter((effect) => effect.levels.length > 1);
    const single = all.filter((effect) => effect.levels.length === 1);
    drawn = [];
    if (!effects.length) {
      ink.font = FONT;
      ink.fillStyle = theme().ink;
      ink.textAlign = "left";
      ink.textBaseline = "alphabetic";
      const names = table.leveled.map(({ name }) => name).join(", ");
      const none = `No factor (${names}) has two levels among the selected rows with ${column.name}.`;
      write(ink, none, 10, 40, width - 20);
      return;
    }
    const most = inLine(width);
    const frameOf = (line: number): Frame => ({
      left: 62,
      top: 26 + line * EFFECTS_HEIGHT,
      width: width - 74,
      height: EFFECTS_HEIGHT - 92,
    });
    const ends = effects.flatMap((effect) =>
      effect.levels.flatMap(({ mean, error }) => [mean - (error || 0), mean + (error || 0)]),
    );
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const span = high > low ? high - low : 1;
    const heights = scaleLinear([low, low + span], [0, 1]).ticks(5);
    const texts = numbers(heights);
    const marks = heights.map((value, at) => ({ part: (value - low) / span, text: texts[at] }));
    const many = table.factors.length - table.leveled.length;
    const without =
      (single.length
        ? `; of one level here: ${single.map(({ factor }) => factor.name).join(", ")}`
        : "") + (many > 0 ? `; without ${many} factors of many levels` : "");
    for (let line = 0; line * most < effects.length; line++) {
      axisLeft(ink, frameOf(line), marks, line ? "" : `mean of ${column.title}${without}`);
    }
    const each = frameOf(0).width / Math.min(effects.length, most);
    effects.forEach(({ factor, levels, range }, number_) => {
      const [at, frame] = [number_ % most, frameOf(Math.floor(number_ / most))];
      const y = (value: number) => frame.top + (1 - (value - low) / span) * frame.height;
      const left = frame.left + at * each + each * 0.15;
      const step = (0.7 * each) / (levels.length - 1);
      const x = (place: number) => left + place * step;
      ink.strokeStyle = theme().accent;
      ink.lineWidth = 2;
      ink.beginPath();
      levels.forEach((level, place) => {
        if (place) ink.lineTo(x(place), y(level.mean));
        else ink.moveTo(x(place), y(level.mean));
      });
      ink.stroke();
      levels.forEach((level, place) => {
        ink.lineWidth = 1;
        ink.strokeStyle = theme().muted;
        const { mean, error } = level;
        if (error) line(ink, x(place), y(mean - error), x(place), y(mean + error));
        ink.fillStyle = theme().accent;
        ink.beginPath();
        ink.moveTo(x(place) + 4, y(mean));
        ink.arc(x(place), y(mean), 4, 0, 2 * Math.PI);
        ink.fill();
        const text = `${factor.name} ${groupName(factor, level.value)}: mean ${number(mean)} ± ${number(error)} of ${level.count} rows`;
        drawn.push({ x: x(place), y: frame.top, factor, value: level.value, text });
      });
      ink.font = SMALL_FONT;
      ink.textBaseline = "top";
      const bottom = frame.top + frame.height;
      ink.fillStyle = theme().muted;
      // Of many levels those at the ends are named.
      const between = levels.length > 2 && each / levels.length > 60;
      const room = (0.94 * each) / (between ? levels.length : 2);
      ink.textAlign = "center";
      levels.forEach(({ value }, place) => {
        if (!between && place > 0 && place < levels.length - 1) return;
        const name = groupName(factor, value);
        // Under its level, but not beyond the factor's share of the line.
        const half = Math.min(ink.measureText(name).width, room) / 2 + 0.02 * each;
        const [first, last] = [left - 0.15 * each + half, left + 0.85 * each - half];
        write(ink, name, Math.min(Math.max(x(place), first), last), bottom + 6, room);
      });
      ink.textAlign = "center";
      ink.fillStyle = theme().ink;
      const middle = left + 0.35 * each;
      // Names stand on two levels, so that they have twice the room.
      write(ink, factor.title, middle, bottom + 24 + (at % 2) * 14, 1.8 * each);
      ink.fillStyle = theme().muted;
      if (each > 60)
        ink.fillText(`±${number(Number((range / 2).toPrecision(2)))}`, middle, bottom + 52);
    });
  });
  const levelAt = ([x, y]: [number, number]) =>
    drawn.find(
      (level) =>
        Math.abs(level.x - x) < 10 && y > level.y - 26 && y < level.y + EFFECTS_HEIGHT - 26,
    ) ?? null;
  watch(surface.canvas, {
    click: (at) => {
      const level = levelAt(at);
      if (level) toggleGroup(context, `effects ${level.factor.name}`, level.factor, level.value);
    },
    move: (at) => tooltip(surface.canvas, at, (at && levelAt(at)?.text) ?? null),
  });
  selection.onChange(() => surface.redraw());
  context.restyled.listen(() => surface.redraw());
  return {
    settings: () => ({ on: choice.value }),
    restore: ({ on }) => {
      choice.set(on);
      surface.redraw();
    },
  };
}

/** Adds a group to those that a filter lets through, or takes it out. */
export function toggleGroup(context: Context, key: string, column: Column, value: number): void {
  const { selection } = context;
  const filter = selection.filter(key);
  const same = filter?.kind === "groups" && filter.column === column.name;
  const values = new Set(same ? filter.values : []);
  if (!values.delete(value)) values.add(value);
  const chosen = [...values];
  selection.set(
    key,
    chosen.length ? { kind: "groups", column: column.name, values: chosen } : null,
  );
}

/** The colour of a group, if rows are coloured by it. */
function colourOf(context: Context, column: Column, value: number): string {
  if (context.colourColumn !== column) return theme().accent;
  const entry = context.colouring.legend?.find((group) => group.value === value);
  return entry?.colour ?? theme().accent;
}

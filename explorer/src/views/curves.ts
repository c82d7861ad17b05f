/** Curves over time: one for each row, of one measure. */

import { axisBelow, axisLeft, brushed, line, type Frame } from "../axis";
import type { Card, View } from "../card";
import { number, numbers } from "../columns";
import type { Context } from "../context";
import type { Measure, Series } from "../series";
import { watch } from "../gestures";
import type { Ink } from "../svg";
import { fit, noteCut } from "../text";
import { SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";
import { scaleLinear } from "d3-scale";

/** Curves in colours of their own: the highest of those that are selected. */
const DISTINCT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c"];
/** Of curves of one group the second and the third. */
const DASHES = [[], [7, 3], [2, 3]];
/** More curves than these are drawn as the band that they fill. */
const MANY_CURVES = 60;
const PICK = "picks curves";
const ZOOM = "zooms";

/** The first rows of each group in turn, at most so many: no group is left out for the height of another. */
export function inTurn<Group>(rows: number[], groupOf: (row: number) => Group, most: number) {
  const byGroup = new Map<Group, number[]>();
  for (const row of rows) {
    const group = groupOf(row);
    byGroup.set(group, [...(byGroup.get(group) ?? []), row]);
  }
  const groups = [...byGroup.values()];
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  const found: number[] = [];
  for (let at = 0; at < longest && found.length < most; at++) {
    for (const group of groups) if (at < group.length && found.length < most) found.push(group[at]);
  }
  return found;
}

export function curves(context: Context, card: Card, series: Series, first: string): View {
  const { table, selection, clock } = context;
  const surface = card.surface((width) => (width < 500 ? 240 : 280), "Curves over time");
  let measure: Measure | null = null;
  let extent: [number, number] = [0, 1];
  let drawn: [number, number] | null = null;
  let chosen: { row: number; colour: string; dash: number[] }[] = [];
  const choice = card.choice("of", series.entry.measures, first, load);
  const mode = card.choice("a drag", [PICK, ZOOM], PICK, () => {});
  card.button("whole", "Show the whole time", () => clock.zoom(0, clock.samples - 1));

  function load(name: string): void {
    void series.load(name).then((loaded) => {
      measure = loaded;
      refresh();
      // A filter of the link may wait for the measure.
      const filter = selection.filter(key);
      if (filter) selection.set(key, filter);
    });
  }
  const key = `curves ${card.name}`;

  /** Which curves are coloured, and what the vertical axis reaches. */
  function refresh(): void {
    if (!measure) return;
    const { least, most: largest, mean } = envelope();
    let [low, high] = [Infinity, -Infinity];
    const means: { row: number; mean: number }[] = [];
    for (let row = 0; row < table.rows; row++) {
      // The axis is that of the selected curves.
      if (selection.count && !selection.mask[row]) continue;
      low = Math.min(low, least[row]);
      high = Math.max(high, largest[row]);
      if (selection.mask[row] && mean[row] === mean[row]) means.push({ row, mean: mean[row] });
    }
    if (low > high) [low, high] = [0, 1];
    extent = low === high ? [low - 0.5, high + 0.5] : [low, high];
    means.sort((one, other) => other.mean - one.mean);
    // The page's colours, which mean the same in all views; curves of one group differ by how they are drawn. Where
    // the page has one colour, each has its own. In the order of rows, so that a row looks alike beside other measures.
    const shared = (row: number) => context.colouring.colour(row);
    const most = selection.isFiltered ? 40 : DISTINCT.length;
    const rows = inTurn(
      means.map(({ row }) => row),
      shared,
      most,
    ).sort((one, other) => one - other);
    const isPlain = !context.colourColumn && rows.length <= DISTINCT.length;
    chosen = rows.map((row, at) => {
      const before = rows.slice(0, at).filter((one) => shared(one) === shared(row)).length;
      return isPlain
        ? { row, colour: DISTINCT[at], dash: [] }
        : { row, colour: shared(row), dash: DASHES[before % DASHES.length] };
    });
    surface.redraw();
  }

  const frame = (): Frame => ({
    left: 62,
    top: 40,
    width: surface.width - 76,
    height: surface.height - 82,
  });
  const time = (sample: number) => series.times[sample];
  const timeScale = () => {
    const box = frame();
    const [from, to] = clock.range;
    return scaleLinear([time(from), time(to)], [box.left, box.left + box.width]);
  };
  const heightScale = () => {
    const box = frame();
    return scaleLinear(extent, [box.top + box.height, box.top]);
  };

  /** What there is to draw. */
  const envelope = () => series.envelope(measure!, clock.range, Math.max(frame().width, 60));

  /** A curve; of the samples on a pixel, least and largest. */
  function curve(ink: Ink, row: number): void {
    // What others reach beyond the axis of the selected ones ends at its edge.
    const [x, y] = [timeScale(), heightScale().clamp(true)];
    const { firsts, low, high } = envelope();
    let pen = false;
    for (let bin = 0, at = row * firsts.length; bin < firsts.length; bin++, at++) {
      if (low[at] > high[at]) {
        pen = false;
        continue;
      }
      const left = x(time(firsts[bin]));
      if (pen) ink.lineTo(left, y(high[at]));
      else ink.moveTo(left, y(high[at]));
      if (low[at] < high[at]) ink.lineTo(left, y(low[at]));
      pen = true;
    }
  }

  /** What all curves together reach. */
  function band(ink: Ink): void {
    const [x, y] = [timeScale(), heightScale().clamp(true)];
    const { firsts, low, high } = envelope();
    const bins = firsts.length;
    ink.fillStyle = theme().faint;
    for (let bin = 0; bin < bins; bin++) {
      let [least, most] = [Infinity, -Infinity];
      for (let at = bin; at < low.length; at += bins) {
        if (low[at] < least) least = low[at];
        if (high[at] > most) most = high[at];
      }
      if (least > most) continue;
      const left = x(time(firsts[bin]));
      const right = bin + 1 < bins ? x(time(firsts[bin + 1])) : left + 1;
      ink.fillRect(left, y(most), right - left + 0.3, Math.max(y(least) - y(most), 1));
    }
  }

  surface.show((ink) => {
    if (!measure) return;
    const box = frame();
    const { entry } = measure;
    const x = timeScale();
    const part = (value: number) => (x(value) - box.left) / box.width;
    const marks = x
      .ticks(box.width / 80)
      .map((value) => ({ part: part(value), text: number(value) }));
    axisBelow(ink, box, marks, "time (s)");
    const y = heightScale();
    const heights = y.ticks(6);
    const texts = numbers(heights);
    const sides = heights.map((value, at) => ({
      part: (value - extent[0]) / (extent[1] - extent[0]),
      text: texts[at],
    }));
    axisLeft(ink, box, sides, entry.unit ? `${entry.name} (${entry.unit})` : entry.name);
    const style = `${entry.name}|${clock.range.join()}|${extent.join()}|${context.style}`;
    surface.layer(ink, "all", style, (under) => {
      if (table.rows > MANY_CURVES) return band(under);
      under.strokeStyle = theme().faint;
      under.lineWidth = 1;
      under.beginPath();
      for (let row = 0; row < table.rows; row++) curve(under, row);
      under.stroke();
    });
    ink.lineWidth = 1.4;
    for (const { row, colour, dash } of [...chosen].reverse()) {
      ink.strokeStyle = colour;
      ink.setLineDash(dash);
      ink.beginPath();
      curve(ink, row);
      ink.stroke();
    }
    ink.setLineDash([]);
    if (context.pointedRow !== null) {
      ink.strokeStyle = theme().ink;
      ink.lineWidth = 2.4;
      ink.beginPath();
      curve(ink, context.pointedRow);
      ink.stroke();
    }
    legend(ink);
    ink.strokeStyle = theme().ink;
    ink.lineWidth = 1;
    ink.setLineDash([4, 3]);
    const now = x(time(clock.sample));
    line(ink, now, box.top, now, box.top + box.height);
    ink.setLineDash([]);
    const filter = selection.filter(key);
    if (filter?.kind === "curves" && filter.measure === entry.name) {
      const [x0, x1] = filter.time.map(x);
      const [y0, y1] = filter.range.map(y);
      brushed(ink, x0, y0, x1, y1);
    }
    if (drawn) brushed(ink, drawn[0], box.top, drawn[1], box.top + box.height);
  });

  function legend(ink: Ink): void {
    if (chosen.length > DISTINCT.length) return;
    ink.font = SMALL_FONT;
    ink.textAlign = "right";
    ink.textBaseline = "alphabetic";
    const names = table.told(chosen.map(({ row }) => row));
    let [x, y] = [surface.width - 14, 32];
    for (const { row, colour, dash } of [...chosen].reverse()) {
      const whole = names.get(row)!;
      const name = fit(ink, whole, Math.max(0.25 * surface.width, 110));
      const length = ink.measureText(name).width;
      const room = length + 26;
      // A second line above; the title of the axis is left of the lower one.
      if (x - room < (y > 20 ? 150 : 10)) [x, y] = [surface.width - 14, y - 16];
      if (y < 0) break;
      ink.fillStyle = theme().ink;
      ink.fillText(name, x, y);
      if (name !== whole) noteCut(ink, whole, [x - length, y - 12, x, y + 4]);
      ink.strokeStyle = colour;
      ink.lineWidth = 3;
      ink.setLineDash(dash);
      line(ink, x - room + 2, y - 4, x - room + 20, y - 4);
      x -= room + 12;
    }
    ink.setLineDash([]);
  }

  /** The curve nearest to a place, among those that are coloured; without any, among all. */
  function nearest([left, top]: [number, number]): number | null {
    if (!measure) return null;
    const at = series.nearest(timeScale().invert(left));
    const y = heightScale();
    let [best, found]: [number, number | null] = [12, null];
    for (const { row } of chosen) {
      const distance = Math.abs(y(measure.values[row * clock.samples + at]) - top);
      if (distance < best) [best, found] = [distance, row];
    }
    return found;
  }

  watch(surface.canvas, {
    drag: (from, to, done) => {
      if (!measure) return;
      const x = timeScale();
      const times = [from[0], to[0]].map((at) => x.invert(at)).sort((one, other) => one - other);
      if (mode.value === ZOOM) {
        drawn = done ? null : [from[0], to[0]];
        surface.redraw();
        if (!done) return;
        const ends = times.map((one) => series.nearest(one));
        if (ends[1] - ends[0] > 2) clock.zoom(ends[0], ends[1]);
        return;
      }
      const y = heightScale();
      const values = [from[1], to[1]].map((at) => y.invert(at)).sort((one, other) => one - other);
      selection.set(key, {
        kind: "curves",
        measure: measure.entry.name,
        time: [times[0], times[1]],
        range: [values[0], values[1]],
      });
    },
    click: (at) => {
      const row = nearest(at);
      clock.go(series.nearest(timeScale().invert(at[0])));
      if (selection.filter(key)) selection.set(key, null);
      else if (row !== null) selection.toggle(row);
    },
    move: (at) => {
      const row = at && nearest(at);
      context.point(row);
      if (!at || row === null || !measure) return tooltip(surface.canvas, null, null);
      const sample = series.nearest(timeScale().invert(at[0]));
      const value = number(measure.values[row * clock.samples + sample]);
      tooltip(
        surface.canvas,
        at,
        `${table.told([row]).get(row)}\n${number(time(sample))} s\n${value} ${measure.entry.unit}`,
      );
    },
  });
  selection.onChange(refresh);
  context.restyled.listen(refresh);
  context.pointed.listen(() => surface.redraw());
  let range = clock.range.join();
  clock.changed.listen(() => {
    if (range !== clock.range.join()) refresh();
    range = clock.range.join();
    surface.redraw();
  });
  load(first);
  return {
    settings: () => ({ of: choice.value, drag: mode.value }),
    restore: (settings) => {
      choice.set(settings.of);
      mode.set(settings.drag);
      load(choice.value);
    },
  };
}

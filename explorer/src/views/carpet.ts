/** All elements over time as a picture: a line for each, coloured by a measure, the first that has any on top. */

import { axisBelow, brushed, sideRoom, type Frame } from "../axis";
import type { Card, View } from "../card";
import { number } from "../columns";
import type { Context } from "../context";
import { watch, type Place } from "../gestures";
import type { Measure, Series } from "../series";
import { write } from "../text";
import { channels, LOSSES, ramp, SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";
import { spansOf, When, type Span } from "./when";
import { scaleLinear } from "d3-scale";

/** More elements than these have lines of less than a pixel. */
export const MOST_LINES = 600;
const KEY = "carpet";

export function carpet(context: Context, card: Card, series: Series, first: string): View {
  const { table, selection, clock } = context;
  let measure: Measure | null = null;
  let spans: Span[] = [];
  let order: number[] = [];
  let left = 72;
  let drawn: [number, number, number, number] | null = null;
  const surface = card.surface(heightOf, "All elements over time");
  const choice = card.choice("of", series.entry.measures, first, load);
  const when = new When(context, series);
  card.body.append(when.element);

  function heightOf(): number {
    return 64 + Math.max(order.length, 3) * each();
  }
  function each(): number {
    return Math.min(Math.max(Math.floor(420 / Math.max(order.length, 1)), 3), 14);
  }

  function load(name: string): void {
    void series.load(name).then((loaded) => {
      measure = loaded;
      sort();
    });
  }

  /** Which elements have a line: those that have anything, by when it begins. */
  function sort(): void {
    if (!measure) return;
    spans = spansOf(measure.values, table.rows, series.times, clock.range);
    order = spans.map(({ row }) => row);
    surface.refit();
    when.fill(measure, spans);
  }

  const frame = (): Frame => ({
    left,
    top: 22,
    width: surface.width - left - 14,
    height: order.length * each(),
  });
  const envelope = () => series.envelope(measure!, clock.range, Math.max(frame().width, 60));
  const timeScale = () => {
    const box = frame();
    const [from, to] = clock.range;
    return scaleLinear([series.times[from], series.times[to]], [box.left, box.left + box.width]);
  };

  surface.show((ink) => {
    if (!measure) return;
    left = sideRoom(
      ink,
      order.map((row) => table.label(row)),
      surface.width,
    );
    const box = frame();
    const x = timeScale();
    const marks = x.ticks(box.width / 80).map((value) => ({
      part: (x(value) - box.left) / box.width,
      text: number(value),
    }));
    axisBelow(ink, box, marks, "time (s)");
    ink.font = SMALL_FONT;
    ink.textAlign = "left";
    ink.textBaseline = "middle";
    ink.fillStyle = theme().ink;
    const { entry, max } = measure;
    const without = table.rows - order.length;
    write(
      ink,
      `${entry.name}, to ${number(max)} ${entry.unit}`.trimEnd() +
        (without ? `; ${without} of ${table.rows} have none` : ""),
      box.left,
      10,
      box.width,
    );
    if (!order.length) return;
    // The picture has a pixel for each bin and line; the page stretches it.
    const { firsts, high } = envelope();
    const image = new ImageData(firsts.length, order.length);
    const steps = Array.from({ length: 65 }, (_, at) => channels(ramp(LOSSES, at / 64)));
    order.forEach((row, at) => {
      const opacity = selection.mask[row] ? 255 : 50;
      for (let bin = 0; bin < firsts.length; bin++) {
        const value = high[row * firsts.length + bin];
        if (!(value > 0)) continue;
        const place = 4 * (at * firsts.length + bin);
        image.data.set(steps[Math.round(64 * Math.sqrt(Math.min(value / max, 1)))], place);
        image.data[place + 3] = opacity;
      }
    });
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d")!.putImageData(image, 0, 0);
    ink.imageSmoothingEnabled = false;
    ink.drawImage(canvas, box.left, box.top, box.width, box.height);
    names();
    ink.fillStyle = theme().ink;
    const now = x(series.times[clock.sample]);
    ink.fillRect(now - 0.5, box.top, 1, box.height);
    if (drawn) brushed(ink, ...drawn);

    /** As many as there is room for; those of selected lines first. */
    function names(): void {
      ink.font = SMALL_FONT;
      ink.textAlign = "right";
      ink.textBaseline = "middle";
      const taken = new Set<number>();
      const room = Math.ceil(11 / each());
      const few = selection.isFiltered && selection.count <= order.length / 2;
      for (const mine of few ? [true, false] : [true]) {
        order.forEach((row, at) => {
          if (few && (selection.mask[row] === 1) !== mine) return;
          for (let line = at - room + 1; line < at + room; line++) if (taken.has(line)) return;
          taken.add(at);
          ink.fillStyle = selection.mask[row] ? theme().ink : theme().muted;
          const y = box.top + (at + 0.5) * each();
          write(ink, table.label(row), box.left - 5, y, box.left - 8);
        });
      }
    }
  });

  const rowAt = ([, y]: Place): number | null =>
    order[Math.floor((y - frame().top) / each())] ?? null;
  const sampleAt = ([x]: Place) => series.nearest(timeScale().invert(x));
  watch(surface.canvas, {
    drag: (from, to, done) => {
      if (!measure) return;
      drawn = done ? null : [...from, ...to];
      const { top } = frame();
      const [low, high] = [from[1], to[1]].sort((one, other) => one - other);
      const times = [from[0], to[0]].map((at) => timeScale().invert(at));
      const [begin, end] = times.sort((one, other) => one - other).map((at) => series.nearest(at));
      const { values } = measure;
      const rows = order.filter((row, at) => {
        if (top + (at + 1) * each() < low || top + at * each() > high) return false;
        for (let sample = begin; sample <= end; sample++) {
          if (values[row * series.times.length + sample] > 0) return true;
        }
        return false;
      });
      selection.set(KEY, rows.length ? { kind: "rows", rows } : null);
      surface.redraw();
    },
    click: (at) => {
      if (!measure) return;
      clock.go(sampleAt(at));
      const row = rowAt(at);
      if (selection.filter(KEY)) selection.set(KEY, null);
      else if (row !== null && at[0] < frame().left) selection.toggle(row);
    },
    move: (at) => {
      const row = at && measure ? rowAt(at) : null;
      context.point(row);
      if (!at || row === null || at[0] < frame().left) return tooltip(surface.canvas, null, null);
      const sample = sampleAt(at);
      const value = number(measure!.values[row * series.times.length + sample]);
      const when = `${number(series.times[sample])} s`;
      tooltip(
        surface.canvas,
        at,
        `${table.label(row)}\n${when}\n${value} ${measure!.entry.unit}`.trimEnd(),
      );
    },
  });
  const changed = () => {
    surface.redraw();
    if (measure) when.fill(measure, spans);
  };
  selection.onChange(changed);
  context.restyled.listen(changed);
  let range = clock.range.join();
  clock.changed.listen(() => {
    if (range !== clock.range.join()) sort();
    range = clock.range.join();
    surface.redraw();
  });
  load(first);
  return {
    settings: () => ({ of: choice.value }),
    restore: ({ of }) => {
      choice.set(of);
      load(choice.value);
    },
  };
}

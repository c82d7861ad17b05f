/** The network as a picture, coloured by a measure at one moment, which can be played. */

import { brushed, shorten } from "../axis";
import type { Card, View } from "../card";
import type { NetworkEntry } from "../catalogue";
import { number } from "../columns";
import type { Context } from "../context";
import type { Measure, Series } from "../series";
import { watch } from "../surface";
import type { Ink } from "../svg";
import { LOSSES, ramp, SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";

/** A replay of the whole time takes so many steps of so many milliseconds. */
const [STEPS, STEP_MS] = [750, 50];
const RADII = [9, 6, 4];

export function network(
  context: Context,
  card: Card,
  series: Series,
  picture: NetworkEntry,
  first: string,
): View {
  const { table, selection, clock } = context;
  const surface = card.surface((width) => Math.min(0.9 * width, 620), "The network");
  let measure: Measure | null = null;
  let playing = 0;
  let drawn: [number, number, number, number] | null = null;
  const choice = card.choice("coloured by", series.names, first, load);

  const bar = document.createElement("div");
  bar.className = "time";
  const play = button("Play", "Play the whole time");
  const slider = document.createElement("input");
  slider.type = "range";
  slider.setAttribute("aria-label", "Time");
  const next = button("Next", "Go on to where the measure next rises from zero");
  const shown = document.createElement("output");
  bar.append(play, slider, next, shown);
  card.body.append(bar);

  function button(text: string, title: string): HTMLButtonElement {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = title;
    made.setAttribute("aria-label", title);
    return made;
  }

  function load(name: string): void {
    void series.load(name).then((loaded) => {
      measure = loaded;
      surface.redraw();
    });
  }

  const value = (row: number) => measure!.values[row * clock.samples + clock.sample];
  const part = (row: number): number => {
    const most = measure!.max;
    return most > 0 ? Math.sqrt(Math.max(value(row), 0) / most) : 0;
  };

  const x = (at: number) => 24 + at * (surface.width - 72);
  const y = (at: number) => 30 + at * (surface.height - 48);

  surface.show((ink) => {
    if (!measure) return;
    const { nodes, links } = picture;
    ink.lineWidth = 1;
    for (const { from, to, row } of links) {
      const coloured = row !== null && value(row) > 0;
      const [dx, dy] = [nodes[to].x - nodes[from].x, nodes[to].y - nodes[from].y];
      // The two directions lie beside each other.
      const length = Math.hypot(dx, dy) || 1;
      const shift = row === null ? 0 : 2.5;
      const [sx, sy] = [(-dy / length) * shift, (dx / length) * shift];
      ink.strokeStyle = coloured ? ramp(LOSSES, part(row)) : theme().faint;
      ink.globalAlpha = row !== null && !selection.mask[row] ? 0.25 : 1;
      ink.lineWidth = coloured ? 3 : nodes[from].tier + nodes[to].tier === 0 ? 1.6 : 0.8;
      ink.beginPath();
      ink.moveTo(x(nodes[from].x) + sx, y(nodes[from].y) + sy);
      ink.lineTo(x(nodes[to].x) + sx, y(nodes[to].y) + sy);
      ink.stroke();
    }
    ink.globalAlpha = 1;
    for (const node of nodes) {
      const radius = RADII[node.tier] ?? 4;
      const [left, top] = [x(node.x), y(node.y)];
      const { row } = node;
      const coloured = row !== null && value(row) > 0;
      const selected = row === null || selection.mask[row] === 1;
      ink.globalAlpha = selected ? 1 : 0.25;
      ink.fillStyle = coloured ? ramp(LOSSES, part(row)) : theme().paper;
      ink.beginPath();
      ink.moveTo(left + radius, top);
      ink.arc(left, top, radius, 0, 2 * Math.PI);
      ink.fill();
      const emphasised = (selection.isFiltered && selected) || row === context.pointedRow;
      ink.strokeStyle = emphasised && row !== null ? theme().accent : theme().muted;
      ink.lineWidth = emphasised && row !== null ? 2.5 : 1;
      ink.stroke();
      ink.globalAlpha = 1;
      const named = node.tier === 0 || (selection.isFiltered && selected && selection.count <= 24);
      if (named && nodes.length <= 400) {
        ink.fillStyle = theme().ink;
        ink.font = SMALL_FONT;
        ink.textAlign = "left";
        ink.textBaseline = "middle";
        ink.fillText(shorten(node.name, 14), left + radius + 3, top);
      }
    }
    scale(ink);
    if (drawn) brushed(ink, ...drawn);
  });

  /** What the colours stand for. */
  function scale(ink: Ink): void {
    const width = 110;
    for (let at = 0; at < width; at++) {
      ink.fillStyle = ramp(LOSSES, at / width);
      ink.fillRect(10 + at, 8, 1.2, 8);
    }
    ink.fillStyle = theme().muted;
    ink.font = SMALL_FONT;
    ink.textAlign = "left";
    ink.textBaseline = "middle";
    const { max, entry } = measure!;
    ink.fillText(
      `${entry.name}: 0 to ${number(max)} ${entry.unit}`.trimEnd() + ", by square root",
      16 + width,
      12,
    );
  }

  const nodeAt = ([left, top]: [number, number]) => {
    let [best, found]: [number, NetworkEntry["nodes"][number] | null] = [14, null];
    for (const node of picture.nodes) {
      const distance = Math.hypot(x(node.x) - left, y(node.y) - top);
      if (distance < best) [best, found] = [distance, node];
    }
    return found;
  };
  const linkAt = ([left, top]: [number, number]) =>
    picture.links.find(({ from, to, row }) => {
      if (row === null) return false;
      const [one, other] = [picture.nodes[from], picture.nodes[to]];
      const [x0, y0] = [x(one.x), y(one.y)];
      const [dx, dy] = [x(other.x) - x0, y(other.y) - y0];
      const along = ((left - x0) * dx + (top - y0) * dy) / (dx * dx + dy * dy || 1);
      const side = ((left - x0) * -dy + (top - y0) * dx) / (Math.hypot(dx, dy) || 1);
      return along > 0 && along < 1 && side > -1 && side < 6;
    });
  const rowAt = (at: [number, number]): number | null => nodeAt(at)?.row ?? linkAt(at)?.row ?? null;

  watch(surface.canvas, {
    drag: (from, to, done) => {
      drawn = done ? null : [...from, ...to];
      const within = (at: number, one: number, other: number) => (at - one) * (at - other) <= 0;
      const rows = picture.nodes
        .filter((node) => within(x(node.x), from[0], to[0]) && within(y(node.y), from[1], to[1]))
        .map((node) => node.row)
        .filter((row) => row !== null);
      selection.set("network", rows.length ? { kind: "rows", rows } : null);
      surface.redraw();
    },
    click: (at) => {
      const row = rowAt(at);
      if (row !== null) selection.toggle(row);
      else selection.set("network", null);
    },
    move: (at) => {
      const row = at && rowAt(at);
      context.point(row);
      const node = at && nodeAt(at);
      if (!measure || (row === null && !node)) return tooltip(surface.canvas, null, null);
      const text =
        row === null
          ? node!.name
          : `${table.label(row)}\n${measure.entry.name} ${number(value(row))} ${measure.entry.unit}`;
      tooltip(surface.canvas, at, text);
    },
  });

  function stop(): void {
    clearInterval(playing);
    playing = 0;
    play.textContent = "Play";
  }
  play.addEventListener("click", () => {
    if (playing) return stop();
    play.textContent = "Pause";
    if (clock.sample >= clock.range[1]) clock.go(clock.range[0]);
    playing = window.setInterval(() => {
      const [from, to] = clock.range;
      clock.go(clock.sample + Math.max(1, Math.round((to - from) / STEPS)));
      if (clock.sample >= to) stop();
    }, STEP_MS);
  });
  slider.addEventListener("input", () => clock.go(Number(slider.value)));
  next.addEventListener("click", () => {
    const found = risesAfter(clock.sample);
    if (found !== null) clock.go(found);
    else shown.textContent = "no more";
  });

  /** The next sample at which a selected element has more than nothing where it had nothing. */
  function risesAfter(sample: number): number | null {
    const { values } = measure!;
    for (let at = sample + 1; at <= clock.range[1]; at++) {
      for (let row = 0; row < table.rows; row++) {
        const place = row * clock.samples + at;
        if (selection.mask[row] && values[place] > 0 && !(values[place - 1] > 0)) return at;
      }
    }
    return null;
  }

  function tell(): void {
    [slider.min, slider.max] = clock.range.map(String);
    slider.value = String(clock.sample);
    shown.textContent = `${number(series.times[clock.sample])} s`;
    surface.redraw();
  }
  clock.changed.listen(tell);
  selection.onChange(() => surface.redraw());
  context.restyled.listen(() => surface.redraw());
  context.pointed.listen(() => surface.redraw());
  tell();
  load(first);
  return {
    settings: () => ({ by: choice.value }),
    restore: ({ by }) => {
      choice.set(by);
      load(choice.value);
    },
  };
}

/** The network as a picture, coloured by a measure at one moment, which can be played. */

import { brushed } from "../axis";
import { label, type Spot } from "../labels";
import type { Card, View } from "../card";
import type { NetworkEntry } from "../catalogue";
import { number } from "../columns";
import type { Context } from "../context";
import type { Measure, Series } from "../series";
import { watch } from "../gestures";
import type { Ink } from "../svg";
import { LOSSES, ramp, SMALL_FONT, theme } from "../theme";
import { tooltip } from "../tooltip";

/** A replay of the whole time takes so many steps of so many milliseconds. */
const [STEPS, STEP_MS] = [750, 50];
const RADII = [9, 6, 4];
/** Characters of a name beside a node; all of it is said where it is pointed at. */
const LONGEST = 24;

/** Whether a network is little more than a line, which needs no height. */
export function isFlat({ nodes }: NetworkEntry): boolean {
  const heights = nodes.map(({ y }) => y);
  return Math.max(...heights) - Math.min(...heights) < 0.05;
}

export function network(
  context: Context,
  card: Card,
  series: Series,
  picture: NetworkEntry,
  first: string,
): View {
  const { table, selection, clock } = context;
  let large = false;
  const heightOf = (width: number) =>
    isFlat(picture) ? 130 : Math.min(0.9 * width, large ? 980 : 620);
  const surface = card.surface(heightOf, "The network");
  let measure: Measure | null = null;
  let playing = 0;
  let drawn: [number, number, number, number] | null = null;
  const choice = card.choice("coloured by", series.entry.measures, first, load);

  const size = card.button("larger", "Larger, with room for more names", () => enlarge(!large));
  function enlarge(to: boolean): void {
    large = to;
    size.textContent = large ? "smaller" : "larger";
    card.element.classList.toggle("large", large);
    surface.refit();
  }

  const bar = document.createElement("div");
  bar.className = "time";
  const play = button("Play", "Play the whole time");
  const slider = document.createElement("input");
  slider.type = "range";
  slider.setAttribute("aria-label", "Time");
  const next = button("Next", "Go on to where the measure next rises from zero");
  const shown = document.createElement("output");
  bar.append(play, slider, next, shown);
  const now = document.createElement("p");
  now.className = "now";
  card.body.append(bar, now);

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
      changed();
    });
  }

  const value = (row: number) => measure!.values[row * clock.samples + clock.sample];
  const part = (row: number): number => {
    const most = measure!.max;
    return most > 0 ? Math.sqrt(Math.max(value(row), 0) / most) : 0;
  };

  const x = (at: number) => 24 + at * (surface.width - 72);
  // Names of the uppermost nodes are below the scale of colours.
  const y = (at: number) => 46 + at * (surface.height - 64);

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
      const selected = row === null || selection.mask[row] === 1;
      const emphasised =
        row !== null && ((selection.isFiltered && selected) || row === context.pointedRow);
      if (emphasised && !coloured) ink.strokeStyle = theme().accent;
      ink.globalAlpha = selected ? 1 : 0.25;
      const width = coloured ? 3 : nodes[from].tier + nodes[to].tier === 0 ? 1.6 : 0.8;
      ink.lineWidth = emphasised ? width + 2.5 : width;
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
    }
    names(ink);
    scale(ink);
    if (drawn) brushed(ink, ...drawn);
  });

  /** Where each node is, and in which direction it has no neighbours. */
  function spots(): Spot[] {
    const towards = picture.nodes.map(() => [0, 0]);
    for (const { from, to } of picture.links) {
      const [one, other] = [picture.nodes[from], picture.nodes[to]];
      const [dx, dy] = [x(other.x) - x(one.x), y(other.y) - y(one.y)];
      const length = Math.hypot(dx, dy) || 1;
      towards[from][0] += dx / length;
      towards[from][1] += dy / length;
      towards[to][0] -= dx / length;
      towards[to][1] -= dy / length;
    }
    return picture.nodes.map((node, at) => ({
      name: node.name.length > LONGEST ? `${node.name.slice(0, LONGEST - 1)}…` : node.name,
      x: x(node.x),
      y: y(node.y),
      radius: RADII[node.tier] ?? 4,
      outwards: Math.atan2(-towards[at][1], -towards[at][0]),
    }));
  }

  /** As many names as there is room for: backbone, then what is pointed at or selected, then what has most. */
  function names(ink: Ink): void {
    const { nodes } = picture;
    const all = spots();
    const rank = ({ tier, row }: NetworkEntry["nodes"][number]): number => {
      if (row !== null && row === context.pointedRow) return 4;
      if (tier === 0) return 3;
      if (row === null) return 0;
      const mine = selection.mask[row] === 1;
      return (selection.isFiltered && mine ? 2 : 0) + (mine ? part(row) || 0 : -1);
    };
    const order = nodes
      .map((_, at) => at)
      .sort((one, other) => rank(nodes[other]) - rank(nodes[one]));
    ink.font = SMALL_FONT;
    ink.fillStyle = theme().ink;
    label(
      ink,
      order.map((at) => all[at]),
      all,
      surface.width,
    );
  }

  /** Who has most at this moment. */
  function most(): string {
    if (!measure) return "";
    const having: number[] = [];
    for (let row = 0; row < table.rows; row++) {
      if (selection.mask[row] && value(row) > 0) having.push(row);
    }
    having.sort((one, other) => value(other) - value(one));
    const some = having
      .slice(0, 8)
      .map((row) => `${table.label(row)} ${number(rounded(value(row)))}`);
    const of = selection.isFiltered ? `${selection.count} selected` : String(table.rows);
    const more = having.length > some.length ? ", …" : "";
    const list = some.length ? `: ${some.join(", ")}${more}` : "";
    return `${measure.entry.name} above 0 at ${having.length} of ${of}${list}`;
  }
  const rounded = (one: number) => Number(one.toPrecision(3));

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
      `${entry.name}: 0 to ${number(max)} ${entry.unit}`.trimEnd() +
        (surface.width > 420 ? ", by square root" : ""),
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
      const isInside = ({ x: across, y: down }: { x: number; y: number }) =>
        within(x(across), from[0], to[0]) && within(y(down), from[1], to[1]);
      const middle = ({ from: one, to: other }: { from: number; to: number }) => ({
        x: (picture.nodes[one].x + picture.nodes[other].x) / 2,
        y: (picture.nodes[one].y + picture.nodes[other].y) / 2,
      });
      const rows = [
        ...picture.nodes.filter(isInside),
        ...picture.links.filter((link) => isInside(middle(link))),
      ]
        .map(({ row }) => row)
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
    changed();
  }
  function changed(): void {
    now.textContent = most();
    surface.redraw();
  }
  clock.changed.listen(tell);
  selection.onChange(changed);
  context.restyled.listen(() => surface.redraw());
  context.pointed.listen(() => surface.redraw());
  tell();
  load(first);
  return {
    settings: () => ({ by: choice.value, large }),
    restore: ({ by, large: wide }) => {
      choice.set(by);
      enlarge(wide === true);
      load(choice.value);
    },
  };
}

/** Residuals by condition: how far each competitor is from the mean of all under the same condition. */

import { axisBelow, axisLeft, brushed, type Frame } from "../axis";
import type { Card, View } from "../card";
import { named, number } from "../columns";
import type { Context } from "../context";
import { byMean, conditions, residuals } from "../statistics";
import { watch } from "../gestures";
import type { Ink } from "../svg";
import { theme } from "../theme";
import { tooltip } from "../tooltip";
import { responses } from "./groups";

/** No choice of who competes. */
const NOBODY = "choose ...";

export function byCondition(context: Context, card: Card): View {
  const { table, selection } = context;
  const { names, first } = responses(context);
  const factors = table.factors;
  const competitors = table.leveled.map((factor) => factor.name);
  const { competitor } = table.entry;
  const start = competitor && competitors.includes(competitor) ? competitor : NOBODY;
  const surface = card.surface(() => 300, "Residuals by condition");
  const choice = card.choice("of", names, first, update);
  const who = card.choice(
    "competitors",
    [...(start === NOBODY ? [{ name: NOBODY }] : []), ...named(table.leveled)],
    start,
    update,
  );
  let condition: Uint32Array = new Uint32Array(0);
  let residual: Float64Array = new Float64Array(0);
  /** The levels of the other factors in each condition. */
  let levelsOf = new Map<number, string>();
  let most = 1;
  let drawn: [number, number, number, number] | null = null;

  /** What the chosen competitors lack to be compared; nothing if they can be. */
  function lacks(): string | null {
    if (who.value === NOBODY) {
      return (
        "Residuals compare competitors, such as algorithms, with the mean of all under the same condition. " +
        "No factor with two levels or more here is called algorithm, congestion, queue or the like: " +
        `choose above who competes, if ${competitors.join(", ")} ${competitors.length > 1 ? "do" : "does"}.`
      );
    }
    const others = factors.filter((factor) => factor.name !== who.value);
    const of = conditions(others, table.rows);
    const levels = table.column(who.value)!;
    const met = new Map<number, number>();
    for (let row = 0; row < table.rows; row++) {
      const before = met.get(of[row]);
      if (before !== undefined && before !== levels.values[row]) return null;
      met.set(of[row], levels.values[row]);
    }
    return `No two levels of ${who.value} were run under the same condition: ${others.map(({ name }) => name).join(", ")} differ between all of them.`;
  }

  function update(): void {
    const missing = lacks();
    card.lacks(missing);
    surface.canvas.hidden = missing !== null;
    if (missing !== null) return;
    const others = factors.filter((factor) => factor.name !== who.value);
    const { values } = table.column(choice.value)!;
    condition = byMean(conditions(others, table.rows), values);
    residual = residuals(values, condition);
    levelsOf = new Map();
    condition.forEach((one, row) => {
      if (!levelsOf.has(one))
        levelsOf.set(one, others.map((factor) => factor.text(row)).join(", "));
    });
    most = residual.reduce((size, one) => Math.max(size, Math.abs(one) || 0), 0) || 1;
    surface.redraw();
  }
  const count = () => condition.reduce((size, one) => Math.max(size, one + 1), 1);
  const conditionAt = (at: number) => {
    const others = factors.filter((factor) => factor.name !== who.value);
    return `${others.map(({ name }) => name).join(", ")}: ${levelsOf.get(at) ?? ""}`;
  };
  const frame = (): Frame => ({
    left: 62,
    top: 26,
    width: surface.width - 78,
    height: surface.height - 68,
  });
  const place = (row: number, box: Frame, conditions: number): [number, number] => [
    box.left + ((condition[row] + 0.5) / conditions) * box.width,
    box.top + (0.5 - residual[row] / (2 * most)) * box.height,
  ];
  surface.show((ink) => {
    const box = frame();
    const all = count();
    const longest = Math.max(...[...levelsOf.values()].map((text) => text.length), 1);
    const hasNames = all * (longest * 6.5 + 12) < box.width;
    const step = hasNames ? 1 : Math.ceil(all / Math.max(box.width / 28, 1));
    const marks = Array.from({ length: Math.ceil(all / step) }, (_, at) => ({
      part: (at * step + 0.5) / all,
      text: hasNames ? levelsOf.get(at)! : String(at * step + 1),
      full: hasNames ? undefined : conditionAt(at * step),
    }));
    axisBelow(ink, box, marks, `conditions (the other factors), least mean ${choice.value} first`);
    const parts = [-1, -0.5, 0, 0.5, 1];
    const sides = parts.map((part) => ({
      part: (part + 1) / 2,
      text: number(Number((part * most).toPrecision(2))),
    }));
    axisLeft(ink, box, sides, `${table.column(choice.value)!.title}, from the mean`);
    const spots = (on: Ink, wanted: (row: number) => boolean) => {
      on.beginPath();
      for (let row = 0; row < table.rows; row++) {
        if (!wanted(row) || Number.isNaN(residual[row])) continue;
        const [x, y] = place(row, box, all);
        on.moveTo(x + 3, y);
        on.arc(x, y, 3, 0, 2 * Math.PI);
      }
      on.fill();
    };
    const key = `${choice.value}\t${who.value}\t${context.style}`;
    surface.layer(ink, "all", key, (under) => {
      under.fillStyle = theme().faint;
      spots(under, () => true);
    });
    const { codes, palette } = context.colouring;
    palette.forEach((colour, kind) => {
      ink.fillStyle = colour;
      spots(ink, (row) => selection.mask[row] === 1 && codes[row] === kind);
    });
    if (drawn) brushed(ink, ...drawn);
  });
  const within = ([x0, y0, x1, y1]: [number, number, number, number]): number[] => {
    const box = frame();
    const all = count();
    const rows: number[] = [];
    for (let row = 0; row < table.rows; row++) {
      const [x, y] = place(row, box, all);
      if ((x - x0) * (x - x1) <= 0 && (y - y0) * (y - y1) <= 0) rows.push(row);
    }
    return rows;
  };
  watch(surface.canvas, {
    drag: (from, to, done) => {
      drawn = done ? null : [...from, ...to];
      const rows = within([...from, ...to]);
      selection.set("residuals", { kind: "rows", rows });
    },
    click: () => selection.set("residuals", null),
    move: (at) => {
      const near = at ? within([at[0] - 4, at[1] - 4, at[0] + 4, at[1] + 4]) : [];
      const row = near.find((one) => selection.mask[one]) ?? null;
      context.point(row);
      if (row === null) return tooltip(surface.canvas, null, null);
      const others = factors.map((factor) => `${factor.name} ${factor.text(row)}`);
      const text = `${table.label(row)}\n${number(residual[row])} from the mean`;
      tooltip(surface.canvas, at, `${text}\n${others.join("\n")}`);
    },
  });
  selection.onChange(() => surface.redraw());
  context.restyled.listen(() => surface.redraw());
  update();
  return {
    settings: () => ({ of: choice.value, competitors: who.value }),
    restore: (settings) => {
      choice.set(settings.of);
      who.set(settings.competitors);
      update();
    },
  };
}

/** Whether rows can be compared under the same conditions: if some condition has several. */
export function comparable(context: Context): boolean {
  const { factors, leveled, rows } = context.table;
  if (factors.length < 2 || rows > 50_000) return false;
  return leveled.some((competitor) => {
    const condition = conditions(
      factors.filter((factor) => factor !== competitor),
      rows,
    );
    return new Set(condition).size < rows;
  });
}

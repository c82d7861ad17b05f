/** The selected rows as a table, of which only what is in sight is in the page. */

import type { Card, View } from "../card";
import type { Column } from "../columns";
import type { Context } from "../context";
import { whenInSight } from "../surface";

const [LINE, LINES] = [24, 14];

export function rowTable(context: Context, card: Card): View {
  const { table, selection } = context;
  // What a row is called and what is looked at first stand first.
  const first = new Set([table.entry.label, ...table.entry.shown]);
  const isFirst = (column: Column) => first.has(column.name);
  const columns = [
    ...[...first].map((name) => table.column(name ?? "")).filter((column) => column !== undefined),
    ...table.columns.filter((column) => !isFirst(column)),
  ];
  const scroller = document.createElement("div");
  scroller.className = "rows";
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "region");
  scroller.setAttribute("aria-label", "Selected rows");
  const sheet = document.createElement("table");
  const head = sheet.createTHead().insertRow();
  const body = sheet.createTBody();
  scroller.append(sheet);
  card.body.append(scroller);
  let sorted: { column: string; falls: boolean } | null = null;
  let order: number[] = [];

  for (const column of columns) {
    const cell = document.createElement("th");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = column.title;
    button.title = `${column.title} ${column.entry.about}\nClick to sort.`;
    button.addEventListener("click", () => {
      const again = sorted?.column === column.name;
      sorted = { column: column.name, falls: again ? !sorted!.falls : true };
      update();
    });
    cell.append(button);
    head.append(cell);
  }

  function update(): void {
    stale = !inSight;
    if (stale) return;
    order = selection.rows();
    if (sorted) {
      const values = table.column(sorted.column)!.values;
      const sign = sorted.falls ? -1 : 1;
      const key = (row: number) => (Number.isNaN(values[row]) ? Infinity : sign * values[row]);
      order.sort((one, other) => key(one) - key(other) || one - other);
    }
    scroller.style.height = `${(Math.min(order.length, LINES) + 1.6) * LINE}px`;
    fill();
  }

  // What is out of sight waits until it is seen.
  let inSight = false;
  let stale = true;
  whenInSight(scroller, (is) => {
    inSight = is;
    if (is && stale) update();
  });
  let pending: "nothing" | "fill" | "update" = "nothing";
  /** With the next frame; an update fills, too. */
  function later(what: "fill" | "update"): void {
    if (pending === "nothing") {
      requestAnimationFrame(() => {
        if (pending === "update") update();
        else fill();
        pending = "nothing";
      });
    }
    if (pending !== "update") pending = what;
  }

  function fill(): void {
    const first = Math.max(Math.floor(scroller.scrollTop / LINE) - 2, 0);
    const last = Math.min(first + LINES + 6, order.length);
    body.replaceChildren(gap(first));
    for (let at = first; at < last; at++) {
      const row = order[at];
      const line = body.insertRow();
      line.dataset.row = String(row);
      for (const column of columns) {
        const cell = line.insertCell();
        cell.textContent = column.text(row);
        if (!column.categories) cell.className = "number";
      }
    }
    body.append(gap(order.length - last));
  }

  function gap(lines: number): HTMLTableRowElement {
    const row = document.createElement("tr");
    row.style.height = `${lines * LINE}px`;
    return row;
  }

  const rowOf = (target: EventTarget | null): number | null => {
    const row = (target as HTMLElement).closest("tr")?.dataset.row;
    return row === undefined ? null : Number(row);
  };
  scroller.addEventListener("scroll", () => later("fill"));
  body.addEventListener("pointerover", (event) => context.point(rowOf(event.target)));
  body.addEventListener("pointerleave", () => context.point(null));
  body.addEventListener("click", (event) => {
    const row = rowOf(event.target);
    if (row !== null) selection.toggle(row);
  });
  selection.onChange(() => later("update"));
  context.restyled.listen(() => later("fill"));
  update();
  return {
    settings: () => (sorted ? { ...sorted } : {}),
    restore: ({ column, falls }) => {
      const known = columns.some((one) => one.name === column);
      sorted = known ? { column: String(column), falls: falls === true } : null;
      update();
    },
  };
}

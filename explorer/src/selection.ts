/** The selection: the rows of a table that pass all filters. Each view that brushes has filters of its own. */

import type { Table } from "./columns";
import { MANY } from "./density";
import { apply, type Filter } from "./filters";
import type { Series } from "./series";

export class Selection {
  /** 1 for each row that is selected. */
  readonly mask: Uint8Array;
  count: number;
  private readonly filters = new Map<string, { filter: Filter; passes: Uint8Array }>();
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly table: Table,
    private readonly series: Series | null,
  ) {
    this.mask = new Uint8Array(table.rows).fill(1);
    this.count = table.rows;
  }

  /** Whether there are filters: without any, all rows are selected. */
  get isFiltered(): boolean {
    return this.filters.size > 0;
  }

  get entries(): [string, Filter][] {
    return [...this.filters].map(([key, { filter }]) => [key, filter]);
  }

  filter(key: string): Filter | undefined {
    return this.filters.get(key)?.filter;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Sets, replaces or, with null, removes the filter of this name. */
  set(key: string, filter: Filter | null): void {
    if (filter) {
      const passes = this.filters.get(key)?.passes ?? new Uint8Array(this.mask.length);
      apply(filter, this.table, this.series, passes);
      this.filters.set(key, { filter, passes });
    } else if (!this.filters.delete(key)) {
      return;
    }
    this.combine();
  }

  replaceAll(entries: [string, Filter][]): void {
    this.filters.clear();
    for (const [key, filter] of entries) {
      const passes = new Uint8Array(this.mask.length);
      apply(filter, this.table, this.series, passes);
      this.filters.set(key, { filter, passes });
    }
    this.combine();
  }

  /** Adds a row to those that are picked one by one, or takes it out of them. */
  toggle(row: number): void {
    const picked = this.filter("picked");
    const rows = new Set(picked?.kind === "rows" ? picked.rows : []);
    if (!rows.delete(row)) rows.add(row);
    this.set("picked", rows.size ? { kind: "rows", rows: [...rows] } : null);
  }

  /** The rows that pass all filters but one. */
  without(key: string): Uint8Array {
    if (!this.filters.has(key)) return this.mask;
    const mask = new Uint8Array(this.mask.length).fill(1);
    for (const [other, { passes }] of this.filters) {
      if (other === key) continue;
      for (let i = 0; i < mask.length; i++) mask[i] &= passes[i];
    }
    return mask;
  }

  /** The numbers of the selected rows, at most so many. */
  rows(most = Infinity): number[] {
    const rows: number[] = [];
    for (let i = 0; i < this.mask.length && rows.length < most; i++) if (this.mask[i]) rows.push(i);
    return rows;
  }

  private few: number[] | null = null;

  /** The numbers of the selected rows, where they are few enough to be drawn one by one. */
  fewRows(): number[] {
    this.few ??= this.rows(MANY);
    return this.few;
  }

  private combine(): void {
    this.few = null;
    const { mask } = this;
    mask.fill(1);
    for (const { passes } of this.filters.values()) {
      for (let i = 0; i < mask.length; i++) mask[i] &= passes[i];
    }
    let count = 0;
    for (let i = 0; i < mask.length; i++) count += mask[i];
    this.count = count;
    for (const listener of this.listeners) listener();
  }
}

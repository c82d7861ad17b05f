/** What the views of a table share: rows, selection, colours, the moment that is looked at, the row pointed at. */

import type { NetworkEntry } from "./catalogue";
import type { Column, Table } from "./columns";
import type { Selection } from "./selection";
import type { Series } from "./series";
import { Colouring } from "./theme";

export class Signal {
  private readonly listeners: (() => void)[] = [];

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  send(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The sample that is looked at, and the part of the time that is. */
export class Clock {
  readonly changed = new Signal();
  sample = 0;
  /** First and last sample. */
  range: [number, number];

  constructor(readonly samples: number) {
    this.range = [0, Math.max(samples - 1, 0)];
  }

  go(sample: number): void {
    this.sample = Math.min(Math.max(Math.round(sample), this.range[0]), this.range[1]);
    this.changed.send();
  }

  zoom(first: number, last: number): void {
    this.range = [Math.max(first, 0), Math.min(last, this.samples - 1)];
    this.go(this.sample);
  }
}

export class Context {
  /** Colours or scales have changed: all is drawn anew. */
  readonly restyled = new Signal();
  readonly pointed = new Signal();
  pointedRow: number | null = null;
  private coloured: Colouring;
  private by: Column | null;
  /** Counts changes of colours and scales, for the keys of layers. */
  style = 0;

  constructor(
    readonly table: Table,
    readonly series: Series | null,
    readonly network: NetworkEntry | null,
    readonly selection: Selection,
    private readonly known: Record<string, string>,
    readonly clock = new Clock(series?.times.length ?? 0),
  ) {
    const { colour } = table.entry;
    this.by = colour ? (table.column(colour) ?? null) : null;
    this.coloured = new Colouring(this.by, table.rows, known);
  }

  get colouring(): Colouring {
    return this.coloured;
  }

  get colourColumn(): Column | null {
    return this.by;
  }

  colourBy(column: Column | null): void {
    this.by = column;
    this.restyle();
  }

  /** The theme or the scale of a column has changed. */
  restyle(): void {
    this.coloured = new Colouring(this.by, this.table.rows, this.known);
    this.style++;
    this.restyled.send();
  }

  point(row: number | null): void {
    if (row === this.pointedRow) return;
    this.pointedRow = row;
    this.pointed.send();
  }
}

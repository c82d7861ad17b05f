/** Colours: of the page's theme, of groups, and of amounts. */

import { groups, number, placesIn, POSITIONS, type Column } from "./columns";

export interface Theme {
  ink: string;
  muted: string;
  faint: string;
  paper: string;
  accent: string;
  dark: boolean;
}

let current: Theme | null = null;

/** The theme, as the style sheet has it. */
export function theme(): Theme {
  if (!current) {
    const style = getComputedStyle(document.documentElement);
    const read = (name: string) => style.getPropertyValue(name).trim();
    current = {
      ink: read("--ink"),
      muted: read("--muted"),
      faint: read("--faint"),
      paper: read("--paper"),
      accent: read("--accent"),
      dark: read("--dark") === "1",
    };
  }
  return current;
}

/** The theme has changed. */
export function forgetTheme(): void {
  current = null;
}

export const FONT = "12px system-ui, sans-serif";
export const SMALL_FONT = "11px system-ui, sans-serif";

/** Okabe and Ito's colours, told apart by colour-blind readers, too; black is the page's ink. */
const GROUPS = [
  ...["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "ink", "#8c8c8c"],
  // Of more groups: wine and olive, from Tol's colours.
  ...["#882255", "#999933"],
];

/** From little to much, as bright as the page's opposite at the end. */
const VIRIDIS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
/** From orange, little, to dark red, much, as NIST drew losses. */
export const LOSSES = ["#fee0b6", "#fdae61", "#f46d43", "#d73027", "#8c0d25"];

/** The colour of a part, 0 to 1, of a scale. */
export function ramp(stops: string[], part: number): string {
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const [one, other] = [channels(stops[low]), channels(stops[low + 1])];
  const mixed = one.map((value, i) => Math.round(value + (other[i] - value) * (at - low)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export function channels(colour: string): [number, number, number] {
  const hex = colour.length === 4 ? colour.replace(/[0-9a-f]/gi, "$&$&") : colour;
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Colours of groups: those of the algorithms that they are called by, as far as these differ, then others. */
export function coloursOf(names: string[], known: Record<string, string>): string[] {
  const taken = new Set<string>();
  const own = names.map((name) => {
    const colour = known[name] ?? known[name.toLowerCase()];
    if (!colour || taken.has(colour)) return null;
    taken.add(colour);
    return colour;
  });
  const free = GROUPS.filter((colour) => !taken.has(colour));
  const others = free.length ? free : GROUPS;
  let next = 0;
  return own.map((colour) => colour ?? others[next++ % others.length]);
}

/** Colours of the rows of a table: a palette, and each row's place in it. */
export class Colouring {
  readonly palette: string[];
  readonly codes: Uint8Array;
  /** What the colours stand for: groups, or some of the amounts. */
  readonly legend: { name: string; colour: string; value: number }[];

  constructor(
    readonly column: Column | null,
    rows: number,
    known: Record<string, string>,
  ) {
    const { ink, accent } = theme();
    if (!column) {
      this.codes = new Uint8Array(rows);
      [this.palette, this.legend] = [[accent], []];
      return;
    }
    const values = groups(column);
    if (column.categories ? values.length <= 40 : values.length <= 8) {
      this.codes = placesIn(column, values, 0);
      const names = values.map((value) => column.categories?.[value] ?? "");
      this.palette = coloursOf(names, known).map((colour) =>
        colour === "ink" || colour === "#000000" ? ink : colour,
      );
      this.legend = values.map((value, at) => ({
        name: column.categories ? column.categories[value] : String(value),
        colour: this.palette[at],
        value,
      }));
      return;
    }
    const at = column.positions;
    const steps = 64;
    this.codes = new Uint8Array(rows);
    for (let i = 0; i < rows; i++) {
      this.codes[i] = Math.min(Math.floor((at[i] / POSITIONS) * steps), steps - 1);
    }
    this.palette = Array.from({ length: steps }, (_, i) => ramp(VIRIDIS, i / (steps - 1)));
    this.legend = [0, 0.25, 0.5, 0.75, 1].map((part) => ({
      name: number(Number(column.at(part).toPrecision(3))),
      colour: ramp(VIRIDIS, part),
      value: NaN,
    }));
  }

  colour(row: number): string {
    return this.palette[this.codes[row]];
  }
}

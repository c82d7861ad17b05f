/** What a link restores: table, filters, views and moment, as text behind the # of the address. */

import type { Filter } from "./filters";
import type { Within } from "./remote";

export interface State {
  /** The title of the page that the link is of. */
  page: string;
  table: string;
  /** What the shown sample of a served table was drawn from. */
  within?: Within[];
  filters: [string, Filter][];
  colour: string | null;
  logarithmic: string[];
  sample: number;
  range: [number, number];
  views: Record<string, Record<string, unknown>>;
}

export function encode(state: State): string {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The state of a link; null of one that is damaged or of something else. */
export function decode(text: string): State | null {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isState(state) ? state : null;
  } catch {
    return null;
  }
}

function isState(value: unknown): value is State {
  if (typeof value !== "object" || value === null) return false;
  const state = value as Partial<State>;
  return (
    typeof state.page === "string" &&
    typeof state.table === "string" &&
    Array.isArray(state.filters)
  );
}

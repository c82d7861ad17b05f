/** Text in pictures: as much of a name as there is room for, and all of it where it is pointed at. */

import type { Ink } from "./svg";

interface Cut {
  left: number;
  top: number;
  right: number;
  bottom: number;
  text: string;
}

/** What was cut in each picture when it was last drawn. */
const cuts = new WeakMap<Ink, Cut[]>();
const HALF_LINE = 8;

/** The picture is drawn anew. */
export function forgetCuts(ink: Ink): void {
  cuts.delete(ink);
}

/** The whole of the text that was cut at a place of a picture. */
export function cutAt(ink: Ink, x: number, y: number): string | null {
  const found = cuts
    .get(ink)
    ?.find(({ left, top, right, bottom }) => x >= left && x <= right && y >= top && y <= bottom);
  return found?.text ?? null;
}

/** Says that a text around a place is not all there is of it. */
export function noteCut(
  ink: Ink,
  text: string,
  [left, top, right, bottom]: [left: number, top: number, right: number, bottom: number],
): void {
  const kept = cuts.get(ink) ?? [];
  cuts.set(ink, kept);
  kept.push({ left, top, right, bottom, text });
}

/** A text, or as much of its beginning as there is room for. */
export function fit(ink: Ink, text: string, room: number): string {
  return cut(ink, text, room, (kept) => `${text.slice(0, kept)}…`);
}

/** As much of its end: names that are alike differ there. */
export function fitEnd(ink: Ink, text: string, room: number): string {
  return cut(ink, text, room, (kept) => `…${text.slice(text.length - kept)}`);
}

function cut(ink: Ink, text: string, room: number, part: (kept: number) => string): string {
  if (ink.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ink.measureText(part(middle)).width <= room) low = middle;
    else high = middle - 1;
  }
  return part(low);
}

/** Writes a text within so many pixels. */
export function write(ink: Ink, text: string, x: number, y: number, room: number): void {
  const shown = fit(ink, text, room);
  ink.fillText(shown, x, y);
  if (shown === text) return;
  const { width } = ink.measureText(shown);
  const before = ink.textAlign === "right" ? width : ink.textAlign === "center" ? width / 2 : 0;
  const left = x - before;
  noteCut(ink, text, [left, y - HALF_LINE, left + width, y + HALF_LINE]);
}

/** How wide the widest of some texts is. */
export function widest(ink: Ink, texts: Iterable<string>): number {
  let most = 0;
  for (const text of texts) most = Math.max(most, ink.measureText(text).width);
  return most;
}

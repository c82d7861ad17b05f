/** Axes: ticks and names. */

import type { Column } from "./columns";
import { groups, groupName, numbers } from "./columns";
import { FONT, SMALL_FONT, theme } from "./theme";
import type { Ink } from "./svg";
import { noteCut, widest, write } from "./text";

export interface Tick {
  /** Its place on the axis, from 0 to 1. */
  part: number;
  text: string;
  /** What it stands for, where it is only a number; said where it is pointed at. */
  full?: string;
}

/** Ticks of a column: its groups, if they are text, else round numbers. */
export function ticks(column: Column, about: number): Tick[] {
  const scale = column.scale();
  if (column.categories) {
    const all = groups(column);
    const step = Math.ceil(all.length / Math.max(about * 2, 1));
    return all
      .filter((_, at) => at % step === 0)
      .map((value) => ({ part: scale(value), text: groupName(column, value) }));
  }
  const values: number[] = scale.ticks(about);
  const texts = numbers(values);
  return values.map((value, at) => ({ part: scale(value), text: texts[at] }));
}

export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Draws a horizontal axis under a frame. */
export function axisBelow(ink: Ink, frame: Frame, marks: Tick[], title: string): void {
  const { muted, faint, ink: dark } = theme();
  const bottom = frame.top + frame.height;
  ink.font = SMALL_FONT;
  ink.textBaseline = "top";
  ink.lineWidth = 1;
  let free = -Infinity;
  for (const { part, text, full } of marks) {
    const x = frame.left + part * frame.width;
    ink.strokeStyle = faint;
    line(ink, x, frame.top, x, bottom);
    const half = Math.min(ink.measureText(text).width, frame.width) / 2;
    if (x - half < free) continue;
    free = x + half + 6;
    ink.fillStyle = muted;
    ink.textAlign = x + half > frame.left + frame.width + 12 ? "right" : "center";
    write(ink, text, x, bottom + 5, frame.width);
    if (full) noteCut(ink, full, [x - half - 4, bottom, x + half + 4, bottom + 18]);
  }
  ink.font = FONT;
  ink.fillStyle = dark;
  ink.textAlign = "center";
  write(ink, title, frame.left + frame.width / 2, bottom + 20, frame.left + frame.width);
}

/** Draws a vertical axis left of a frame. */
export function axisLeft(ink: Ink, frame: Frame, marks: Tick[], title: string): void {
  const { muted, faint, ink: dark } = theme();
  ink.font = SMALL_FONT;
  ink.textBaseline = "middle";
  ink.textAlign = "right";
  ink.lineWidth = 1;
  for (const { part, text } of marks) {
    const y = frame.top + (1 - part) * frame.height;
    ink.strokeStyle = faint;
    line(ink, frame.left, y, frame.left + frame.width, y);
    ink.fillStyle = muted;
    write(ink, text, frame.left - 5, y, frame.left - 8);
  }
  ink.font = FONT;
  ink.fillStyle = dark;
  ink.textAlign = "left";
  ink.textBaseline = "alphabetic";
  write(ink, title, 2, frame.top - 11, frame.left + frame.width);
}

/** Room left of a frame for names: as much as they need, and at most a part of the whole width. */
export function sideRoom(ink: Ink, names: Iterable<string>, width: number): number {
  ink.font = SMALL_FONT;
  return Math.round(Math.min(Math.max(widest(ink, names) + 14, 62), 0.4 * width));
}

export function line(ink: Ink, x0: number, y0: number, x1: number, y1: number): void {
  ink.beginPath();
  ink.moveTo(x0, y0);
  ink.lineTo(x1, y1);
  ink.stroke();
}

/** Draws the rectangle of a brush. */
export function brushed(ink: Ink, x0: number, y0: number, x1: number, y1: number): void {
  const { accent } = theme();
  ink.save();
  ink.globalAlpha = 0.15;
  ink.fillStyle = accent;
  ink.fillRect(x0, y0, x1 - x0, y1 - y0);
  ink.restore();
  ink.strokeStyle = accent;
  ink.lineWidth = 1;
  ink.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

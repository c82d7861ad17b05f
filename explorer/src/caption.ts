/** What stands above a picture that is kept: without the page around it, it has to say what it shows. */

import type { Ink } from "./svg";
import { SMALL_FONT, theme } from "./theme";

export interface Caption {
  title: string;
  lines: string[];
  legend: { name: string; colour: string }[];
}

const [TOP, LINE, SIDE] = [18, 16, 8];
const TITLE_FONT = "bold 13px system-ui, sans-serif";

/** Draws a caption, broken into lines of a width, and returns how high it is; without `ink` only that. */
export function caption(measure: Ink, ink: Ink | null, said: Caption, width: number): number {
  let y = TOP;
  const room = width - 2 * SIDE;
  const lines = (text: string, font: string, colour: string) => {
    measure.font = font;
    for (const line of broken(measure, text, room)) {
      if (ink) {
        ink.font = font;
        ink.fillStyle = colour;
        ink.textAlign = "left";
        ink.textBaseline = "alphabetic";
        ink.fillText(line, SIDE, y);
      }
      y += LINE;
    }
  };
  const { ink: dark, muted } = theme();
  lines(said.title, TITLE_FONT, dark);
  for (const line of said.lines) lines(line, SMALL_FONT, muted);
  if (said.legend.length) {
    measure.font = SMALL_FONT;
    let x = SIDE;
    for (const { name, colour } of said.legend) {
      const length = measure.measureText(name).width + 15;
      if (x > SIDE && x + length > SIDE + room) [x, y] = [SIDE, y + LINE];
      if (ink) {
        ink.fillStyle = colour;
        ink.fillRect(x, y - 9, 10, 10);
        ink.font = SMALL_FONT;
        ink.fillStyle = dark;
        ink.textAlign = "left";
        ink.textBaseline = "alphabetic";
        ink.fillText(name, x + 15, y);
      }
      x += length + 12;
    }
    y += LINE;
  }
  return y - 6;
}

/** A text in lines of at most so many pixels, broken between words. */
function broken(ink: Ink, text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && ink.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

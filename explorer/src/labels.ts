/** Names beside the spots of a picture, as many as there is room for. */

import type { Ink } from "./svg";

export interface Spot {
  name: string;
  x: number;
  y: number;
  radius: number;
  /** The direction in which there is most room, as an angle. */
  outwards: number;
}

type Box = [left: number, top: number, right: number, bottom: number];

/** Half the height of a name, its width a character, and the distance from its spot. */
const [HALF, CHARACTER, GAP] = [5.5, 6.2, 3];
/** Angles to try, from the one with most room. */
const TURNS = [0, 0.5, -0.5, 1, -1, 1.6, -1.6, 2.3, -2.3, Math.PI];

/** Draws names of spots where they cover neither another spot nor another name; the first ones have the choice. */
export function label(ink: Ink, named: Spot[], all: Spot[], width: number): void {
  const taken: Box[] = all.map(({ x, y, radius }) => [
    x - radius,
    y - radius,
    x + radius,
    y + radius,
  ]);
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  for (const { name, x, y, radius, outwards } of named) {
    const half = (name.length * CHARACTER) / 2;
    for (const turn of TURNS) {
      const [across, down] = [Math.cos(outwards + turn), Math.sin(outwards + turn)];
      const middle = [
        x +
          across * (radius + GAP) +
          Math.sign(across) * Math.min(Math.abs(across) * 1.4, 1) * half,
        y + down * (radius + GAP + HALF),
      ];
      const box: Box = [middle[0] - half, middle[1] - HALF, middle[0] + half, middle[1] + HALF];
      if (box[0] < 0 || box[2] > width || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      ink.fillText(name, middle[0], middle[1]);
      break;
    }
  }
}

function overlap(one: Box, other: Box): boolean {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

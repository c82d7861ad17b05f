/** Draws into SVG what views draw on canvases: the part of a canvas's context that they use. */

export interface Ink {
  fillStyle: string | CanvasGradient | CanvasPattern;
  strokeStyle: string | CanvasGradient | CanvasPattern;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  imageSmoothingEnabled: boolean;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  stroke(): void;
  fill(): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  strokeRect(x: number, y: number, width: number, height: number): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): { width: number };
  setLineDash(dash: number[]): void;
  save(): void;
  restore(): void;
  translate(x: number, y: number): void;
  rotate(angle: number): void;
  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
}

interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: number[];
  transform: string;
}

const ANCHORS: Record<string, string> = { center: "middle", right: "end", end: "end" };
const BASELINES: Record<string, string> = { middle: "central", top: "hanging" };

/** Measures texts, which SVG leaves to who shows it. */
let measuring: CanvasRenderingContext2D | null = null;

export class SvgInk implements Ink {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  imageSmoothingEnabled = true;
  private dash: number[] = [];
  private transform = "";
  private path = "";
  private readonly parts: string[] = [];
  private readonly states: State[] = [];

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${round(x)} ${round(y)}`;
  }

  /** Whole circles only. */
  arc(x: number, y: number, radius: number): void {
    const r = round(radius);
    this.path += `M${round(x - radius)} ${round(y)}a${r} ${r} 0 1 0 ${round(2 * radius)} 0a${r} ${r} 0 1 0 ${round(-2 * radius)} 0`;
  }

  stroke(): void {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.add(
      `<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash}`,
    );
  }

  fill(): void {
    this.add(`<path d="${this.path}" fill="${this.fillStyle}"`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.add(`<rect ${box(x, y, width, height)} fill="${this.fillStyle}"`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    const line = `stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`;
    this.add(`<rect ${box(x, y, width, height)} fill="none" ${line}`);
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = ANCHORS[this.textAlign] ?? "start";
    const baseline = BASELINES[this.textBaseline] ?? "auto";
    const place = `x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" dominant-baseline="${baseline}"`;
    const style = `style="font:${this.font.replaceAll('"', "'")}" fill="${this.fillStyle}"`;
    this.parts.push(`<text ${place} ${style}${this.attributes()}>${escape(text)}</text>`);
  }

  measureText(text: string): { width: number } {
    const measure = (measuring ??= document.createElement("canvas").getContext("2d")!);
    measure.font = this.font;
    return measure.measureText(text);
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline } = this;
    const { dash, transform } = this;
    this.states.push({
      fillStyle,
      strokeStyle,
      lineWidth,
      globalAlpha,
      font,
      textAlign,
      textBaseline,
      dash,
      transform,
    });
  }

  restore(): void {
    Object.assign(this, this.states.pop());
  }

  translate(x: number, y: number): void {
    this.transform += `translate(${round(x)} ${round(y)})`;
  }

  rotate(angle: number): void {
    this.transform += `rotate(${round((angle * 180) / Math.PI)})`;
  }

  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    // A picture is as large as its place, whatever its own proportions.
    const smooth = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
    const place = `${box(x, y, width, height)} preserveAspectRatio="none"${smooth}`;
    this.add(`<image ${place} href="${image.toDataURL("image/png")}"`);
  }

  /** The whole picture. */
  document(width: number, height: number): string {
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${this.parts.join("")}</svg>`;
  }

  private add(begun: string): void {
    this.parts.push(`${begun}${this.attributes()}/>`);
  }

  private attributes(): string {
    const opacity = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : "";
    return opacity + (this.transform ? ` transform="${this.transform}"` : "");
  }
}

function box(x: number, y: number, width: number, height: number): string {
  const [left, top] = [Math.min(x, x + width), Math.min(y, y + height)];
  const size = `width="${round(Math.abs(width))}" height="${round(Math.abs(height))}"`;
  return `x="${round(left)}" y="${round(top)}" ${size}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** A canvas that keeps its resolution, with layers that are drawn anew only when what they show changes. */

import { caption, type Caption } from "./caption";
import { SvgInk, type Ink } from "./svg";
import { cutAt, forgetCuts } from "./text";
import { tooltip } from "./tooltip";

export type Drawing = (ink: Ink, width: number, height: number) => void;

interface Layer {
  canvas: HTMLCanvasElement;
  key: string;
}

/** Surfaces that are to be drawn, in that order; the one that is worked with comes first. */
const waiting = new Set<Surface>();
let frame = 0;
/** Milliseconds of drawing in a frame: what is left is drawn in the next one, so that a brush keeps moving. */
const BUDGET_MS = 40;

function schedule(surface: Surface): void {
  waiting.add(surface);
  tell();
  frame ||= requestAnimationFrame(drawWaiting);
}

function drawWaiting(): void {
  const began = performance.now();
  const active = [...waiting].sort((one, other) => Number(other.isActive) - Number(one.isActive));
  for (const surface of active) {
    waiting.delete(surface);
    surface.draw();
    if (performance.now() - began > BUDGET_MS) break;
  }
  frame = waiting.size ? requestAnimationFrame(drawWaiting) : 0;
  tell();
}

/** The page says whether all that is in sight is drawn; what measures it looks for that. */
function tell(): void {
  document.body.toggleAttribute("data-drawing", waiting.size > 0);
}

export class Surface {
  readonly canvas = document.createElement("canvas");
  width = 0;
  height = 0;
  private readonly layers = new Map<string, Layer>();
  private ratio = 1;
  private drawing: Drawing = () => {};
  /** What is out of sight is drawn when it comes into sight. */
  private inSight = false;
  private stale = false;
  /** While a picture is written as SVG, layers are drawn into it. */
  private vector: SvgInk | null = null;

  constructor(
    parent: HTMLElement,
    private readonly heightOf: (width: number) => number,
  ) {
    parent.append(this.canvas);
    new ResizeObserver(() => this.fit()).observe(parent);
    // After what the view says of the place: a name that was cut is said in full.
    parent.addEventListener("pointermove", (event) => {
      if (event.target !== this.canvas) return;
      const box = this.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      const text = cutAt(this.canvas.getContext("2d")!, x, y);
      if (text) tooltip(this.canvas, [x, y], text);
    });
    whenInSight(this.canvas, (inSight) => {
      this.inSight = inSight;
      if (inSight && this.stale) this.redraw();
    });
  }

  private fit(): void {
    const width = Math.max(this.canvas.parentElement?.clientWidth ?? 0, 120);
    const height = this.heightOf(width);
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    [this.width, this.height, this.ratio] = [width, height, ratio];
    size(this.canvas, width, height, ratio);
    this.canvas.style.height = `${height}px`;
    this.redraw();
  }

  /** Sets what is drawn. */
  show(drawing: Drawing): void {
    this.drawing = drawing;
    this.fit();
    this.redraw();
  }

  /** Draws anew with the next frame, or when it comes into sight. */
  redraw(): void {
    this.stale = true;
    if (this.width && this.inSight) schedule(this);
  }

  /** Whether it is what a pointer or the keyboard works with. */
  get isActive(): boolean {
    return this.canvas.matches(":hover, :focus");
  }

  /** Fits to a new height. */
  refit(): void {
    this.fit();
    this.redraw();
  }

  draw(): void {
    this.stale = false;
    const ink = this.canvas.getContext("2d")!;
    ink.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ink.clearRect(0, 0, this.width, this.height);
    forgetCuts(ink);
    this.drawing(ink, this.width, this.height);
  }

  /** A layer below what is drawn next: drawn anew only if `key` or the size is another one. */
  layer(ink: Ink, name: string, key: string, drawing: Drawing): void {
    if (this.vector) {
      drawing(this.vector, this.width, this.height);
      return;
    }
    const whole = `${key}|${this.width}|${this.height}|${this.ratio}`;
    let layer = this.layers.get(name);
    if (!layer) {
      layer = { canvas: document.createElement("canvas"), key: "" };
      this.layers.set(name, layer);
    }
    if (layer.key !== whole) {
      layer.key = whole;
      size(layer.canvas, this.width, this.height, this.ratio);
      const context = layer.canvas.getContext("2d")!;
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      drawing(context, this.width, this.height);
    }
    ink.drawImage(layer.canvas, 0, 0, this.width, this.height);
  }

  /** The picture as SVG, below what it says of itself. */
  svg(background: string, said: Caption): string {
    const ink = new SvgInk();
    const above = caption(new SvgInk(), null, said, this.width);
    ink.fillStyle = background;
    ink.fillRect(0, 0, this.width, above + this.height);
    caption(new SvgInk(), ink, said, this.width);
    ink.save();
    ink.translate(0, above);
    this.vector = ink;
    try {
      this.drawing(ink, this.width, this.height);
    } finally {
      this.vector = null;
    }
    ink.restore();
    return ink.document(this.width, above + this.height);
  }

  /** The picture as PNG, below what it says of itself. */
  png(background: string, said: Caption): Promise<Blob | null> {
    if (this.stale) this.draw();
    const copy = document.createElement("canvas");
    const above = caption(new SvgInk(), null, said, this.width);
    size(copy, this.width, above + this.height, this.ratio);
    const context = copy.getContext("2d")!;
    context.fillStyle = background;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(this.canvas, 0, copy.height - this.canvas.height);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    caption(new SvgInk(), context, said, this.width);
    return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
  }
}

function size(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
}

/** Tells when an element comes near the part of the page that is seen, and when it leaves it. */
export function whenInSight(element: Element, tell: (inSight: boolean) => void): void {
  const observer = new IntersectionObserver(
    (entries) => tell(entries[entries.length - 1].isIntersecting),
    { rootMargin: "80px" },
  );
  observer.observe(element);
}

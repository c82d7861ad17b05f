/** A canvas that keeps its resolution, with layers that are drawn anew only when what they show changes. */

import { SvgInk, type Ink } from "./svg";

export type Drawing = (ink: Ink, width: number, height: number) => void;

interface Layer {
  canvas: HTMLCanvasElement;
  key: string;
}

export class Surface {
  readonly canvas = document.createElement("canvas");
  width = 0;
  height = 0;
  private readonly layers = new Map<string, Layer>();
  private ratio = 1;
  private drawing: Drawing = () => {};
  private pending = false;
  /** While a picture is written as SVG, layers are drawn into it. */
  private vector: SvgInk | null = null;

  constructor(
    parent: HTMLElement,
    private readonly heightOf: (width: number) => number,
  ) {
    parent.append(this.canvas);
    new ResizeObserver(() => this.fit()).observe(parent);
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

  /** Draws anew with the next frame. */
  redraw(): void {
    if (this.pending || !this.width) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  /** Fits to a new height. */
  refit(): void {
    this.fit();
    this.redraw();
  }

  private draw(): void {
    const ink = this.canvas.getContext("2d")!;
    ink.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ink.clearRect(0, 0, this.width, this.height);
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

  /** The picture as SVG. */
  svg(background: string): string {
    const ink = new SvgInk();
    ink.fillStyle = background;
    ink.fillRect(0, 0, this.width, this.height);
    this.vector = ink;
    try {
      this.drawing(ink, this.width, this.height);
    } finally {
      this.vector = null;
    }
    return ink.document(this.width, this.height);
  }

  /** The picture as PNG. */
  png(background: string): Promise<Blob | null> {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [this.canvas.width, this.canvas.height];
    const context = copy.getContext("2d")!;
    context.fillStyle = background;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(this.canvas, 0, 0);
    return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
  }
}

function size(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
}

/** What a pointer does on a canvas: a drag between two places, a click, a move. Places are in its own pixels. */
export interface Gestures {
  /** A drag goes on from one place to another; `done` with its end. */
  drag?: (from: [number, number], to: [number, number], done: boolean) => void;
  click?: (at: [number, number]) => void;
  move?: (at: [number, number] | null) => void;
}

export function watch(canvas: HTMLCanvasElement, gestures: Gestures): void {
  let from: [number, number] | null = null;
  let dragged = false;
  const place = (event: PointerEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = place(event);
    dragged = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (from && gestures.drag) {
      const [across, up] = [Math.abs(at[0] - from[0]), Math.abs(at[1] - from[1])];
      // A finger that moves up or down scrolls the page.
      const isDrag =
        event.pointerType === "touch" ? across > 8 && across > up : Math.max(across, up) > 3;
      dragged ||= isDrag;
      if (dragged) gestures.drag(from, at, false);
    } else {
      gestures.move?.(at);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (from && dragged) gestures.drag?.(from, place(event), true);
    else if (from) gestures.click?.(from);
    from = null;
  });
  canvas.addEventListener("pointercancel", () => (from = null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") from = null;
  });
  canvas.addEventListener("pointerleave", () => gestures.move?.(null));
}

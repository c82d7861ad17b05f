/** What is done on a canvas, with a pointer or with keys: a drag between two places, a click, a move. */

export type Place = [x: number, y: number];

/** Places are in the canvas's own pixels. */
export interface Gestures {
  /** A drag goes on from one place to another; `done` with its end. */
  drag?: (from: Place, to: Place, done: boolean) => void;
  click?: (at: Place) => void;
  move?: (at: Place | null) => void;
}

export function watch(canvas: HTMLCanvasElement, gestures: Gestures): void {
  watchPointer(canvas, gestures);
  watchKeys(canvas, gestures);
}

function watchPointer(canvas: HTMLCanvasElement, gestures: Gestures): void {
  let from: Place | null = null;
  let dragged = false;
  const place = (event: PointerEvent): Place => {
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

/** Pixels that an arrow key goes, and with Shift. */
const [FAR, NEAR] = [12, 2];
const ARROWS: Record<string, Place> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** A cross that arrow keys move: Space begins a drag and ends it, Enter clicks. */
function watchKeys(canvas: HTMLCanvasElement, gestures: Gestures): void {
  canvas.tabIndex = 0;
  const cross = document.createElement("div");
  cross.className = "cross";
  cross.hidden = true;
  canvas.after(cross);
  let at: Place | null = null;
  let from: Place | null = null;
  const show = () => {
    cross.hidden = !at;
    cross.classList.toggle("drags", from !== null);
    if (at) [cross.style.left, cross.style.top] = at.map((length) => `${length}px`);
  };
  const start = (): Place => (at ??= [canvas.clientWidth / 2, canvas.clientHeight / 2]);
  const go = (to: Place) => {
    at = [
      Math.min(Math.max(to[0], 0), canvas.clientWidth - 1),
      Math.min(Math.max(to[1], 0), canvas.clientHeight - 1),
    ];
    if (from) gestures.drag?.(from, at, false);
    else gestures.move?.(at);
  };
  canvas.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (arrow) {
      const [x, y] = start();
      const step = event.shiftKey ? NEAR : FAR;
      go([x + step * arrow[0], y + step * arrow[1]]);
    } else if (event.key === " " && gestures.drag) {
      const here = start();
      if (from) gestures.drag(from, here, true);
      from = from ? null : here;
    } else if (event.key === "Enter") {
      gestures.click?.(start());
    } else {
      // Escape goes on to the page, which then selects everything.
      if (event.key === "Escape") from = null;
      show();
      return;
    }
    show();
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("blur", () => {
    at = from = null;
    show();
    gestures.move?.(null);
  });
  canvas.addEventListener("pointerdown", () => {
    at = from = null;
    show();
  });
}

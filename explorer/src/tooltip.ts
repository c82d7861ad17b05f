/** What a view says about the place that is pointed at. */

let box: HTMLDivElement | null = null;

export function tooltip(
  canvas: HTMLCanvasElement,
  at: [number, number] | null,
  text: string | null,
): void {
  if (!box) {
    box = document.createElement("div");
    box.className = "tooltip";
    document.body.append(box);
  }
  if (!at || !text) {
    box.hidden = true;
    return;
  }
  const place = canvas.getBoundingClientRect();
  box.hidden = false;
  box.textContent = text;
  const left = place.left + at[0] + 14;
  box.style.left = `${Math.min(left, window.innerWidth - box.offsetWidth - 8) + window.scrollX}px`;
  box.style.top = `${place.top + at[1] + 14 + window.scrollY}px`;
}

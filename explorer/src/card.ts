/** A card: a view's heading, its controls, its picture, and how to keep that. */

import { Surface } from "./surface";
import { theme } from "./theme";

export interface View {
  /** What a link has to hold to show the view as it is. */
  settings(): Record<string, unknown>;
  restore(settings: Record<string, unknown>): void;
}

/** How a picture is worked with from the keyboard; the style sheet shows the same below it. */
const KEYS = "Arrow keys move a cross, Space begins and ends a drag, Enter clicks.";

/** How much of the page a card takes: one of two columns, two lines of one, or both. */
export type Size = "narrow" | "tall" | "wide";

export class Card {
  readonly element = document.createElement("section");
  readonly body = document.createElement("div");
  private readonly controls = document.createElement("div");

  constructor(
    readonly name: string,
    readonly title: string,
    hint: string,
    size: Size,
  ) {
    this.element.className = `card ${size}`;
    this.element.id = `view-${name}`;
    const heading = document.createElement("h2");
    heading.textContent = title;
    heading.title = hint;
    const about = document.createElement("p");
    about.className = "hint";
    about.textContent = hint;
    this.controls.className = "controls";
    this.body.className = "picture";
    this.element.append(heading, this.controls, this.body, about);
  }

  /** A canvas in the card, with buttons that keep it as a picture. */
  surface(heightOf: (width: number) => number, about: string): Surface {
    const surface = new Surface(this.body, heightOf);
    surface.canvas.setAttribute("role", "application");
    surface.canvas.setAttribute("aria-label", `${about}. ${KEYS}`);
    const keep = (kind: string, write: () => void) => {
      const button = this.button(kind, `Keep the picture as ${kind}`, write);
      button.classList.add("keep");
    };
    keep("SVG", () =>
      save(new Blob([surface.svg(theme().paper)], { type: "image/svg+xml" }), `${this.name}.svg`),
    );
    keep("PNG", () => {
      void surface.png(theme().paper).then((blob) => blob && save(blob, `${this.name}.png`));
    });
    return surface;
  }

  button(text: string, title: string, act: () => void): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = title;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", act);
    this.controls.append(button);
    return button;
  }

  /** A choice among names. */
  choice(label: string, names: string[], chosen: string, act: (name: string) => void): Choice {
    const choice = new Choice(label, names, chosen, act);
    this.controls.append(choice.element);
    return choice;
  }

  /** Names that may be on or off. */
  checks(
    label: string,
    names: string[],
    chosen: string[],
    act: (chosen: string[]) => void,
  ): Checks {
    const checks = new Checks(label, names, chosen, act);
    this.controls.append(checks.element);
    return checks;
  }
}

export class Choice {
  readonly element = document.createElement("label");
  private readonly select = document.createElement("select");

  constructor(
    label: string,
    private readonly names: string[],
    chosen: string,
    act: (name: string) => void,
    /** What is shown in place of a name. */
    titles: ReadonlyMap<string, string> = new Map(),
  ) {
    const text = document.createElement("span");
    text.textContent = label;
    for (const name of names) {
      const option = document.createElement("option");
      option.value = name;
      option.textContent = titles.get(name) ?? name;
      this.select.append(option);
    }
    this.select.value = chosen;
    this.select.setAttribute("aria-label", label);
    this.select.addEventListener("change", () => act(this.select.value));
    this.element.append(text, this.select);
  }

  get value(): string {
    return this.select.value;
  }

  /** Chooses a name, if there is one like it. */
  set(name: unknown): void {
    if (typeof name === "string" && this.names.includes(name)) this.select.value = name;
  }
}

export class Checks {
  readonly element = document.createElement("details");
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly count = document.createElement("summary");

  constructor(
    private readonly label: string,
    names: string[],
    chosen: string[],
    act: (chosen: string[]) => void,
  ) {
    this.element.className = "checks";
    const list = document.createElement("div");
    for (const name of names) {
      const line = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = chosen.includes(name);
      box.addEventListener("change", () => {
        this.tell();
        act(this.chosen);
      });
      this.boxes.set(name, box);
      line.append(box, name);
      list.append(line);
    }
    this.element.append(this.count, list);
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.contains(event.target as Node)) this.element.open = false;
    });
    this.tell();
  }

  get chosen(): string[] {
    return [...this.boxes].filter(([, box]) => box.checked).map(([name]) => name);
  }

  set(chosen: unknown): void {
    if (!Array.isArray(chosen)) return;
    for (const [name, box] of this.boxes) box.checked = chosen.includes(name);
    this.tell();
  }

  private tell(): void {
    this.count.textContent = `${this.label}: ${this.chosen.length} of ${this.boxes.size}`;
  }
}

/** Has the browser keep a file. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A card: a view's heading, its controls, its picture, and how to keep that. */

import type { Caption } from "./caption";
import { byGroup, Finder, MANY_NAMES, meaning, told, type Named } from "./finder";
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
  private readonly empty = document.createElement("p");
  private readonly missing = document.createElement("p");
  private readonly choices: Choice[] = [];
  /** What a picture that is kept says of itself besides the heading and the choices. */
  caption: () => Omit<Caption, "title"> = () => ({ lines: [], legend: [] });

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
    this.empty.className = "nothing";
    this.empty.setAttribute("role", "status");
    this.empty.hidden = true;
    this.missing.className = "lacks";
    this.missing.hidden = true;
    // Over the picture, so that nothing moves below a brush.
    this.body.append(this.empty);
    this.element.append(heading, this.controls, this.missing, this.body, about);
  }

  /** Says why the view shows nothing, or that it shows something. */
  says(nothing: string | null): void {
    this.empty.hidden = nothing === null;
    this.empty.textContent = nothing;
  }

  /** Says what the data would need for the view, in its place; or that it needs nothing. */
  lacks(what: string | null): void {
    this.missing.hidden = what === null;
    this.missing.textContent = what;
  }

  /** What the view is, with what was chosen in it. */
  private get told(): Caption {
    const chosen = this.choices.filter(({ isOfColumns }) => isOfColumns);
    const choices = chosen.map(({ label, value }) => `${label} ${value}`).join(", ");
    return { title: choices ? `${this.title}: ${choices}` : this.title, ...this.caption() };
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
      save(
        new Blob([surface.svg(theme().paper, this.told)], { type: "image/svg+xml" }),
        `${this.name}.svg`,
      ),
    );
    keep("PNG", () => {
      void surface
        .png(theme().paper, this.told)
        .then((blob) => blob && save(blob, `${this.name}.png`));
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
  choice(
    label: string,
    names: (string | Named)[],
    chosen: string,
    act: (name: string) => void,
  ): Choice {
    const choice = new Choice(label, names, chosen, act);
    this.choices.push(choice);
    this.controls.append(choice.element);
    return choice;
  }

  /** Names that may be on or off. */
  checks(label: string, names: Named[], chosen: string[], act: (chosen: string[]) => void): Checks {
    const checks = new Checks(label, names, chosen, act);
    this.controls.append(checks.element);
    return checks;
  }
}

/** One of several names; what the chosen one means is said where it is pointed at, and many can be searched. */
export class Choice {
  readonly element = document.createElement("span");
  /** Whether names are those of columns or measures, which a picture has to say. */
  readonly isOfColumns: boolean;
  private readonly select = document.createElement("select");
  private readonly entries: Named[];

  constructor(
    readonly label: string,
    names: (string | Named)[],
    chosen: string,
    act: (name: string) => void,
    /** What is shown in place of a name, and of the label. */
    { titles, shown }: { titles?: ReadonlyMap<string, string>; shown?: string } = {},
  ) {
    this.entries = names.map((name) => (typeof name === "string" ? { name } : name));
    this.isOfColumns = names.some((name) => typeof name !== "string");
    this.element.className = "choice";
    const field = document.createElement("label");
    const text = document.createElement("span");
    text.textContent = shown ?? label;
    for (const [group, entries] of byGroup(this.entries)) {
      const options = entries.map((entry) => {
        const option = document.createElement("option");
        option.value = entry.name;
        option.textContent = titles?.get(entry.name) ?? entry.name;
        option.title = meaning(entry);
        return option;
      });
      const under = group ? document.createElement("optgroup") : null;
      if (under) under.label = group;
      under?.append(...options);
      this.select.append(...(under ? [under] : options));
    }
    this.select.value = chosen;
    this.select.setAttribute("aria-label", label);
    this.select.addEventListener("change", () => {
      this.tell();
      act(this.select.value);
    });
    field.append(text, this.select);
    this.element.append(field);
    if (this.entries.length > MANY_NAMES) this.element.append(this.finder(label, act));
    this.tell();
  }

  get value(): string {
    return this.select.value;
  }

  /** Chooses a name, if there is one like it. */
  set(name: unknown): void {
    if (typeof name !== "string" || !this.entries.some((entry) => entry.name === name)) return;
    this.select.value = name;
    this.tell();
  }

  private finder(label: string, act: (name: string) => void): HTMLElement {
    const finder = new Finder(this.entries, (entry) => {
      const line = document.createElement("button");
      line.type = "button";
      line.append(...told(entry));
      line.addEventListener("click", () => {
        this.set(entry.name);
        finder.close();
        act(entry.name);
      });
      return line;
    });
    finder.summary.textContent = "find";
    finder.summary.setAttribute("aria-label", `Find among ${this.entries.length}: ${label}`);
    return finder.element;
  }

  private tell(): void {
    const entry = this.entries.find(({ name }) => name === this.select.value);
    this.select.title = entry ? `${entry.name} ${meaning(entry)}`.trim() : "";
  }
}

export class Checks {
  readonly element: HTMLElement;
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly count: HTMLElement;

  constructor(
    private readonly label: string,
    names: Named[],
    chosen: string[],
    act: (chosen: string[]) => void,
  ) {
    const finder = new Finder(names, (entry) => {
      const line = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = chosen.includes(entry.name);
      box.addEventListener("change", () => {
        this.tell();
        act(this.chosen);
      });
      this.boxes.set(entry.name, box);
      line.append(box, ...told(entry));
      return line;
    });
    this.element = finder.element;
    this.element.classList.add("checks");
    this.count = finder.summary;
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

/** Lists of names with what they mean: under headings, and with a search where they are many. */

export interface Named {
  name: string;
  unit?: string;
  about?: string;
  /** The heading that it stands under. */
  group?: string;
}

/** Longer lists can be searched. */
export const MANY_NAMES = 12;

/** What a name means, in a line; empty if nothing is known. */
export function meaning({ unit, about }: Named): string {
  return [unit && `(${unit})`, about].filter((text) => text).join(" ");
}

/** Names by heading, in order; those without any come first. */
export function byGroup(entries: Named[]): [string, Named[]][] {
  const found = new Map<string, Named[]>();
  for (const entry of entries) {
    const group = entry.group ?? "";
    found.set(group, [...(found.get(group) ?? []), entry]);
  }
  return [...found].sort(([one], [other]) => Number(one !== "") - Number(other !== ""));
}

/** Whether a name or what it means has all words of a question. */
export function matches(entry: Named, question: string): boolean {
  const text = `${entry.name} ${entry.unit ?? ""} ${entry.about ?? ""} ${entry.group ?? ""}`;
  const lower = text.toLowerCase();
  return question
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** A list that opens below a summary: each entry is made by `line`, and found by what is typed. */
export class Finder {
  readonly element = document.createElement("details");
  readonly summary = document.createElement("summary");
  private readonly panel = document.createElement("div");
  private readonly lines: { entry: Named; element: HTMLElement; heading: HTMLElement | null }[] =
    [];

  constructor(entries: Named[], line: (entry: Named) => HTMLElement) {
    this.element.className = "finder";
    this.element.append(this.summary, this.panel);
    const none = document.createElement("p");
    none.textContent = "None is called so, or described so.";
    none.hidden = true;
    if (entries.length > MANY_NAMES) this.panel.append(this.search(none));
    for (const [group, members] of byGroup(entries)) {
      const heading = group ? document.createElement("h3") : null;
      if (heading) {
        heading.textContent = group;
        this.panel.append(heading);
      }
      for (const entry of members) {
        const element = line(entry);
        element.title = `${entry.name} ${meaning(entry)}`.trim();
        this.lines.push({ entry, element, heading });
        this.panel.append(element);
      }
    }
    this.panel.append(none);
    this.element.addEventListener("toggle", () => {
      if (this.element.open) this.place();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.contains(event.target as Node)) this.element.open = false;
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      this.element.open = false;
      this.summary.focus();
      event.stopPropagation();
    });
  }

  close(): void {
    this.element.open = false;
  }

  private search(none: HTMLElement): HTMLElement {
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "search names and meanings";
    input.setAttribute("aria-label", "Search names and meanings");
    input.addEventListener("input", () => {
      const there = new Set<HTMLElement | null>();
      let count = 0;
      for (const { entry, element, heading } of this.lines) {
        const fits = matches(entry, input.value.trim());
        element.hidden = !fits;
        if (!fits) continue;
        there.add(heading);
        count++;
      }
      for (const { heading } of this.lines) if (heading) heading.hidden = !there.has(heading);
      none.hidden = count > 0;
    });
    this.element.addEventListener("toggle", () => this.element.open && input.focus());
    return input;
  }

  /** Within the window, whatever it hangs on. */
  private place(): void {
    this.panel.style.translate = "";
    const { left, right } = this.panel.getBoundingClientRect();
    const beyond = Math.max(right - (document.documentElement.clientWidth - 8), 0);
    if (beyond) this.panel.style.translate = `${-Math.min(beyond, left - 8)}px 0`;
  }
}

/** Name, unit and meaning, as a line of a list has them. */
export function told(entry: Named): Node[] {
  const name = document.createElement("b");
  name.textContent = entry.name;
  const about = document.createElement("small");
  about.textContent = ` ${meaning(entry)}`;
  return [name, about];
}

/** Tables that belong together, such as flows and the links that they take: what is selected in one shows in the other. */

import type { Blobs, RelationEntry } from "./catalogue";
import type { Context } from "./context";
import type { Filter } from "./filters";

/** Which rows of one table belong to which of another: pairs, as two columns. */
export class Relation {
  constructor(
    private readonly mine: ArrayLike<number>,
    private readonly theirs: ArrayLike<number>,
  ) {}

  /** The relation of a table to the other one of an entry. */
  static async read(entry: RelationEntry, table: string, blobs: Blobs): Promise<Relation> {
    const [rows, others] = await Promise.all([
      blobs.numbers(entry.rows),
      blobs.numbers(entry.others),
    ]);
    return table === entry.table ? new Relation(rows, others) : new Relation(others, rows);
  }

  /** The other table's rows that belong to any of these. */
  of(mask: Uint8Array): number[] {
    return marked(mask, this.mine, this.theirs);
  }

  /** This table's rows that any of those of the other one belong to. */
  back(mask: Uint8Array): number[] {
    return marked(mask, this.theirs, this.mine);
  }
}

function marked(mask: Uint8Array, from: ArrayLike<number>, to: ArrayLike<number>): number[] {
  const rows = new Set<number>();
  for (let at = 0; at < from.length; at++) if (mask[from[at]]) rows.add(to[at]);
  return [...rows].sort((one, other) => one - other);
}

/** In the other table: what belongs to the rows that are selected in the one that is shown. */
const RELATED = "related";

/** What is linked of a table. */
type Linked = Pick<Context, "table" | "selection" | "restyled" | "restyle">;

/** Links the table that is shown with another one, of which some views stand beside it. */
export function relate(shown: Linked, other: Linked, relation: Relation): void {
  const key = `${RELATED} ${other.table.entry.name}`;
  const [mine, theirs] = [shown.selection, other.selection];
  let busy = false;
  const once = (act: () => void) => () => {
    if (busy) return;
    busy = true;
    act();
    busy = false;
  };
  const picks = () => theirs.entries.filter(([name]) => name !== RELATED);

  mine.onChange(
    once(() => {
      const own = mine.entries.filter(([name]) => name !== key);
      const filter = mine.filter(key);
      const picked = filter?.kind === "rows" ? filter.through : undefined;
      const entries: [string, Filter][] = own.length
        ? [[RELATED, { kind: "rows", rows: relation.of(mine.without(key)) }]]
        : [];
      // A link of the page restores what was picked in the other table; without the filter nothing is.
      if (picked) {
        const before = picks();
        const again: [string, Filter] = ["picked", { kind: "rows", rows: picked.rows }];
        entries.push(...(before.length ? before : [again]));
      }
      if (entries.length || theirs.isFiltered) theirs.replaceAll(entries);
    }),
  );
  theirs.onChange(
    once(() => {
      if (!picks().length) return mine.set(key, null);
      const mask = theirs.without(RELATED);
      const rows = Array.from(mask.keys()).filter((row) => mask[row]);
      const names = rows.slice(0, 3).map((row) => other.table.label(row));
      mine.set(key, { kind: "rows", rows: relation.back(mask), through: { rows, names } });
    }),
  );
  shown.restyled.listen(() => other.restyle());
}

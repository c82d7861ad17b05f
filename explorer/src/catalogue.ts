/** What a page holds: the catalogue is JSON, the columns are blobs that it names by number. */

/** How the numbers of a blob are stored. `u16` are steps of `scale` from `offset`, 65,535 is missing. */
export type Encoding = "f64" | "f32" | "u16" | "u8";

export interface Stored {
  blob: number;
  encoding: Encoding;
  offset?: number;
  scale?: number;
  /** Whether the bytes stand there as they are, not deflated. */
  raw?: boolean;
}

export interface ColumnEntry extends Stored {
  name: string;
  unit: string;
  about: string;
  /** What it is in an experiment: a factor is set, a response is measured. */
  role: "factor" | "response" | "name";
  /** The heading that lists of many columns have it under; empty without one. */
  group: string;
  /** Whether all its numbers are whole. */
  whole?: boolean;
  /** Of a column of text: what the stored numbers stand for. */
  categories?: string[];
}

/** Which rows are alike: a tree of `rows - 1` merges, as SciPy's linkage has it. */
export interface Clusters {
  rows: number[];
  columns: string[];
  order: number[];
  merges: [number, number, number][];
}

export interface TableEntry {
  name: string;
  /** What it is, in words, if its name does not say it. */
  title: string;
  rows: number;
  columns: ColumnEntry[];
  /** The column that names a row, and the one that colours it first. */
  label: string | null;
  colour: string | null;
  /** The columns that are looked at first. */
  shown: string[];
  clusters: Clusters | null;
  /** The factor whose levels are compared under the same conditions, if one is known. */
  competitor: string | null;
  /** How many of the wanted runs there are, if there may be more; and whether some are missing. */
  there: string;
  isPartial: boolean;
  /** What would have to be recorded for curves over time; empty if nothing could be. */
  samples: string;
  /** What was left out, if anything. */
  note: string;
  /** Of a sample: how many rows it was drawn from. */
  whole?: number;
}

export interface MeasureEntry extends Stored {
  name: string;
  unit: string;
  about: string;
}

/** Values over time: of each measure `times` numbers for each element, which is a row of the table. */
export interface SeriesEntry {
  table: string;
  times: Stored;
  elements: number;
  measures: MeasureEntry[];
  shown: string[];
  /** The measure that counts what is lost; empty without one. */
  lost: string;
  note: string;
}

export interface NodeEntry {
  name: string;
  x: number;
  y: number;
  tier: number;
  /** Its row in the table, if it has one. */
  row: number | null;
}

export interface LinkEntry {
  from: number;
  to: number;
  row: number | null;
}

/** A picture of the network. What is coloured, nodes or links, has the rows of the table. */
export interface NetworkEntry {
  table: string;
  nodes: NodeEntry[];
  links: LinkEntry[];
}

/** Which rows of a table belong to which of another: two columns of numbers of rows. */
export interface RelationEntry {
  table: string;
  to: string;
  rows: Stored;
  others: Stored;
}

export interface Catalogue {
  title: string;
  /** Where the numbers come from. */
  sources: string[];
  /** What has to be read before the numbers are trusted. */
  warnings: string[];
  /** Whether a server stands behind the page, which answers questions about whole tables. */
  served: boolean;
  version: string;
  tables: TableEntry[];
  series: SeriesEntry[];
  networks: NetworkEntry[];
  relations: RelationEntry[];
  /** Colours of algorithms, the same as in all of the project's plots. */
  colours: Record<string, string>;
}

const MISSING = 65_535;

/** Reads blobs out of the page: base64 of deflated bytes, each in an element of its own. */
export class Blobs {
  constructor(private readonly text: (blob: number) => string) {}

  private bytes(stored: Stored): Promise<ArrayBuffer> {
    const bytes = fromBase64(this.text(stored.blob));
    return stored.raw ? Promise.resolve(bytes.buffer) : inflate(bytes);
  }

  /** The numbers of a column or measure; missing ones are NaN. */
  async numbers(stored: Stored): Promise<Float64Array | Float32Array> {
    const bytes = await this.bytes(stored);
    switch (stored.encoding) {
      case "f64":
        return new Float64Array(bytes);
      case "f32":
        return new Float32Array(bytes);
      case "u16":
        return steps(new Uint16Array(bytes), stored);
      case "u8":
        return Float32Array.from(new Uint8Array(bytes));
    }
  }

  /** The codes of a column of text. */
  async codes(stored: Stored): Promise<Uint16Array> {
    const bytes = await this.bytes(stored);
    return stored.encoding === "u8"
      ? Uint16Array.from(new Uint8Array(bytes))
      : new Uint16Array(bytes);
  }
}

function steps(raw: Uint16Array, stored: Stored): Float32Array {
  const { offset = 0, scale = 1 } = stored;
  const values = new Float32Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    values[i] = raw[i] === MISSING ? NaN : offset + scale * raw[i];
  }
  return values;
}

/** Browsers since 2025 have this of their own, several times as fast. */
type Native = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as Native).fromBase64;
  if (native) return native.call(Uint8Array, text.trim());
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

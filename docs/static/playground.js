// The playground: an editor, the engine in a worker, and plots of its answer.
// `playground-engine.js`, which `python -m tools.site` writes, has the module and the scenarios; nothing is fetched, so
// that the page works as a file, too.
"use strict";

(() => {
  const MAX_POINTS = 600;
  const part = (name) => document.getElementById(`playground-${name}`);
  const engine = window.PLAYGROUND;
  if (!engine) return;
  part("missing").hidden = true;
  part("all").hidden = false;

  // What the worker runs: its text becomes a URL of its own, since browsers load no worker from a file.
  const working = () => {
    let module;
    onmessage = async ({ data: { packed, text } }) => {
      try {
        if (packed) {
          const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
          const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
          module = await WebAssembly.compile(await new Response(plain).arrayBuffer());
          postMessage({ ready: true });
          return;
        }
        // A new memory for each run: one that is out of memory is not of use again.
        const { memory, room, simulate, length } = (await WebAssembly.instantiate(module)).exports;
        const written = new TextEncoder().encode(text);
        const place = room(written.length);
        new Uint8Array(memory.buffer, place, written.length).set(written);
        const began = performance.now();
        const found = simulate();
        const took = performance.now() - began;
        const answer = new TextDecoder().decode(new Uint8Array(memory.buffer, found, length()));
        postMessage({ took, ...JSON.parse(answer) });
      } catch (error) {
        postMessage({ error: `The engine stopped: ${error.message}. Large runs: longhaul run FILE.` });
      }
    };
  };

  const source = URL.createObjectURL(new Blob([`(${working})()`], { type: "text/javascript" }));
  let worker;

  // The module is compiled before anybody asks for a run.
  const load = () => {
    part("run").disabled = part("stop").disabled = true;
    worker = new Worker(source);
    isReady = false;
    worker.onmessage = ({ data }) => {
      isReady = true;
      busy(false, "");
      if (!data.ready) show(data);
      if (isWanted) run();
    };
    worker.postMessage({ packed: engine.module });
  };

  // One run at a time; of those that are asked for meanwhile, while a slider moves, the last.
  let [isReady, isWanted] = [false, false];
  const run = () => {
    isWanted = !isReady;
    if (isWanted) return;
    isReady = false;
    busy(true, "Running ...");
    worker.postMessage({ text: part("text").value });
    void remember();
  };

  const stop = () => {
    isWanted = false;
    worker.terminate();
    load();
  };

  // The address holds the scenario: deflated, in the letters that addresses may have.
  const through = async (bytes, stream) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  const packed = async (text) => {
    const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const unpacked = async (letters) => {
    const plain = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(plain, (one) => one.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  };
  const MARK = "#toml=";
  const remember = async () => history.replaceState(null, "", MARK + (await packed(part("text").value)));
  const addressed = async () => {
    if (!location.hash.startsWith(MARK)) return null;
    try {
      return await unpacked(location.hash.slice(MARK.length));
    } catch {
      return null;
    }
  };
  const copy = async () => {
    await remember();
    const say = (text) => (part("state").textContent = text);
    navigator.clipboard?.writeText(location.href).then(
      () => say("Link copied"),
      () => say("The link is in the address"),
    );
  };

  const busy = (is, state) => {
    part("run").disabled = is;
    part("stop").disabled = !is;
    part("state").textContent = state;
  };

  const show = (answer) => {
    const place = part("answer");
    place.replaceChildren();
    if (answer.error) {
      busy(false, "");
      place.append(element("pre", answer.error, "playground-error"));
      return;
    }
    const packets = answer.data_packets.toLocaleString("en");
    busy(false, `${packets} data packets in ${(answer.took / 1000).toFixed(2)} s`);
    for (const warning of answer.warnings) place.append(element("p", `Note: ${warning}`));
    place.append(flows(answer), links(answer));
    const span = [0, answer.to_s];
    place.append(
      chart("Congestion windows", "cwnd (segments)", answer.cwnd, span),
      chart("Queue", "queue (packets)", answer.queue, span),
      chart("Goodput", "goodput (Mbit/s)", answer.goodput, span),
    );
  };

  const element = (kind, text, name) => {
    const made = document.createElement(kind);
    made.textContent = text;
    if (name) made.className = name;
    return made;
  };

  const table = (head, rows) => {
    const made = element("table", "", "table");
    for (const [index, cells] of [head, ...rows].entries()) {
      const row = made.insertRow();
      for (const cell of cells) row.append(element(index ? "td" : "th", cell));
    }
    return made;
  };

  const number = (value, digits) =>
    value === null ? "" : value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

  const percent = (value, digits) => (value === null ? "" : `${number(100 * value, digits)}%`);

  const flows = ({ labels, from_s, to_s }) => {
    const all = labels.reduce((sum, one) => sum + one.goodput_bps, 0);
    return table(
      [`from ${from_s} s to ${to_s} s`, "flows", "goodput (Mbit/s)", "share", "mean RTT (ms)", "retransmitted"],
      labels.map((one) => [
        one.label,
        one.flows,
        number(one.goodput_bps / 1e6, 1),
        all ? percent(one.goodput_bps / all, 1) : "",
        one.rtt_mean_s === null ? "" : number(1000 * one.rtt_mean_s, 2),
        percent(one.retransmitted, 3),
      ]),
    );
  };

  const links = ({ links }) =>
    table(
      ["link", "utilisation", "mean queue (packets)", "dropped", "marked"],
      links.map((one) => [
        one.name,
        percent(one.utilisation, 1),
        number(one.queue_mean_pkts, 1),
        one.dropped_pkts,
        one.marked_pkts,
      ]),
    );

  // Plots: as `tools/site/chart.py` draws those of other pages, with the same classes.
  const WIDTH = 720;
  const HEIGHT = 300;
  const [LEFT, RIGHT, TOP, BOTTOM] = [64, WIDTH - 12, 32, HEIGHT - 44];

  const chart = (title, unit, lines, [low, high]) => {
    const top = Math.max(0, ...lines.flatMap((line) => line.y.map((y) => y ?? 0)).reduce(ends, [0, 0])) * 1.05 || 1;
    const x = (t) => LEFT + ((t - low) / (high - low)) * (RIGHT - LEFT);
    const y = (value) => BOTTOM - (value / top) * (BOTTOM - TOP);
    const drawn = svg("svg", { class: "chart", role: "img", "aria-label": title, viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
    for (const value of ticks(top)) {
      drawn.append(
        svg("line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(value), y2: y(value) }),
        svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, value.toLocaleString("en")),
      );
    }
    for (const value of ticks(high)) {
      drawn.append(svg("text", { x: x(value), y: BOTTOM + 16, "text-anchor": "middle" }, String(value)));
    }
    const turned = `translate(14 ${(TOP + BOTTOM) / 2}) rotate(-90)`;
    drawn.append(
      svg("text", { x: (LEFT + RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, "time (s)"),
      svg("text", { transform: turned, "text-anchor": "middle" }, unit),
    );
    let key = LEFT + 8;
    const places = colours(lines);
    for (const [at, line] of lines.entries()) {
      const index = places[at];
      for (const piece of pieces(line)) {
        const points = piece.map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
        drawn.append(svg("polyline", { class: `line-${index}`, points }));
      }
      if (key < WIDTH - 100) {
        drawn.append(
          svg("line", { class: `line-${index}`, x1: key, x2: key + 18, y1: 18, y2: 18 }),
          svg("text", { x: key + 22, y: 22 }, line.name),
        );
      }
      key += 34 + 9 * line.name.length;
    }
    return drawn;
  };

  // As `colours` of tools/site/chart.py: lines that are called after an algorithm have its colour.
  const colours = (lines) => {
    const own = [];
    for (const { name } of lines) {
      const place = engine?.colours?.[name.replace(/[-.]\d+$/, "")];
      own.push(own.includes(place) ? undefined : place);
    }
    const all = [...Array(8).keys()];
    const free = all.filter((place) => !own.includes(place));
    let next = 0;
    return own.map((place) => place ?? (free.length ? free : all)[next++ % (free.length || 8)]);
  };

  const ends = ([low, high], value) => [Math.min(low, value), Math.max(high, value)];

  const svg = (kind, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Pieces of a curve between samples that are missing; of each stretch the smallest and the largest value.
  const pieces = (line) => {
    const found = [[]];
    const size = Math.max(1, Math.ceil((2 * line.t_s.length) / MAX_POINTS));
    for (let from = 0; from < line.t_s.length; from += size) {
      const stretch = [];
      for (let index = from; index < Math.min(from + size, line.t_s.length); index++) {
        if (line.y[index] !== null) stretch.push([line.t_s[index], line.y[index]]);
      }
      if (!stretch.length) {
        found.push([]);
        continue;
      }
      const sorted = [...stretch].sort((a, b) => a[1] - b[1]);
      const both = new Set([sorted[0], sorted[sorted.length - 1]]);
      found[found.length - 1].push(...[...both].sort((a, b) => a[0] - b[0]));
    }
    return found.filter((piece) => piece.length > 1);
  };

  // Five or so round numbers from 0 to the largest.
  const ticks = (high) => {
    const rough = high / 5;
    const decade = 10 ** Math.floor(Math.log10(rough));
    const step = decade * [1, 2, 5, 10].find((one) => one * decade >= rough);
    return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
  };

  // Colours of TOML: a copy of the text, under letters of the editor that are transparent.
  const TOKEN =
    /(?<comment>#.*$)|(?<table>^\s*\[\[?[^\]\n]*\]\]?)|(?<key>[\w.-]+(?=\s*=))|(?<text>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|(?<value>\b(?:true|false)\b|[-+]?\b\d[\d_.eE+-]*\b)/gm;
  const paint = () => {
    const text = part("text").value;
    const colours = part("colours");
    colours.replaceChildren();
    let from = 0;
    for (const found of text.matchAll(TOKEN)) {
      const [kind] = Object.entries(found.groups).find(([, part]) => part !== undefined);
      colours.append(text.slice(from, found.index), element("span", found[0], `toml-${kind}`));
      from = found.index + found[0].length;
    }
    // A last line that is empty has a height, too.
    colours.append(`${text.slice(from)}\n`);
    follow();
  };
  const follow = () => {
    const { scrollTop, scrollLeft } = part("text");
    Object.assign(part("colours"), { scrollTop, scrollLeft });
  };

  // Sliders change the text, where it has what they stand for: the bottleneck's rate, delay and limit, and algorithms.
  const BOTTLENECK = /^\[topology\.dumbbell\.bottleneck\][^[]*/m;
  const KINDS = /^\s*congestion\s*=\s*\{\s*kind\s*=\s*"([\w+-]+)"/gm;
  const inBottleneck = (key) => new RegExp(`(\\b${key}\\s*=\\s*")([^"]*)(")`);
  const read = (key) => part("text").value.match(BOTTLENECK)?.[0].match(inBottleneck(key))?.[2];
  const write = (key, value) =>
    part("text").value.replace(BOTTLENECK, (table) => table.replace(inBottleneck(key), `$1${value}$3`));
  const quantity = (text, units) => {
    const [, value, unit] = text?.match(/^([\d.]+)\s*(\S+)$/) ?? [];
    return unit in units ? Number(value) * units[unit] : NaN;
  };
  const round = (value) => Number(value.toPrecision(2));
  const SLIDERS = [
    {
      name: "Rate",
      ends: [1, 1000],
      get: () => quantity(read("rate"), { Gbps: 1000, Mbps: 1, kbps: 1e-3 }),
      set: (value) => write("rate", `${value} Mbps`),
      shown: (value) => `${value} Mbit/s`,
    },
    {
      name: "Round trip",
      ends: [2, 600],
      get: () => 2 * quantity(read("delay"), { s: 1000, ms: 1, us: 1e-3 }),
      set: (value) => write("delay", `${value / 2} ms`),
      shown: (value) => `${value} ms`,
    },
    {
      name: "Buffer",
      ends: [0.1, 10],
      get: () => quantity(read("limit"), { BDP: 1 }),
      set: (value) => write("limit", `${value} BDP`),
      shown: (value) => `${value} BDP`,
    },
  ];

  const changed = (text) => {
    part("text").value = text;
    paint();
    run();
  };
  const slider = ({ name, ends: [low, high], get, set, shown }) => {
    const value = get();
    if (!(value > 0)) return null;
    const label = element("label", `${name} `);
    const input = document.createElement("input");
    const steps = 200;
    const place = (value) => Math.round((steps * Math.log(value / low)) / Math.log(high / low));
    Object.assign(input, { type: "range", min: 0, max: steps, value: place(value) });
    const said = element("output", shown(round(value)));
    input.addEventListener("input", () => {
      const moved = round(low * (high / low) ** (input.value / steps));
      said.textContent = shown(moved);
      changed(set(moved));
    });
    label.append(input, said);
    return label;
  };
  const algorithm = (kind, index) => {
    const label = element("label", `Flow ${index + 1} `);
    const choice = document.createElement("select");
    for (const name of engine.algorithms) choice.append(element("option", name));
    choice.value = kind;
    choice.addEventListener("change", () => {
      let place = -1;
      const other = (found, old) => {
        place += 1;
        return place === index ? found.replace(`"${old}"`, `"${choice.value}"`) : found;
      };
      changed(part("text").value.replace(KINDS, other));
    });
    label.append(choice);
    return label;
  };
  const sliders = () => {
    const kinds = [...part("text").value.matchAll(KINDS)].slice(0, 2);
    const known = kinds.filter(([, kind]) => engine.algorithms.includes(kind));
    const found = [...SLIDERS.map(slider), ...known.map(([, kind], index) => algorithm(kind, index))];
    part("sliders").replaceChildren(...found.filter((one) => one));
  };

  for (const [name, { title }] of Object.entries(engine.scenarios)) {
    const option = element("option", title);
    option.value = name;
    part("choice").append(option);
  }
  const put = (text) => {
    part("text").value = text;
    paint();
    sliders();
  };
  const choose = () => {
    put(engine.scenarios[part("choice").value].text);
    run();
  };
  const open = async () => {
    const text = await addressed();
    if (text === null) return choose();
    put(text);
    run();
  };
  part("choice").addEventListener("change", choose);
  part("run").addEventListener("click", () => {
    part("answer").replaceChildren();
    run();
  });
  part("stop").addEventListener("click", stop);
  part("link").addEventListener("click", () => void copy());
  part("text").addEventListener("input", () => {
    paint();
    sliders();
  });
  part("text").addEventListener("scroll", follow);
  addEventListener("hashchange", () => void open());
  load();
  void open();
})();

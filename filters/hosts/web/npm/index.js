// @ts-check Grainfield's filters in a page, a worker or Node: the pictures of the command line, from WebAssembly.

/** What is wrong, and where: the filter from 0, the setting, and the place in the text.
 * @typedef {{text: string, step?: number, setting?: string, span?: {start: number, end: number}, line?: number}} Fault */
/** Pixels in rows, with R, G, B and A of each, 8 bits and not premultiplied: an ImageData is one.
 * @typedef {{width: number, height: number, data: Uint8ClampedArray | Uint8Array}} Picture */
/** `alpha: false` ignores the alpha of pictures, as a file without it; `rate` is frames a second, as a fraction; `last` is the
 * number of the last frame, for keys that count from the end.
 * @typedef {{alpha?: boolean, rate?: [number, number], last?: number | null}} Source */
/** @typedef {{name: string, off?: boolean, values: Record<string, string>}} Step */
/** A chain as for `-f`, or filters whose values are text. @typedef {string | {steps: Step[], seed?: string | null}} Recipe */
/** @typedef {{key: string, chain: string, canonical: string, toml: string, effective: Record<string, string>[], faults: Fault[],
 *   notes: string[], made: null | {width: number, height: number, format: string}}} Checked */

export class GrainfieldError extends Error {
  /** @param {Fault} fault */
  constructor(fault) {
    super(fault.text);
    this.name = 'GrainfieldError';
    this.fault = fault;
  }
}

/** @param {{width: number, height: number}} size @param {Source} source */
const clip = ({ width, height }, { alpha = true, rate = [24, 1], last = null }) => ({ width, height, alpha, rate, last });

export class Grainfield {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
    /** @type {any} */
    this.exports = null;
    this.start();
  }

  start() {
    this.exports = new WebAssembly.Instance(this.module, {}).exports;
    /** What is bound. @type {string} */
    this.bound = '';
    this.made = { width: 0, height: 0 };
  }

  /** Calls a function; after a panic or without memory the next call begins anew. @param {(exports: any) => number} call */
  run(call) {
    try {
      return call(this.exports);
    } catch (error) {
      this.start();
      throw new GrainfieldError({ text: `out of memory, or an internal error (${error instanceof Error ? error.message : error}): try a smaller picture` });
    }
  }

  /** The first bytes of the buffer. @param {number} length */
  bytes(length) {
    const at = this.run(({ buffer }) => buffer(length));
    return new Uint8Array(this.exports.memory.buffer, at >>> 0, length);
  }

  /** Sends a request and returns its answer. @param {object} request @returns {any} */
  ask(request) {
    const text = new TextEncoder().encode(JSON.stringify(request));
    this.bytes(text.length).set(text);
    const length = this.run(({ ask }) => ask(text.length));
    const { answer, error } = JSON.parse(new TextDecoder().decode(this.bytes(length)));
    if (error) throw new GrainfieldError(error);
    return answer;
  }

  /** All filters with their settings, as `grainfield filters --json` prints them. @returns {any[]} */
  catalog() {
    return this.ask({ ask: 'catalog' });
  }

  /** The built-in looks: whole recipes. @returns {{name: string, about: string, recipe: {steps: Step[], seed: string | null}}[]} */
  looks() {
    return this.ask({ ask: 'looks' });
  }

  /** What a recipe is, and all that is wrong with it; with a size, also for pictures of it. A text that is no chain is a
   * GrainfieldError with the place. @param {Recipe} recipe @param {Source & {width: number, height: number}} [source]
   * @returns {Checked} */
  check(recipe, source) {
    const text = typeof recipe === 'string' ? { chain: recipe } : { recipe };
    return this.ask({ ask: 'recipe', clip: source ? clip(source, source) : null, ...text });
  }

  /** Filters a picture as a frame of this number, and returns a new picture, of the type that it was given. `seed` replaces
   * that of the chain. @template {Picture} P @param {P} picture @param {string} chain
   * @param {Source & {frame?: number, seed?: number | bigint | string}} [how] @returns {P} */
  apply(picture, chain, { frame = 0, seed, ...source } = {}) {
    const { width, height, data } = picture;
    if (data.length !== 4 * width * height) throw new GrainfieldError({ text: `a picture of ${width} by ${height} has ${4 * width * height} bytes, not ${data.length}` });
    const request = JSON.stringify({ ask: 'bind', chain, seed: seed === undefined ? null : String(seed), clip: clip(picture, source) });
    if (this.bound !== request) {
      this.bound = '';
      this.made = this.ask(JSON.parse(request));
      this.bound = request;
    }
    const made = 4 * this.made.width * this.made.height;
    this.bytes(Math.max(data.length, made)).set(data);
    const length = this.run(({ render }) => render(frame));
    if (length) throw new GrainfieldError({ text: new TextDecoder().decode(this.bytes(length)) });
    const result = new Uint8ClampedArray(this.bytes(made));
    if (typeof ImageData !== 'undefined' && picture instanceof ImageData) return /** @type {any} */ (new ImageData(result, this.made.width));
    return /** @type {any} */ ({ width: this.made.width, height: this.made.height, data: data instanceof Uint8ClampedArray ? result : new Uint8Array(result.buffer) });
  }
}

/** Compiles the filters: from `grainfield.wasm` beside this file, or from bytes, a response or a compiled module.
 * @param {URL | string | BufferSource | Response | Promise<Response> | WebAssembly.Module} [from] */
export async function load(from = new URL('./grainfield.wasm', import.meta.url)) {
  if (from instanceof WebAssembly.Module) return new Grainfield(from);
  if (from instanceof ArrayBuffer || ArrayBuffer.isView(from)) return new Grainfield(await WebAssembly.compile(from));
  if (from instanceof URL && from.protocol === 'file:') {
    const { readFile } = await import(/* @vite-ignore */ `node:${'fs/promises'}`);
    return load(await readFile(from));
  }
  const response = await (from instanceof URL || typeof from === 'string' ? fetch(from) : from);
  if (!response.ok) throw new Error(`${response.url}: the server answers ${response.status}`);
  // Not compiled while it arrives: servers may not know the type.
  return load(await response.arrayBuffer());
}

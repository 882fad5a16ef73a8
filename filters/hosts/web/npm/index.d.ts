/** What is wrong, and where. */
export interface Fault {
  /** The message. */
  text: string;
  /** The filter, from 0. */
  step?: number;
  /** The name of the setting. */
  setting?: string;
  /** The place in the text of the chain. */
  span?: { start: number; end: number };
  /** The line of a text with several. */
  line?: number;
}

/** Pixels in rows, with R, G, B and A of each, 8 bits and not premultiplied: an `ImageData` is one. */
export interface Picture {
  /** At most 7680. */
  width: number;
  /** At most 4320. */
  height: number;
  /** Has `4 * width * height` bytes. */
  data: Uint8ClampedArray | Uint8Array;
}

/** What a chain is told of the clip that pictures belong to. */
export interface Source {
  /** `false` ignores the alpha of pictures, as a file without it. The default is `true`. */
  alpha?: boolean;
  /** Frames a second, as a fraction. The default is `[24, 1]`. */
  rate?: [number, number];
  /** The number of the last frame, for keys that count from the end. */
  last?: number | null;
}

/** A filter with settings, each as the text that follows `=` in a chain. */
export interface Step {
  name: string;
  /** Whether the filter is left out. */
  off?: boolean;
  values: Record<string, string>;
}

/** Filters in their order, with a seed as decimal or hexadecimal text. */
export interface Steps {
  steps: Step[];
  seed?: string | null;
}

/** A chain as for `-f` of the command line, or its filters. */
export type Recipe = string | Steps;

/** What {@link Grainfield.check} finds. */
export interface Checked {
  /** The same for recipes that give the same pictures. */
  key: string;
  /** The recipe as a chain. */
  chain: string;
  /** The chain with every setting in the form in which it is compared. */
  canonical: string;
  /** The recipe as a file. */
  toml: string;
  /** The values of all settings of each filter, those that are not named too. */
  effective: Record<string, string>[];
  /** All that is wrong. */
  faults: Fault[];
  notes: string[];
  /** The pictures that come out; `null` without a size, or with faults. */
  made: null | { width: number; height: number; format: string };
}

/** A built-in look. */
export interface Look {
  name: string;
  about: string;
  recipe: { steps: Step[]; seed: string | null };
}

/** A value of a choice, or a preset with the values that it stands for. */
export interface Choice {
  id: string;
  help: string;
  values?: Record<string, string | number | boolean | null>;
}

/** A setting of a filter, as an interface for users needs it. */
export interface Setting {
  /** The name in a chain. */
  id: string;
  label: string;
  help: string;
  /** `number`, `whole`, `switch`, `choice`, `colour`, `position`, `text`, `seed` and others. */
  kind: string;
  unit: string;
  default: string | number | boolean | null;
  /** Whether keys can change it over time. */
  animatable: boolean;
  /** Whether a slider should be logarithmic. */
  logarithmic: boolean;
  min?: number;
  max?: number;
  /** The range of a slider, where that is smaller. */
  soft_min?: number;
  soft_max?: number;
  step?: number;
  group?: string;
  choices?: Choice[];
  /** The setting counts only while another has one of these values. */
  only_when?: { setting: string; values: string[] };
}

/** A filter, as `grainfield filters --json` prints it. */
export interface Filter {
  name: string;
  label: string;
  help: string;
  settings: Setting[];
  /** The settings that every filter has. */
  common: Setting[];
}

/** How {@link Grainfield.apply} filters a picture. */
export interface How extends Source {
  /** The number of the frame. The default is 0. */
  frame?: number;
  /** Replaces the seed of the chain. A seed has 64 bits: give those above 2^53 as a bigint or as text. */
  seed?: number | bigint | string;
}

/** Thrown by all methods: a chain that is wrong, a picture of another size than its data, or no memory. */
export class GrainfieldError extends Error {
  constructor(fault: Fault);
  fault: Fault;
}

/** The filters, in an instance of WebAssembly. {@link load} makes it. */
export class Grainfield {
  constructor(module: WebAssembly.Module);

  /** All filters with their settings. */
  catalog(): Filter[];

  /** The built-in looks: whole recipes. */
  looks(): Look[];

  /** What a recipe is, and all that is wrong with it; with a size, also for pictures of it. A text that is no chain
   * throws a {@link GrainfieldError} with the place. */
  check(recipe: Recipe, source?: Source & { width: number; height: number }): Checked;

  /** Filters a picture as a frame of this number, and returns a new picture, of the type that it was given. A chain may
   * change its size. */
  apply<P extends Picture>(picture: P, chain: string, how?: How): P;
}

/** Compiles the filters: from `grainfield.wasm` beside this file, or from an address, bytes, a response or a compiled
 * module. Throws if the server has no such file. */
export function load(
  from?: URL | string | BufferSource | Response | Promise<Response> | WebAssembly.Module,
): Promise<Grainfield>;

// @ts-check The state of the page. Everything displayed follows from these signals; the recipe is changed only through
// `edit`, so that every change can be undone.

import { batch, computed, effect, signal, untracked } from './vendor/signals-core.js';
import { ApiError, get, post, tab } from './api.js';
import { codeAt, framesOf, two } from './timecode.js';

/** `origin` says which filter of the text that was opened it was: the number of that text, and the place in it.
 * @typedef {{id: number, name: string, off: boolean, values: Record<string, string>, origin?: [number, number]}} Step */
/** `drafts` are effect files as they are edited, by their names.
 * `cuts` are the frames that are cut out of clips, by their paths: in order, both ends included. `deinterlace` are FFmpeg's
 * filters by which clips are deinterlaced; '' where the user has left one as it is.
 * `look` is the name of the look that the filters were taken from.
 * @typedef {{steps: Step[], seed: string | null, look?: string, drafts: Record<string, string>, cuts: Record<string, [number, number][]>, deinterlace: Record<string, string>}} Doc */
/** @typedef {{id: number, path: string, name: string, kind: string, width: number, height: number, format: string,
 *   bits: number | null, colour: string, planes: string[], first: number, last: number, estimated: boolean, rate: [number, number], variable: boolean,
 *   shape: number, fields: string, lavfi: string, raw: string | null, tags: Record<string, string>, matrix: string | null, notes: string[], details: [string, string][], sound: number | null}} Clip */
/** @typedef {{text: string, step?: number, setting?: string, span?: {start: number, end: number}}} Fault */
/** @typedef {{key: string, chain: string, canonical: string, toml: string, effective: Record<string, string>[],
 *   faults: Fault[], notes: string[], made: null | {width: number, height: number, format: string, planes: string[], shape: number}}}
 *   Checked */

/** All filters, as `grainfield filters --json` prints them. */
export const catalog = signal(/** @type {any[]} */ ([]));
export const clip = signal(/** @type {Clip | null} */ (null));
export const frame = signal(0);
/** The selection, both ends included; null is everything. */
export const selection = signal(/** @type {[number, number] | null} */ (null));
export const doc = signal(/** @type {Doc} */ ({ steps: [], seed: null, drafts: {}, cuts: {}, deinterlace: {} }));
/** Which filter's settings are shown. */
export const selected = signal(0);
/** What the server makes of the recipe. */
export const checked = signal(/** @type {Checked | null} */ (null));
/** The key of the last recipe without a fault, by which frames are asked for. */
export const key = signal('');
/** Whether that recipe has no filter that is on: its result is the source. */
export const keyIsPlain = signal(true);
export const recipePath = signal('');
/** The text from which the recipe was opened: unchanged parts are saved as they are written there. */
export const base = signal(/** @type {{id: number, text: string} | null} */ (null));
/** A part of the picture that is measured: left, top, width, height. */
export const area = signal(/** @type {[number, number, number, number] | null} */ (null));
/** The contents of the recipe's file and of effect files when they were opened or saved. */
export const originals = signal(/** @type {Record<string, string>} */ ({}));
/** The TOML that was last saved or opened. */
export const savedToml = signal('');
export const dock = signal('curves');
export const dockOpen = signal(true);
/** The setting whose curve is edited: the filter's id and the setting's. */
export const curveOf = signal(/** @type {{step: number, setting: string} | null} */ (null));
export const connected = signal(true);
export const simulating = signal(/** @type {null | {done: number, all: number}} */ (null));
export const toasts = signal(/** @type {{text: unknown, bad: boolean}[]} */ ([]));
/** What may be answered, above the pictures until it is; `work` names unsaved work. */
export const offers = signal(/** @type {{text: string, answers: [string, () => unknown][], work?: string}[]} */ ([]));
/** Keys that the user has changed: command to key. */
export const userKeys = signal(/** @type {Record<string, string>} */ ({}));
export const folder = signal('');
/** What samples without a header are, by the paths of their files. */
export const raws = signal(/** @type {Record<string, string>} */ ({}));
/** What replaces the tags of clips, by their paths: options of the command line, but that `transfer` is of the input. */
export const retags = signal(/** @type {Record<string, Record<string, string>>} */ ({}));
/** The clips that were opened last, the newest first. */
export const recent = signal(/** @type {string[]} */ ([]));
/** Frames that the user has marked, in order. */
export const markers = signal(/** @type {number[]} */ ([]));
/** Whether it is measured how long filters take. */
export const timing = signal(false);
/** Milliseconds that each filter that is on adds to a frame, by the key of the recipe that was measured. */
export const times = signal({ key: '', list: /** @type {number[]} */ ([]) });
/** How large everything is, in percent. */
export const scale = signal(100);
/** How high the panel below and how wide the one on the right are, in pixels of the page; 0 is as they come. */
export const sizes = { dock: signal(0), side: signal(0) };
/** Whether times are shown as timecode of frames; never where frames have no common duration. */
export const timecode = signal(true);

export const view = {
  /** side, stack, out, in, wipe or diff */
  layout: signal('side'),
  /** Device pixels for one pixel of the picture; 0 fits it into the pane by whole steps, -1 to the edges. */
  zoom: signal(0),
  /** The position in the middle of a pane, in fractions of the picture. */
  center: signal([0.5, 0.5]),
  gain: signal(1),
  diffGain: signal(8),
  gamma: signal(1),
  plane: signal(-1),
  /** '' is the whole frame, else one field. */
  field: signal(''),
  clipping: signal(false),
  /** What is seen behind a picture with alpha: '' ignores alpha; black, grey or checks. */
  over: signal(''),
  /** Whether the mask of the selected filter is shown in the place of the result. */
  matte: signal(false),
  wipe: signal(0.5),
  loupe: signal(false),
  /** Whether samples are shown as squares, whatever shape the clip says that they have. */
  square: signal(false),
  /** Whether the result is first where both are shown. */
  swapped: signal(false),
  surround: signal('dark'),
  /** Whether a smaller view says that it weakens grain. */
  hints: signal(true),
};

/** What the result can be compared with: recipes that were kept, with a frame those whose picture alone was.
 * @typedef {{id: number, name: string, clip: string, frame: number | null, drafts: Record<string, string>, key: string,
 *   recipe: {steps: Omit<Step, 'id'>[], seed: string | null}, made: NonNullable<Checked['made']>}} Reference */
export const references = signal(/** @type {Reference[]} */ ([]));
/** Which of them is shown in the place of the source; 0 is the source. */
export const against = signal(0);
/** Clips that are open for their stills, by their paths. */
export const stillClips = signal(/** @type {Record<string, Clip>} */ ({}));
export const reference = computed(() => references.value.find((r) => r.id === against.value && (r.clip === clip.value?.path || (r.frame !== null && r.clip in stillClips.value))) ?? null);
/** The clip of what is compared with. */
export const referenceClip = computed(() => (reference.value && reference.value.clip !== clip.value?.path ? stillClips.value[reference.value.clip] : clip.value));

/** When the frames of a clip of variable rate begin, and when the last one ends, in seconds; null at a constant rate. */
export const begins = signal(/** @type {number[] | null} */ (null));
export const rate = computed(() => (clip.value ? clip.value.rate[0] / clip.value.rate[1] : 24));
export const dirty = computed(() => !!checked.value && checked.value.toml !== savedToml.value);
/** The effects of the recipe that are not saved as they are drawn. */
export const unsavedEffects = computed(() => {
  const { steps, drafts } = doc.value;
  return Object.keys(drafts).filter((path) => drafts[path] !== originals.value[path] && steps.some((s) => s.values.effect === path));
});

/** What is shown and rendered in the place of a recipe with an error; '' without one. */
export const inPlace = () => (checked.value?.faults.length ? `the recipe has an error, ${keyIsPlain.value ? 'the source' : 'the result before it'} is shown` : '');

let nextId = 1;

/** @param {unknown} text or a template @param {boolean} [bad] @param {number} [time] in milliseconds */
export function toast(text, bad = false, time = bad ? 9000 : 4000) {
  const one = { text, bad };
  toasts.value = [...toasts.value.slice(-3), one];
  setTimeout(() => (toasts.value = toasts.value.filter((t) => t !== one)), time);
}

/** Whether the server has dropped the clip or the recipe. @param {unknown} error */
export const isGone = (error) => error instanceof ApiError && error.status === 410;

/** Reports an error; an aborted request is not reported. @param {unknown} error */
export function report(error) {
  if (error instanceof DOMException && error.name === 'AbortError') return;
  // The page says already that the server is gone.
  if (error instanceof TypeError && !connected.value) return;
  toast(messageOf(error), true);
}

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Does something whose failure is reported. @template {unknown[]} A @param {(...given: A) => Promise<unknown>} run */
export const reported = (run) => (/** @type {A} */ ...given) => run(...given).catch(report);

/** Offers answers until one is given. @param {string} text @param {[string, () => unknown][]} answers
 * @returns what takes the offer back */
export function offer(text, answers) {
  const one = { text, answers };
  offers.value = [...offers.peek(), one];
  return () => void (offers.value = offers.peek().filter((o) => o !== one));
}

// ---- effects that do something later ----

/** Does something after what `watch` reads has been drawn. @param {() => unknown} watch @param {() => unknown} run */
export const afterwards = (watch, run) => effect(() => {
  watch();
  queueMicrotask(run);
});

/** Does something with what `watch` tells when that has rested for some milliseconds, unless it is null; a change stops it.
 * @template T @param {number} wait @param {() => T} watch
 * @param {(told: NonNullable<T>, stop: AbortSignal) => unknown} run */
export const rested = (wait, watch, run) => effect(() => {
  const told = watch();
  const stop = new AbortController();
  const timer = told ? setTimeout(() => run(told, stop.signal), wait) : 0;
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
});

/** Does one thing at a time: of the calls that come meanwhile, the last one counts. Done when that is done.
 * @param {() => Promise<unknown>} run @returns {() => Promise<void>} */
export function latest(run) {
  let again = false;
  /** @type {Promise<void> | null} */
  let running = null;
  const all = async () => {
    while (again) {
      again = false;
      await run();
    }
    running = null;
  };
  return () => {
    again = true;
    return (running ??= all());
  };
}

// ---- the recipe, undo and redo ----

/** A recipe of the history; with its file and the text of that, where the step changes them.
 * @typedef {{doc: Doc, merge: string, at: number, file?: [string, typeof base.value]}} Past */
const [past, future] = [signal(/** @type {Past[]} */ ([])), signal(/** @type {Past[]} */ ([]))];
export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

/**
 * Changes the recipe. Changes of one `merge` that follow each other soon are undone in one step, those of a drag of any length.
 * @param {(doc: Doc) => Doc} change
 * @param {string} [merge] @param {Past['file']} [file] that of another recipe, which takes the place of this one
 */
export function edit(change, merge = '', file) {
  const before = doc.value;
  const after = change(before);
  if (after === before) return;
  const last = past.peek().at(-1);
  const now = performance.now();
  if (merge && last?.merge === merge && (now - last.at < 800 || /^mask \d+$/.test(merge))) last.at = now;
  else past.value = past.peek().slice(-499).concat({ doc: before, merge, at: now, file: file && [recipePath.value, base.value] });
  future.value = [];
  if (file) [recipePath.value, base.value] = file;
  doc.value = after;
}

/** What is there now is the beginning: nothing before it can be undone. */
export const beginHistory = () => void (past.value = future.value = []);

/** Takes the last recipe of one list; the one that was there is put onto the other.
 * @param {typeof past} from @param {typeof past} to */
function exchange(from, to) {
  const next = from.value.at(-1);
  if (!next) return;
  from.value = from.value.slice(0, -1);
  to.value = [...to.value, { doc: doc.value, merge: '', at: 0, file: next.file && [recipePath.value, base.value] }];
  if (next.file) [recipePath.value, base.value] = next.file;
  const chosen = selectedStep.value?.id;
  doc.value = next.doc;
  // The same filter stays selected in another place.
  selected.value = Math.max(0, next.doc.steps.findIndex((s) => s.id === chosen));
}
export const undo = () => exchange(past, future);
export const redo = () => exchange(future, past);

/** @param {number} id @param {(step: Step) => Step} change @param {string} [merge] */
export function editStep(id, change, merge) {
  edit((d) => ({ ...d, steps: d.steps.map((s) => (s.id === id ? change(s) : s)) }), merge);
}

/**
 * Gives a setting a value; null takes it away. Values of a drag that follow each other soon are undone in one step.
 * @param {number} id @param {string} setting @param {string | null} text @param {boolean} [dragged]
 */
export function setValue(id, setting, text, dragged = true) {
  editStep(id, (step) => {
    const { [setting]: was = null, ...others } = step.values;
    return was === text ? step : { ...step, values: text === null ? others : { ...step.values, [setting]: text } };
  }, dragged ? `${id}.${setting}` : '');
}

/** @param {string} name @param {Record<string, string>} [values] */
export function addStep(name, values = {}) {
  const step = { id: nextId++, name, off: false, values };
  edit((d) => {
    const at = d.steps.length ? Math.min(selected.value + 1, d.steps.length) : 0;
    queueMicrotask(() => (selected.value = at));
    return { ...d, steps: [...d.steps.slice(0, at), step, ...d.steps.slice(at)] };
  });
}

/** Applies a look: its filters take the place of those that are there, or follow them.
 * @param {{steps: {name: string, off: boolean, values: Record<string, string>}[], seed: string | null}} look @param {boolean} follow
 * @param {string} [name] */
export function applyLook(look, follow, name) {
  const steps = look.steps.map((s) => ({ ...s, id: nextId++ }));
  // A look in the place of the recipe must not be saved over that.
  edit((d) => ({ ...d, steps: [...(follow ? d.steps : []), ...steps], seed: follow ? d.seed : look.seed, look: follow ? d.look : name }), '', follow ? undefined : ['', null]);
  selected.value = doc.value.steps.length - 1;
}

/** @param {number} id */
export function removeStep(id) {
  edit((d) => ({ ...d, steps: d.steps.filter((s) => s.id !== id) }));
  selected.value = Math.max(0, Math.min(selected.value, doc.value.steps.length - 1));
}

/** @param {number} from @param {number} to */
export function moveStep(from, to) {
  const steps = [...doc.value.steps];
  if (to < 0 || to >= steps.length || from === to) return;
  steps.splice(to, 0, ...steps.splice(from, 1));
  edit((d) => ({ ...d, steps }));
  selected.value = to;
}

/** The text that the recipe was opened from, as the server takes it: with the filter of it that each filter was. */
export const baseAsked = () => base.value && {
  text: base.value.text, origins: doc.value.steps.map((s) => (s.origin && s.origin[0] === base.value?.id ? s.origin[1] : null)),
};

/** `10-29,50`, as the server writes frames that are cut out. @param {Record<string, string>} texts @returns {Doc['cuts']} */
const cutsOf = (texts) => Object.fromEntries(Object.entries(texts).map(([path, text]) => [ownPath(path), text.split(',').map((part) => {
  const [, a, b = a] = /^\s*(-?\d+)(?:-(-?\d+))?\s*$/.exec(part) ?? [];
  return /** @type {[number, number]} */ ([Number(a), Number(b)]);
}).filter(([a, b]) => a <= b).sort((x, y) => x[0] - y[0])]));

/** A recipe from the server or a file in the place of the one that is there.
 * @param {any} recipe @param {{text: string, origins?: (number | null)[]} | null} [from] the text that it was opened from
 * @param {Record<string, string>} [drafts] */
export function replaceRecipe(recipe, from = null, drafts = {}) {
  const id = nextId++;
  const steps = recipe.steps.map((/** @type {any} */ s, /** @type {number} */ i) => {
    const origin = from ? (from.origins ? from.origins[i] : i) : null;
    return { id: nextId++, name: s.name, off: s.off, values: s.values, ...(origin === null ? {} : { origin: [id, origin] }) };
  });
  edit((d) => ({ steps, seed: recipe.seed ?? null, look: recipe.look, drafts, cuts: { ...d.cuts, ...cutsOf(recipe.cuts ?? {}) },
    deinterlace: { ...d.deinterlace, ...Object.fromEntries(Object.entries(recipe.deinterlace ?? {}).map(([path, graph]) => [ownPath(path), graph])) },
  }), '', [recipePath.value, from && { id, text: from.text }]);
  selected.value = 0;
}

export const selectedStep = computed(() => doc.value.steps[selected.value] ?? null);
/** @param {string} name */
export const entry = (name) => catalog.value.find((f) => f.name === name);
/** @param {Step} step @param {string} id */
export const settingOf = (step, id) => {
  const filter = entry(step.name);
  return filter && [...filter.settings, ...filter.common].find((s) => s.id === id);
};

// ---- what the server makes of it ----

/** The recipe as the server takes it. */
export const plainDoc = () => ({
  cuts: Object.fromEntries(Object.entries(doc.value.cuts).filter(([, list]) => list.length).sort()
    .map(([path, list]) => [path, list.map((range) => range.join('-')).join(',')])),
  deinterlace: Object.fromEntries(Object.entries(doc.value.deinterlace).filter(([, graph]) => graph).sort()),
  seed: doc.value.seed || null,
  steps: doc.value.steps.map(({ name, off, values }) => ({ name, off, values: Object.fromEntries(Object.entries(values).sort()) })),
});

/** Sends the recipe to the server; of many changes in a row the last one counts. Done when that has been answered. */
export const check = latest(async () => {
  try {
    const recipe = plainDoc();
    const answer = await post('/recipe', { clip: clip.value?.id ?? null, recipe, base: baseAsked(), drafts: doc.value.drafts });
    const was = checked.value?.made;
    // The panes ask for the picture before the rest of the page is drawn anew; what they ask for depends on its size.
    if (!answer.faults.length && was && was.width === answer.made?.width && was.height === answer.made.height) key.value = answer.key;
    batch(() => {
      checked.value = answer;
      if (answer.faults.length) return;
      key.value = answer.key;
      keyIsPlain.value = !recipe.steps.some((s) => !s.off);
    });
  } catch (error) {
    if (!isGone(error) || !clip.value) return report(error);
    // Opened again, it is another clip, for which the recipe is checked anew.
    await openAs(clip.value.path).then((opened) => (clip.value = opened), report);
  }
});

effect(() => {
  void doc.value;
  void clip.value;
  // The server works on it while the page is drawn anew.
  if (catalog.value.length) untracked(check);
});

/** Clips whose length the server has told: perhaps before its answer to the request that opened them has come. */
const toldClips = new Set();
/** The server knows the length of a clip. @param {number} id */
export async function clipTold(id) {
  toldClips.add(id);
  if (clip.value?.id !== id) return;
  const told = await get(`/clip/${id}`);
  batch(() => {
    if (clip.value?.id !== id) return;
    clip.value = told;
    seek(frame.value);
  });
}

/** Of a clip that has been scanned. */
const timed = computed(() => (clip.value?.variable && !clip.value.estimated ? clip.value.id : null));
effect(() => {
  const id = timed.value;
  begins.value = null;
  if (id !== null) {
    get(`/clip/${id}/times`).then(({ seconds }) => {
      if (timed.value === id && seconds.length > 1) begins.value = seconds;
    }, report);
  }
});

/** The one form of a clip's path, by which it is known: below the studio's folder without that. @param {string} path */
export const ownPath = (path) => (path.startsWith(`${folder.value}/`) ? path.slice(folder.value.length + 1) : path);

/** @param {string} path @returns {Promise<Clip>} */
export const openAs = (path, { lavfi = doc.value.deinterlace[ownPath(path)], raw = raws.value[ownPath(path)], tags = retags.value[ownPath(path)] } = {}) =>
  post('/open', { path: ownPath(path), lavfi, raw, tags: tags ?? {} }).then((opened) => (opened.estimated && toldClips.has(opened.id) ? get(`/clip/${opened.id}`) : opened));

/** @param {string} path */
export async function openClip(path) {
  if (/\.(yuv|raw|rgb)$/i.test(path) && !raws.value[path]) {
    const { describeDialog } = await import('./interpret.js');
    // After the window in which the file was chosen.
    setTimeout(() => describeDialog(path));
    return;
  }
  const opened = await openAs(path);
  const isSame = clip.value?.width === opened.width && clip.value.height === opened.height;
  batch(() => {
    // Another clip is seen from its start.
    if (clip.value && clip.value.path !== opened.path) frame.value = opened.first;
    clip.value = opened;
    recent.value = [opened.path, ...recent.value.filter((p) => p !== opened.path)].slice(0, 8);
    selection.value = null;
    markers.value = [];
    area.value = null;
    frame.value = Math.max(opened.first, Math.min(opened.last, frame.value));
    if (!isSame) view.zoom.value = 0;
    view.plane.value = -1;
  });
  opened.notes.forEach((/** @type {string} */ note) => toast(note));
}

/** @param {number} n */
export function seek(n) {
  const c = clip.value;
  if (c) frame.value = Math.max(c.first, Math.min(c.last, Math.round(n)));
}

rested(400, () => (timing.value && key.value && clip.value ? [key.value, clip.value.id, frame.value] : null), ([of, id, n], stop) =>
  get(`/times/${id}/${of}/${n}`, stop)
    .then((got) => (times.value = { key: String(of), list: got.milliseconds }), (error) => isGone(error) || report(error)));

/** Filters that make something as fine as grain, which smaller views and some encoders lose. */
export const fine = ['grain', 'noise', 'av1grain', 'dust'];
/** @param {{name: string, off: boolean}[]} steps */
export const isFine = (steps = doc.value.steps) => steps.some((s) => !s.off && fine.includes(s.name));

/** The frames of the selection, or all. @returns {[number, number]} */
export const range = () => selection.value ?? [clip.value?.first ?? 0, clip.value?.last ?? 0];

/** What can be typed for a frame, when something else was. */
export const notTime = 'A frame (48), a distance (+100), seconds (398.4s), a time (1:02.5) or a timecode (00:00:02:12)';
/** The frame that a text names: `48`, `+100`, `398.4s`, `1:02.5` or timecode, `00:00:02:12`. @param {string} text */
export function frameOf(text) {
  const c = clip.value;
  const said = text.trim();
  const parts = said.replace(/s$/, '').split(/[:;]/).map(Number);
  if (!c || !said || !parts.every((p) => Number.isFinite(p) && (p >= 0 || parts.length === 1))) return null;
  if (/^[+-]\d+$/.test(said)) return frame.value + Number(said);
  if (/^\d+$/.test(said)) return Number(said);
  if (parts.length === 4) return c.first + framesOf(said, rate.value, ownCode().includes(';')) - framesOf(ownCode(), rate.value);
  if (parts.length > 3 || (parts.length === 1 && !said.endsWith('s'))) return null;
  return frameAt(parts.reduce((all, p) => all * 60 + p, 0));
}

/** When a frame begins, in seconds after the first; parts of frames pass evenly. @param {number} n */
export function timeOf(n) {
  const c = clip.value;
  const at = n - (c?.first ?? 0);
  const all = begins.value;
  if (!c || !all) return c ? (at * c.rate[1]) / c.rate[0] : 0;
  const i = Math.max(0, Math.min(all.length - 2, Math.floor(at)));
  return all[i] + (at - i) * (all[i + 1] - all[i]);
}

/** The frame that is shown at a time. @param {number} seconds */
export function frameAt(seconds) {
  const c = clip.value;
  if (!c) return 0;
  const all = begins.value;
  if (!all) return c.first + Math.floor((seconds * c.rate[0]) / c.rate[1] + 1e-6);
  let [low, high] = [0, all.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (all[middle] <= seconds + 1e-9) low = middle;
    else high = middle;
  }
  return c.first + low;
}

/** The timecode of the first frame. */
const ownCode = () => clip.value?.details.find(([id]) => id === 'timecode')?.[1] ?? '00:00:00:00';

/** The timecode of a frame, from the clip's own or from 0. @param {number} n */
export const codeText = (n) => codeAt(framesOf(ownCode(), rate.value) + n - (clip.value?.first ?? 0), rate.value, ownCode().includes(';'));

/** `00:00:02.000` @param {number} n */
export function timeText(n) {
  const ms = Math.round(timeOf(n) * 1000);
  return `${[ms / 3600000, (ms / 60000) % 60, (ms / 1000) % 60].map(two).join(':')}.${String(ms % 1000).padStart(3, '0')}`;
}

// ---- unsaved work ----

/** @typedef {Record<string, import('./vendor/signals-core.js').Signal<any>>} Kept */
/** What is kept of the page between runs of the studio, as it is. @type {Kept} */
const ofPage = { scale, timecode, raws, retags, recent, keys: userKeys };
/** And of the work. @type {Kept} */
const ofWork = { frame, selection, markers, references };

/** Everything that is kept between runs. */
export const keepsake = () => ({
  tab: tab(),
  when: Date.now(),
  clip: clip.value?.path ?? null,
  ...Object.fromEntries(Object.entries({ ...ofPage, ...ofWork })
    // Another frame alone is nothing to store anew.
    .map(([id, kept]) => [id, kept === frame ? frame.peek() : kept.value])),
  sizes: [sizes.dock.value, sizes.side.value],
  layout: [view.layout.value, dock.value, dockOpen.value, view.hints.value],
  recipe: { ...plainDoc(), look: doc.value.look },
  base: baseAsked(),
  recipePath: recipePath.value,
  savedToml: savedToml.value,
  drafts: doc.value.drafts,
  cuts: doc.value.cuts,
  deinterlace: doc.value.deinterlace,
  // The contents of the files from which recipe and drafts were made, to notice changes by other programs.
  originals: Object.fromEntries(Object.entries(originals.value).filter(([path]) => path === recipePath.value || path in doc.value.drafts)),
  dirty: dirty.value || unsavedEffects.value.length > 0,
});

/** Takes what was kept of the page. @param {any} saved */
export function restorePage(saved) {
  restore(ofPage, saved);
  [sizes.dock.value, sizes.side.value] = saved.sizes ?? [0, 0];
  [view.layout.value, dock.value, dockOpen.value, view.hints.value] = saved.layout ?? ['side', 'curves', true, true];
}

/** @param {Kept} kept @param {any} saved */
const restore = (kept, saved) => Object.entries(kept).forEach(([id, one]) => (one.value = saved[id] ?? one.value));
/** Takes what was kept of the work, apart from the recipe. @param {any} saved */
export const restoreWork = (saved) => restore(ofWork, saved);

export { batch, computed, effect, signal, untracked, get, post };

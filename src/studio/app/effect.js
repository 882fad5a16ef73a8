// @ts-check Effects of particles, edited as the files that they are. The server changes single keys of the text; the recipe is
// checked with that text at once, and the file is written only when it is saved.

import { html, nothing } from './vendor/lit-html.js';
import { ApiError, get, post } from './api.js';
import { batch, doc, edit, editStep, effect, entry, messageOf, originals, report, reported, selectedStep, settingOf, signal } from './state.js';
import { colourText, openCurve, pointsField, stepped } from './controls.js';
import { isCurve, short } from './moving.js';
import { saveFile, writeFile } from './dialogs.js';
import { fileDialog, inLastFolder } from './files.js';
import { icon } from './keys.js';

/** @typedef {import('./state.js').Step} Step */
/** @typedef {{id: string, unit: string, help: string, takes: string, kind: string, min?: number, max?: number, choices?: string[]}} LayerKey */
/** @typedef {{effect: Record<string, string>, layers: Record<string, string>[]}} Said */
/** @typedef {{do: 'set', layer: number | null, key: string, value: string | null} | {do: 'copy' | 'remove' | 'up', layer: number}} Change */

/** The keys that a layer may have, and how many layers there may be. */
const known = signal(/** @type {{layer: LayerKey[], most: number}} */ ({ layer: [], most: 0 }));
/** The filter whose effect is open. */
const open = signal(0);
const layer = signal(0);
/** What the texts of effects say. @type {Map<string, Said>} */
const read = new Map();
/** Counts what has been read. */
const reads = signal(0);
/** Values that are on their way to the server, by layer and key: they are shown as if they had arrived. */
const pending = signal(/** @type {Map<string, string | null>} */ (new Map()));
const problem = signal(/** @type {null | {spot: string, text: string}} */ (null));

/** @param {number | null} layer @param {string} key */
const spotOf = (layer, key) => `${layer ?? ''}.${key}`;
/** @param {string} path */
const textOf = (path) => doc.value.drafts[path] ?? originals.value[path];

/** The effect file of a filter whose effect is open, and what it says. @param {Step | null} step */
function opened(step) {
  void reads.value;
  const path = step?.id === open.value ? step.values.effect : undefined;
  const said = path === undefined ? undefined : read.get(textOf(path));
  return path !== undefined && said ? { path, said } : null;
}

/** The value of a key as TOML. @param {Said} said @param {number | null} n @param {string} key */
function valueOf(said, n, key) {
  const spot = spotOf(n, key);
  const value = pending.value.has(spot) ? pending.value.get(spot) : (n === null ? said.effect : said.layers[n] ?? {})[key];
  return value ?? undefined;
}

/** @type {{path: string, spot: string, change: Change, dragged: boolean}[]} */
let queue = [];
let working = false;

/** Changes an effect. Of several values for one key the last one counts; those of a drag are undone in one step.
 * @param {string} path @param {Change} one @param {boolean} [dragged] */
async function change(path, one, dragged = false) {
  const spot = one.do === 'set' ? spotOf(one.layer, one.key) : '';
  if (one.do === 'set') pending.value = new Map(pending.value).set(spot, one.value);
  queue = [...queue.filter((q) => !spot || q.path !== path || q.spot !== spot), { path, spot, change: one, dragged }];
  if (working) return;
  working = true;
  for (let next = queue.shift(); next; next = queue.shift()) {
    const now = next;
    try {
      const got = await post('/effect', { text: textOf(now.path), change: now.change });
      read.set(got.text, got);
      edit((d) => ({ ...d, drafts: { ...d.drafts, [now.path]: got.text } }), now.dragged ? `${now.path}/${now.spot}` : '');
      problem.value = null;
    } catch (error) {
      if (!(error instanceof ApiError)) report(error);
      problem.value = { spot: now.spot, text: messageOf(error) };
    }
    if (!queue.some((q) => q.spot === now.spot)) pending.value = new Map([...pending.value].filter(([spot]) => spot !== now.spot));
  }
  working = false;
}

/** The curves of an effect that is open, as the curve editor takes them. @param {Step} step */
export function effectCurves(step) {
  const at = opened(step);
  if (!at) return [];
  return at.said.layers.flatMap((_, n) => known.value.layer.filter((k) => k.kind === 'rate' || k.kind === 'path').flatMap((k) => {
    const text = word(valueOf(at.said, n, k.id));
    if (!isCurve(text)) return [];
    const setting = { id: k.id, label: `${layerName(at.said, n)}, ${k.id}`, kind: k.kind === 'path' ? 'position' : 'number', unit: k.unit, min: k.min, max: k.max, step: k.kind === 'path' ? undefined : 10 ** Math.floor(Math.log10(Math.max(1, ...text.split(';').map((part) => Number(part.split('=')[1])).filter(Number.isFinite))) - 1), animatable: true };
    return [{
      step, id: k.id, key: `effect.${n}.${k.id}`, text, name: `${step.id}.effect.${n}.${k.id}`, setting, layer: true,
      set: (/** @type {string | null} */ value, dragged = true) =>
        change(at.path, { do: 'set', layer: n, key: k.id, value: value && isCurve(value) ? JSON.stringify(value) : value }, dragged),
    }];
  }));
}

// ---- files ----

/** Opens the effect of a filter; a preset becomes a file first. */
export const openEffect = reported(async (/** @type {Step} */ step) => {
  if (!known.value.layer.length) known.value = await get('/effect');
  const path = step.values.effect;
  if (path === undefined) return presetToFile(step);
  if (doc.value.drafts[path] === undefined || originals.value[path] === undefined) await load(path);
  show(step.id);
});

/** Shows an effect from its first layer on. @param {number} id of its filter */
function show(id) {
  batch(() => {
    [open.value, layer.value, problem.value] = [id, 0, null];
  });
}

/** @param {string} path */
async function load(path) {
  const { text } = await get(`/file?${new URLSearchParams({ path })}`);
  originals.value = { ...originals.value, [path]: text };
}

/** What a preset with the settings that are part of an effect draws, as a file in its place. @param {Step} step */
async function presetToFile(step) {
  const { id, name, values } = step;
  const { chain } = await post('/recipe', { clip: null, recipe: { steps: [{ name, values, off: false }] } });
  const { text } = await post('/effect', { chain });
  saveFile('Edit the preset as an effect file', inLastFolder(`${values.preset ?? 'effect'}.toml`), async (path) => {
    if (!(await write(path, text))) return false;
    editStep(id, (s) => {
      const { preset, blend, light, colour, ...values } = s.values;
      return { ...s, values: { ...values, effect: path } };
    });
    show(id);
    return true;
  });
}

/** Changes that were made while the file was written stay unsaved. @param {string} path @param {string} text @param {string} [was] */
async function write(path, text, was) {
  if (!(await writeFile(path, text, was))) return false;
  const { [path]: draft, ...drafts } = doc.value.drafts;
  if (draft === text) doc.value = { ...doc.value, drafts };
  return true;
}

/** Saves into the file that was opened. What somebody else has written there since then is not lost unasked.
 * @param {string} path */
const save = (path) => write(path, textOf(path), originals.value[path]).catch(report);

/** @param {Step} step @param {string} path */
function saveAs(step, path) {
  saveFile('Save the effect', path, async (to) => {
    if (!(await write(to, textOf(path)))) return false;
    if (to !== path) {
      const { [path]: _, ...drafts } = doc.value.drafts;
      edit((d) => ({ ...d, drafts, steps: d.steps.map((s) => (s.id === step.id ? { ...s, values: { ...s.values, effect: to } } : s)) }));
    }
    return true;
  });
}

// ---- what is seen ----

/** The text of a TOML string. @param {string | undefined} toml */
function word(toml = '') {
  if (/^'[^']*'$/.test(toml)) return toml.slice(1, -1);
  const found = list(toml);
  return typeof found === 'string' ? found : toml;
}

/** A value of TOML as one of JavaScript, where both write it in the same way. @param {string | undefined} toml @returns {any} */
function list(toml) {
  try {
    return JSON.parse(toml ?? 'null');
  } catch {
    return undefined;
  }
}

/** A colour as the browser takes it: `#rrggbb`, or red, green and blue from 0 to 1. @param {any} colour */
const hexOf = (colour) =>
  Array.isArray(colour) && colour.length === 3 && colour.every(Number.isFinite) ? colourText(colour) : /^#[\da-f]{6}$/i.test(colour) ? String(colour) : '';

/** @param {Said} said @param {number} n */
const layerName = (said, n) => `Layer ${n + 1}${said.layers[n]?.name ? ` ${word(said.layers[n].name)}` : ''}`;

/** A line for a key. @param {string} path @param {Said} said @param {number | null} n @param {LayerKey} k @param {Step} step */
function line(path, said, n, k, step) {
  const value = valueOf(said, n, k.id);
  const set = (/** @type {string | null} */ to, dragged = false) => change(path, { do: 'set', layer: n, key: k.id, value: to }, dragged);
  const id = `e-${step.id}-${n ?? 'all'}-${k.id}`;
  const fault = problem.value?.spot === spotOf(n, k.id) ? problem.value.text : '';
  const moves = k.kind === 'rate' && isCurve(word(value));
  return html`<div class="setting given ${fault ? 'faulty' : ''}" data-key=${k.id}>
    <label for=${id} title=${`${k.help}${k.unit ? ` [${k.unit}]` : ''} Takes ${k.takes}.`}>${k.id}</label>
    <div class="value">${field(k, value ?? '', set, id, path)}</div>
    <span class="tools">
      ${k.kind === 'rate' ? html`<button class="icon ${moves ? 'lit' : ''}" aria-pressed=${moves} aria-label="${k.id}: animate" title="Animate: use a curve instead of a number"
          @click=${() => {
            if (!moves) set(JSON.stringify(`0=${value ?? 0}`));
            openCurve(step, `effect.${n}.${k.id}`);
          }}>${icon('key')}</button>` : html`<i></i>`}
      ${n === null ? nothing : html`<button class="icon" aria-label="${k.id}: remove" title="Remove the key: its default is used" @click=${() => set(null)}>${icon('none')}</button>`}
    </span>
    ${fault ? html`<p class="fault" role="alert">${fault}</p>` : nothing}
  </div>`;
}

/** @param {LayerKey} k @param {string} value as TOML @param {(to: string | null, dragged?: boolean) => void} set @param {string} id @param {string} path */
function field(k, value, set, id, path) {
  const now = list(value);
  const plain = (/** @type {(text: string) => string} */ toml = (t) => t, shown = value) => html`<input id=${id} class="text digits" type="text" spellcheck="false" autocomplete="off"
    .value=${shown} @change=${(/** @type {any} */ e) => set(toml(e.target.value.trim()))}>`;
  switch (k.kind) {
    case 'number':
    case 'whole':
      return typeof now === 'number' ? number(k, now, set, id, k.id) : plain();
    case 'spread': {
      const ends = typeof now === 'number' ? [now, now] : now;
      if (!Array.isArray(ends) || ends.length !== 2 || !ends.every(Number.isFinite)) return plain();
      const put = (/** @type {number} */ at) => (/** @type {string | null} */ to) => {
        const all = ends.map((v, i) => (i === at ? to ?? '' : short(v)));
        set(all[0] === all[1] ? all[0] : `[${all.join(', ')}]`);
      };
      return html`${number(k, ends[0], put(0), id, `${k.id}, lowest`)}<span class="dim">to</span>${number(k, ends[1], put(1), '', `${k.id}, highest`)}`;
    }
    case 'over': {
      const points = typeof now === 'number' ? [[0, now]] : now;
      if (!Array.isArray(points)) return plain();
      const most = Math.max(...points.map((p) => p[1]));
      return pointsField(points, { low: 0, high: Math.min(k.max ?? Infinity, Math.max(1, most * 1.25)), min: 0, max: k.max ?? 1e9 },
        (all) => set(`[${all.map((p) => `[${short(p[0], 0.001)}, ${short(p[1], 0.001)}]`).join(', ')}]`, true), plain(), [], ['birth', 'end of life']);
    }
    case 'colours': {
      const all = typeof now === 'string' || typeof now?.[0] === 'number' ? [now] : now;
      const hex = Array.isArray(all) ? all.map(hexOf) : [''];
      if (!hex.length || !hex.every(Boolean)) return plain();
      const put = (/** @type {unknown[]} */ to, dragged = false) => set(JSON.stringify(to), dragged);
      return html`<span class="wells">${hex.map((c, i) => html`<input type="color" id=${i ? nothing : id} aria-label="Colour ${i + 1}" .value=${c}
          @input=${(/** @type {any} */ e) => put(all.map((/** @type {unknown} */ o, /** @type {number} */ n) => (n === i ? e.target.value : o)), true)}>`)}
        <button class="icon small" aria-label="One more colour" title="One more colour" @click=${() => put([...all, all[all.length - 1]])}>${icon('add')}</button>
        <button class="icon small" aria-label="One colour less" title="One colour less" ?disabled=${all.length < 2} @click=${() => put(all.slice(0, -1))}>${icon('none')}</button></span>`;
    }
    case 'choice':
      return html`<select id=${id} @change=${(/** @type {any} */ e) => set(JSON.stringify(e.target.value))}>
        ${k.choices?.map((c) => html`<option .selected=${c === word(value)}>${c}</option>`)}</select>`;
    case 'picture': {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      return html`${plain(JSON.stringify, word(value))}<button class="icon" aria-label="${k.id}: choose a file" title="Choose a file in the folder of the effect"
        @click=${() => fileDialog(k.id, 'image', (file) => set(JSON.stringify(file.startsWith(folder) ? file.slice(folder.length) : file)))}>${icon('file')}</button>`;
    }
    case 'word':
    case 'path':
      return plain(JSON.stringify, word(value));
    case 'rate':
      return typeof now === 'number' ? number(k, now, (to) => set(to !== null && isCurve(to) ? JSON.stringify(to) : to), id, k.id) : plain((t) => (isCurve(t) ? JSON.stringify(t) : t), word(value));
    default:
      return plain();
  }
}

/** A number that arrows change by a twentieth or so, with Shift by ten times that.
 * @param {LayerKey} k @param {number} now @param {(to: string | null, dragged?: boolean) => void} set @param {string} id @param {string} name */
function number(k, now, set, id, name) {
  const step = k.kind === 'whole' ? 1 : 10 ** Math.floor(Math.log10(Math.max(Math.abs(now), 0.01)) - 1);
  const limited = (/** @type {number} */ v) => Math.max(k.min ?? -Infinity, Math.min(k.max ?? Infinity, v));
  return html`<input id=${id || nothing} aria-label=${name} class="number" type="text" spellcheck="false" autocomplete="off" .value=${short(now)}
    @keydown=${(/** @type {KeyboardEvent} */ e) => {
      const by = stepped(e);
      if (by) set(short(limited(now + step * by), step), true);
    }}
    @change=${(/** @type {any} */ e) => set(e.target.value.trim() || null)}>`;
}

/** What is said of the whole effect: as the settings of the filter that take its place. @param {Step} step */
const wholeKeys = (step) => ['blend', 'light', 'wind'].map((id) => {
  const s = settingOf(step, id);
  const choices = s?.choices?.map((/** @type {any} */ c) => c.id);
  return { id, unit: s?.unit ?? '', help: s?.help ?? '', takes: choices ? `one of ${choices.join(', ')}` : 'a number', kind: choices ? 'choice' : 'number', min: s?.min, max: s?.max, choices };
});

/** The button that opens the effect, and the effect when it is open. @param {Step} step */
export function effectTemplate(step) {
  if (!entry(step.name)?.settings.some((/** @type {any} */ s) => s.kind === 'effect')) return nothing;
  const at = opened(step);
  if (!at) {
    return html`<button class="wide" title="Edit its layers, with their values over life, in a file" @click=${() => openEffect(step)}>${step.values.effect === undefined ? 'Edit the preset’s effect…' : 'Edit the effect'}</button>`;
  }
  const { path, said } = at;
  const n = Math.min(layer.value, said.layers.length - 1);
  const given = Object.keys(said.layers[n] ?? {});
  const added = [...pending.value].filter(([spot, v]) => v !== null && spot.startsWith(`${n}.`)).map(([spot]) => spot.slice(`${n}.`.length));
  const shown = known.value.layer.filter((k) => given.includes(k.id) || added.includes(k.id));
  const others = known.value.layer.filter((k) => !shown.includes(k));
  const unsaved = doc.value.drafts[path] !== undefined && doc.value.drafts[path] !== originals.value[path];
  const general = problem.value && !problem.value.spot ? problem.value.text : '';
  return html`<details open class="effect"><summary>Effect: ${path.split('/').pop()}${unsaved ? ' •' : ''}</summary>
    <div class="effectbar">
      <button ?disabled=${!unsaved} @click=${() => save(path)}>Save</button><button @click=${() => saveAs(step, path)}>Save as</button>
      <button @click=${() => (open.value = 0)}>Close</button></div>
    ${wholeKeys(step).filter((k) => k.id in said.effect).map((k) => line(path, said, null, k, step))}
    <div class="effectbar"><select aria-label="Layer" @change=${(/** @type {any} */ e) => (layer.value = Number(e.target.value))}>
        ${said.layers.map((_, i) => html`<option value=${i} .selected=${i === n}>${layerName(said, i)} of ${said.layers.length}</option>`)}</select>
      <button class="icon" aria-label="Draw the layer earlier" title="Draw the layer earlier" ?disabled=${n < 1} @click=${() => change(path, { do: 'up', layer: n }).then(() => (layer.value = n - 1))}>${icon('up')}</button>
      <button class="icon" aria-label="Copy the layer" title="Copy the layer" ?disabled=${said.layers.length >= known.value.most} @click=${() => change(path, { do: 'copy', layer: n }).then(() => (layer.value = n + 1))}>${icon('add')}</button>
      <button class="icon" aria-label="Remove the layer" title="Remove the layer" ?disabled=${said.layers.length < 2} @click=${() => change(path, { do: 'remove', layer: n })}>${icon('none')}</button></div>
    ${general ? html`<p class="fault" role="alert">${general}</p>` : nothing}
    ${shown.map((k) => line(path, said, n, k, step))}
    <select class="wide" aria-label="Give another key" @change=${(/** @type {any} */ e) => {
      const k = known.value.layer.find((one) => one.id === e.target.value);
      e.target.value = '';
      if (k) change(path, { do: 'set', layer: n, key: k.id, value: first(k) });
    }}><option value="">Give another key…</option>${others.map((k) => html`<option value=${k.id} title="${k.help} Takes ${k.takes}.">${k.id}</option>`)}</select>
    ${problem.value && !shown.some((k) => problem.value?.spot === spotOf(n, k.id)) && problem.value.spot.startsWith(`${n}.`) ? html`<p class="fault" role="alert">${problem.value.text}</p>` : nothing}
  </details>`;
}

/** A value to begin with. @param {LayerKey} k */
function first(k) {
  const near = String(Math.max(k.min ?? 0, Math.min(k.max ?? 1, 1)));
  switch (k.kind) {
    case 'choice': return JSON.stringify(k.choices?.[0] ?? '');
    case 'over': return '[[0, 1], [1, 0]]';
    case 'colours': return '["#ffffff"]';
    case 'word':
    case 'picture': return '""';
    case 'path': return '"0=0.5,0.5"';
    case 'toml': return /\[x, y, z\]/.test(k.takes) ? '[0, 0, 0]' : /\[x, y\]/.test(k.takes) ? `[${near}, ${near}]` : '[[0, 1]]';
    default: return near;
  }
}

export function startEffects() {
  // What an undone change or a recipe brings is read too.
  effect(() => {
    const step = selectedStep.value;
    const path = step?.id === open.value ? step.values.effect : undefined;
    const text = path === undefined ? undefined : textOf(path);
    if (path !== undefined && text === undefined) load(path).catch(report);
    if (text === undefined || read.has(text)) return;
    if (read.size > 500) read.clear();
    post('/effect', { text }).then((got) => {
      read.set(text, got);
      reads.value++;
    }, report);
  });
}


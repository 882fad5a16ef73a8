// @ts-check Windows over the page: files, filters to add, commands, keys, renders.

import { html, nothing, render } from './vendor/lit-html.js';
import { ApiError, get, has, post } from './api.js';
import {
  addStep, applyLook, baseAsked, catalog, check, checked, clip, codeText, dirty, doc, effect, frame, frameOf, messageOf, notTime, originals, plainDoc, recipePath, replaceRecipe, report, savedToml, seek, signal, toast, unsavedEffects, userKeys,
} from './state.js';
import { cuts } from './cutting.js';
import { command, commands, fixedKeys, keyName, keysOf, keyText, pretty } from './keys.js';
import { fileDialog, inLastFolder } from './files.js';
import { startThumbs, withFilter } from './thumbs.js';
import { spoken } from './controls.js';
import { rank, synonyms } from './search.js';

/** @typedef {import('./keys.js').Command} Command */
/** What a window shows may use these. `attempt` closes the window when something is done, unless that is false; why it
 * failed is the `problem`, for which `fault` has the place. `submit` attempts what a form is for.
 * @typedef {{close: () => void, fault: () => unknown, problem: import('./vendor/signals-core.js').Signal<string>,
 *   attempt: (run: () => unknown) => Promise<void>, submit: (run: (form: any) => unknown) => (e: any) => void}} Parts */

/** Shows a window until it is closed. What it shows is made anew whenever a signal in it changes.
 * @param {string} title @param {(parts: Parts) => unknown} body @param {string} [kind] */
export function dialog(title, body, kind = '') {
  const element = document.createElement('dialog');
  element.className = kind;
  element.setAttribute('aria-label', title);
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const close = () => element.close();
  const problem = signal('');
  const fault = () => (problem.value ? html`<p class="fault" role="alert">${problem.value}</p>` : nothing);
  const attempt = async (/** @type {() => unknown} */ run) => {
    problem.value = '';
    try {
      if (await run() !== false) close();
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  const submit = (/** @type {(form: any) => unknown} */ run) => (/** @type {any} */ e) => {
    e.preventDefault();
    const { currentTarget } = e;
    attempt(() => run(currentTarget));
  };
  const parts = { close, fault, problem, attempt, submit };
  const stop = effect(() => render(html`<header><h1>${title}</h1><button class="icon" aria-label="Close" title="Close (Esc)" @click=${close}>×</button></header>${body(parts)}`, element));
  element.addEventListener('close', () => {
    stop();
    element.remove();
    before?.focus();
  });
  element.addEventListener('click', (e) => e.target === element && close());
  document.getElementById('dialogs')?.append(element);
  element.showModal();
  /** @type {HTMLElement | null} */ (element.querySelector('[autofocus]'))?.focus();
  return { element, ...parts };
}

/** Asks before something is lost. @param {string} text @param {string} yes @returns {Promise<boolean>} */
const confirm = (text, yes) => new Promise((resolve) => {
  const { element } = dialog('Confirm', ({ close, attempt }) => html`<p>${text}</p><footer><button @click=${close}>Cancel</button>
    <button class="main" autofocus @click=${() => attempt(() => resolve(true))}>${yes}</button></footer>`, 'narrow');
  element.addEventListener('close', () => resolve(false));
});

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 5000);
}

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is in the clipboard`);
  } catch {
    dialog(what, () => html`<textarea readonly rows="6" autofocus .value=${text} @focus=${(/** @type {any} */ e) => e.target.select()}></textarea>`);
  }
}

// ---- files ----

/** Asks before unsaved changes are lost. */
const mayLose = async () => !(dirty.value && checked.value || unsavedEffects.value.length) || confirm('The recipe has unsaved changes. Undo restores it.', 'Discard the changes');

/** @returns {Promise<boolean>} whether there is one */
export async function newRecipe() {
  if (!(await mayLose())) return false;
  await beginRecipe();
  if (cuts.value.length) toast(`The recipe is empty. What is cut out of the clip belongs to the clip, and stays so: ${keyText('sel.restore')} brings it back`);
  return true;
}

/** An empty recipe in the place of the one that is there; undo brings that back. */
export async function beginRecipe() {
  const none = { steps: [], seed: null };
  const toml = await asSaved(none);
  replaceRecipe(none);
  recipePath.value = '';
  savedToml.value = toml;
}

/** A recipe as it would be saved: what is already cut out of clips is no change of it, nor how they are deinterlaced.
 * @param {any} recipe @param {{text: string, origins: number[]} | null} [base] @returns {Promise<string>} */
export async function asSaved(recipe, base = null) {
  const { cuts: cut, deinterlace } = plainDoc();
  const all = { ...recipe, cuts: { ...cut, ...recipe.cuts }, deinterlace: { ...deinterlace, ...recipe.deinterlace } };
  return (await post('/recipe', { clip: null, recipe: all, base })).toml;
}

/** A recipe that was read from a file. @param {any} recipe @param {string} path @param {string} text as the page has it
 * @param {string} was as it stands in the file */
export async function openedRecipe(recipe, path, text, was) {
  const origins = recipe.steps.map((/** @type {unknown} */ _, /** @type {number} */ i) => i);
  const toml = await asSaved(recipe, { text, origins });
  replaceRecipe(recipe, { text });
  recipePath.value = path;
  savedToml.value = toml;
  originals.value = { ...originals.value, [path]: was };
}

/** @param {string} path @returns {Promise<boolean>} whether it is opened */
export async function openRecipeFile(path) {
  const { recipe: text, text: was } = await get(`/file?${new URLSearchParams({ path })}`);
  const recipe = await parsed({ toml: text });
  if (!(await mayLose())) return false;
  await openedRecipe(recipe, path, text, was);
  return true;
}

/** The recipe that a text is; an error says its line. @param {{toml: string} | {chain: string}} text */
const parsed = (text) => post('/recipe', { clip: null, ...text }).then((answer) => answer.recipe, (error) => {
  const line = error instanceof ApiError ? error.error.line : undefined;
  throw line ? new Error(`line ${line}: ${error.message}`) : error;
});

/** Writes what may exist: then it is replaced only if the user says so.
 * @param {(overwrite: boolean) => Promise<unknown>} put @returns {Promise<boolean>} whether it is written */
async function written(put) {
  try {
    await put(false);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
    if (!(await confirm(`${error.message}.`, 'Replace it'))) return false;
    await put(true);
  }
  return true;
}

/** Writes a file. One that exists is replaced without a question only if it still has the text that it `was` read with.
 * @param {string} path @param {string} text @param {string} [was] @param {boolean} [recipe] whether it is a recipe, in whose
 * file names of other files are relative to its folder @returns {Promise<boolean>} whether it is written */
export async function writeFile(path, text, was, recipe = false) {
  let stored = text;
  if (!(await written(async (overwrite) => ({ text: stored } = await post('/file', { path, text, was, overwrite, recipe }, 'PUT'))))) return false;
  originals.value = { ...originals.value, [path]: stored };
  toast(`saved as ${path}`);
  return true;
}

/** @param {string} path @param {string} [was] */
async function save(path, was) {
  await check();
  const text = checked.value?.toml;
  if (text === undefined) throw new Error('there is nothing to save yet');
  if (checked.value?.faults.length) throw new Error(`not saved: ${checked.value.faults[0].text}`);
  if (!(await writeFile(path, text, was, true))) return false;
  recipePath.value = path;
  savedToml.value = text;
  return true;
}

/** @param {boolean} as under another name */
export function saveRecipe(as) {
  const path = recipePath.value;
  if (path && !as) save(path, originals.value[path]).catch(report);
  else saveFile('Save the recipe', path || inLastFolder('look.toml'), save);
}

/** Asks for a name and writes a file. @param {string} title @param {string} name @param {(path: string) => Promise<boolean>} write */
export function saveFile(title, name, write) {
  fileDialog(title, 'recipe', (typed) => write(/\.toml$/i.test(typed) ? typed : `${typed}.toml`), { name, action: 'Save' });
}

/** Keeps the recipe among the user's own looks. */
export const keepLook = () => dialog('Keep as a look', ({ submit, fault }) => html`<form @submit=${submit(async (form) => {
    const name = form.querySelector('input').value.trim();
    await check();
    if (checked.value?.faults.length) throw new Error(`not kept: ${checked.value.faults[0].text}`);
    // What is cut out of a clip is no part of a look.
    const { toml: text } = await post('/recipe', { clip: null, recipe: { ...plainDoc(), cuts: {}, deinterlace: {} }, base: baseAsked(), drafts: doc.value.drafts });
    if (!(await written((overwrite) => post('/looks', { name, text, overwrite }, 'PUT')))) return false;
    toast(`${name} is one of your looks now`);
  })}><input class="text" autofocus required aria-label="Name of the look" placeholder="Name">
  <p class="dim">Looks (${keyText('look.gallery')}) shows it with every clip, and <code>--look NAME</code> renders with it.</p>
  ${fault()}<footer><button class="main">Keep</button></footer></form>`, 'narrow');

/** The recipe as TOML or a chain, to be copied or replaced. */
export function recipeText() {
  const text = signal(checked.value?.toml ?? '');
  const { problem } = dialog('Recipe as text', ({ fault, attempt }) => html`
    <textarea rows="18" spellcheck="false" autofocus aria-label="The recipe" .value=${text.value} @input=${(/** @type {any} */ e) => (text.value = e.target.value)}></textarea>
    ${fault()}
    ${has('file.open') ? nothing : html`<p class="dim">Save the text as NAME.toml to render with it: <code>grainfield render INPUT OUTPUT --recipe NAME.toml</code></p>`}
    <footer><span class="dim">TOML, or a chain such as noise=strength=6</span><button @click=${() => copy(text.value, 'the recipe')}>Copy</button>
    <button class="main" @click=${() => attempt(async () => {
      const isChain = !/^\s*(\[\[|#|\w+\s*=\s*["\d[])/.test(text.value) && text.value.trim() !== '';
      replaceRecipe(await parsed(isChain ? { chain: text.value } : { toml: text.value }));
    })}>Use it</button></footer>`, 'wide');
  // The text has no place for what cannot be read.
  problem.value = checked.value?.faults.map((f) => `left out: ${f.text}`).join('\n') ?? '';
}

// ---- filters, commands, keys ----

/** @typedef {{id: string, name: string, more: string, side?: string, group?: string, under?: string, run: () => void,
 *   filter?: {name: string, values: Record<string, string>}, look?: import('./gallery.js').Look['recipe']}} Choice */

/** A list that is searched by typing and gone through by arrows. Until something is typed, what is `under` another one
 * is folded: Right and Left, or its button, open and close it.
 * @param {string} title @param {Choice[]} first those with a filter or a look have a picture of what it makes
 * @param {import('./vendor/signals-core.js').Signal<Choice[]>} [later] what is known only once the list is open */
function chooser(title, first, later = signal([])) {
  const every = () => [...first, ...later.value];
  const typed = signal('');
  const at = signal(0);
  const unfolded = signal(/** @type {Set<string>} */ (new Set()));
  const fold = (/** @type {string} */ id, open = !unfolded.value.has(id)) => {
    const others = [...unfolded.value].filter((one) => one !== id);
    unfolded.value = new Set(open ? [...others, id] : others);
  };
  const below = (/** @type {string} */ id) => first.filter((one) => one.under === id).length;
  const found = () => {
    const all = every();
    if (!typed.value.trim()) return all.filter((one) => !one.under || unfolded.value.has(one.under));
    // A preset is called by its own name, its filter's is the title of all of them.
    const score = (/** @type {Choice} */ one) => rank(typed.value, [...(one.filter ? [one.filter.values.preset ?? one.filter.name, `${one.filter.name} ${one.filter.values.preset}`] : []), ...(one.under ? [] : [one.name]), ...(synonyms[one.id]?.split(' ') ?? [])],
      one.name, `${one.id} ${one.more} ${one.group ?? ''}`);
    return all.map((one) => ({ one, score: score(one) })).filter((s) => s.score >= 0).sort((a, b) => b.score - a.score).map((s) => s.one);
  };
  const { element } = dialog(title, ({ close }) => {
    const list = found();
    const use = (/** @type {Choice} */ one, byKey = false) => {
      close();
      one.run();
      // Who types goes on with the new filter. A setting would take the keys of commands.
      if (byKey && (one.filter || one.look)) requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector('#filters li.chosen .name'))?.focus());
    };
    return html`<input class="text search" type="search" autofocus role="combobox" aria-expanded="true" aria-controls="choices" aria-label="Search" placeholder="Search"
        aria-activedescendant=${list[at.value] ? `choice-${list[at.value].id}` : nothing} .value=${typed.value}
        @input=${(/** @type {any} */ e) => {
          typed.value = e.target.value;
          at.value = 0;
        }}
        @keydown=${(/** @type {KeyboardEvent} */ e) => {
          const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[e.key];
          if (by) {
            at.value = Math.max(0, Math.min(list.length - 1, at.value + by));
            queueMicrotask(() => element.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }));
          } else if ((e.key === 'ArrowRight' || e.key === 'ArrowLeft') && !typed.value && list[at.value]) {
            const owner = list[at.value].under ?? list[at.value].id;
            if (!below(owner)) return;
            fold(owner, e.key === 'ArrowRight');
            at.value = Math.max(0, list.findIndex((one) => one.id === (e.key === 'ArrowLeft' ? owner : list[at.value].id)));
          } else if (e.key === 'Enter' && list[at.value]) use(list[at.value], true);
          else if (e.key === 'Escape') close();
          else return;
          // For Escape the browser would only clear what is typed.
          e.preventDefault();
        }}>
      ${list.length ? nothing : html`<p class="empty" role="status">Nothing found for ‘${typed.value.trim()}’.</p>`}
      <ul id="choices" role="listbox" aria-label=${title}>${list.map((one, i) => html`${!typed.value && one.group && one.group !== list[i - 1]?.group && one.filter ? html`<li class="heading" role="presentation">${one.group}</li>` : nothing}
        <li id="choice-${one.id}" class=${one.under && !typed.value ? 'preset' : ''} role="option" aria-selected=${i === at.value} @click=${() => use(one)}>
        ${(one.filter || one.look) && clip.value ? html`<canvas class="thumb" width="1" height="1" data-choice=${one.id} aria-hidden="true"></canvas>` : nothing}
        <span class="name">${one.name}</span><span class="more">${one.more}</span><kbd>${one.side ?? ''}</kbd>${below(one.id) && !typed.value
          ? html`<span class="fold" title="Right opens them, Left closes them" @click=${(/** @type {Event} */ e) => {
              e.stopPropagation();
              fold(one.id);
            }}>${unfolded.value.has(one.id) ? '▾' : '▸'} ${below(one.id)} presets</span>` : nothing}</li>`)}</ul>`;
  }, 'chooser');
  const list = element.querySelector('ul');
  if (!list || !clip.value || !first.some((one) => one.filter)) return;
  element.classList.add('pictured');
  const stop = startThumbs(list, (id) => {
    const { filter, look } = every().find((one) => one.id === id) ?? {};
    if (look) return { recipe: { steps: look.steps, seed: look.seed }, alone: null };
    return filter ? withFilter(filter) : null;
  }, () => [typed.value, unfolded.value, later.value]);
  element.addEventListener('close', stop);
}

/** What filters are for, in the order of the list; a filter that is in none comes last. @type {Record<string, string[]>} */
const uses = {
  'Grain and noise': ['grain', 'noise', 'av1grain', 'dither'],
  'Film and tape': ['dust', 'scratches', 'weave', 'flicker', 'analog'],
  'Particles and effects': ['particles', 'sprites', 'overlay', 'text', 'fluid', 'flock', 'sand', 'atmosphere'],
  'Colour and light': ['levels', 'color', 'vignette', 'fade', 'invert', 'lut', 'glow', 'halation'],
  'Picture': ['denoise', 'blur', 'unsharp', 'deband', 'transform', 'scale', 'crop', 'pad', 'lavfi'],
};

/** Those that do nothing without a file. */
const ofFiles = ['overlay', 'lut'];

/** Filters by their use, and their presets folded below them. @returns {Choice[]} */
function filterChoices() {
  const names = Object.keys(uses);
  const use = (/** @type {{name: string}} */ f) => names.find((n) => uses[n].includes(f.name)) ?? 'Others';
  const order = (/** @type {{name: string}} */ f) => (names.indexOf(use(f)) + 1 || 99) * 100 + (uses[use(f)]?.indexOf(f.name) ?? 0);
  return catalog.value.filter((f) => has(`filter.add.${f.name}`)).sort((a, b) => order(a) - order(b)).flatMap((f) => {
    const presets = f.settings.find((/** @type {any} */ s) => s.id === 'preset')?.choices ?? [];
    return [
      { id: f.name, name: f.label, more: has('file.open') || !ofFiles.includes(f.name) ? f.help : `Needs files: in Grainfield’s program. ${f.help}`, group: use(f), filter: { name: f.name, values: {} }, run: () => addStep(f.name, f.name === 'scale' && clip.value ? { width: String(clip.value.width) } : {}) },
      ...presets.map((/** @type {any} */ p) => ({ id: `${f.name}-${p.id}`, name: `${f.label}: ${spoken(p.id)}`, more: p.help, group: use(f), under: f.name, filter: { name: f.name, values: { preset: p.id } }, run: () => addStep(f.name, { preset: p.id }) })),
    ];
  });
}

/** Looks are among what is found by typing. */
export function addFilterDialog() {
  // Not a filter of the recipe: the clip is opened with it.
  const clipped = commands.filter((c) => c.id === 'file.deinterlace' && c.can?.());
  const looks = signal(/** @type {Choice[]} */ ([]));
  chooser('Add a filter', [...filterChoices(), ...clipped.map((c) => ({ id: 'deinterlace', name: c.label, more: 'Makes whole frames of the fields of the clip, by FFmpeg’s bwdif, before all filters', group: 'Picture', run: c.run }))], looks);
  if (!clip.value || !has('look.gallery')) return;
  get('/looks').then((/** @type {import('./gallery.js').Look[]} */ list) => {
    looks.value = list.map(({ name, about, recipe }, i) => ({
      id: `look-${i}`, name: `Look: ${spoken(name)}`, more: doc.value.steps.length ? `Replaces the filters. ${about}` : about, under: 'looks', look: recipe,
      run: () => applyLook(recipe, false, name),
    }));
  }, report);
}

export function palette() {
  const able = commands.filter((c) => !c.can || c.can());
  const filters = filterChoices().map((one) => ({ ...one, name: `Add ${one.name}`, group: '', under: 'filters', filter: undefined }));
  chooser('Commands', [...able.map((c) => ({ id: c.id.replace('.', '-'), name: c.label, more: c.group, side: keysOf(c).map(pretty).join('  '), run: c.run })), ...filters]);
}

/** What `grainfield match` does, with its command line to be copied. */
export function matchDialog() {
  const line = 'grainfield match SCAN --clean PLATE -o grain.toml';
  dialog('Match grain', () => html`<p>This command measures the grain of a scan by its difference from a plate, the same picture without grain, and writes a recipe with the same grain: strength at each brightness, size and sharpness.
      Without <code>--clean PLATE</code> it measures where the picture stands still or is plain; ${keyText('recipe.open')} opens the recipe here.</p>
    <p><code>${line}</code></p>
    <footer><button class="main" autofocus @click=${() => copy(line, 'the command line')}>Copy</button></footer>`);
}

export function keysDialog() {
  const waiting = signal('');
  const taken = (/** @type {string} */ key, /** @type {string} */ id) => commands.find((c) => c.id !== id && keysOf(c).includes(key));
  const groups = Object.groupBy([...commands, ...fixedKeys], (c) => c.group);
  const shown = (/** @type {string[]} */ keys) => keys.map((key) => html`<kbd>${pretty(key)}</kbd> `);
  const button = (/** @type {Command} */ c) => html`<button class="key ${c.id in userKeys.value ? 'given' : ''}"
    aria-label="${c.label}: ${keysOf(c).map(pretty).join(' ') || 'no key'}"
    @click=${() => (waiting.value = c.id)}>${waiting.value === c.id ? 'press a key' : keysOf(c).length ? shown(keysOf(c).filter((k) => !k.endsWith('+Shift++'))) : '—'}</button>`;
  const { element } = dialog('Keys', () => html`
    <p class="dim">Click a key to change it; Backspace removes it. Keys are kept for this folder.</p>
    <div class="keygrid">${Object.entries(groups).map(([group, list]) => html`<section><h2>${group}</h2><table>${list?.map((c) => html`<tr>
      <td>${c.label}</td><td>${'id' in c ? button(/** @type {Command} */ (c)) : shown(c.keys)}</td></tr>`)}</table></section>`)}</div>
    <footer><button @click=${() => (userKeys.value = {})}>Reset</button></footer>`, 'wide');
  element.addEventListener('keydown', (e) => {
    const id = waiting.value;
    if (!id) return;
    e.preventDefault();
    e.stopPropagation();
    const key = e.key === 'Backspace' ? '' : keyName(e);
    if (!key && e.key !== 'Backspace') return;
    waiting.value = '';
    if (e.key === 'Escape') return;
    const other = key && taken(key, id);
    if (other) toast(`${pretty(key)} is ‘${other.label}’: give that another key first`, true);
    else userKeys.value = { ...userKeys.value, [id]: key };
  });
}

/** The properties of the file, as `grainfield probe` prints it. */
export function factsDialog() {
  const c = clip.value;
  if (!c) return;
  const all = [['path', c.path], ['picture', `${c.width}×${c.height} ${c.format}`], ['fields', c.lavfi ? `${c.fields}, by FFmpeg’s ${c.lavfi}` : c.fields], ['pixels', c.shape === 1 ? 'square' : `${Number(c.shape.toFixed(4))} times as wide as high`],
    ['colour', c.colour], ...(Object.keys(c.tags).length ? [['in the place of tags', Object.entries(c.tags).map((tag) => tag.join(' ')).join(', ')]] : []), ...(c.matrix && c.planes.includes('U') && !c.colour.includes(c.matrix) ? [['matrix', `not stated: ${c.matrix} is assumed`]] : []), ['frames', `${c.first} to ${c.estimated ? 'about ' : ''}${c.last}, ${c.rate[0]}/${c.rate[1]} a second${c.variable ? ', variable' : ''}`], ...c.details];
  dialog(c.name, ({ close }) => html`<table class="facts"><tbody>${all.map(([name, text]) => html`<tr><th>${name}</th><td>${text}</td></tr>`)}</tbody></table>
    <footer>${has('file.deinterlace') ? html`<button @click=${() => {
      close();
      command('file.deinterlace').run();
    }}>Deinterlace…</button>` : nothing}<button @click=${() => {
      close();
      command('file.tags').run();
    }}>Interpret…</button><button class="main" autofocus @click=${() => copy(all.map((row) => row.join(': ')).join('\n'), 'the list')}>Copy</button></footer>`, 'wide');
}

export const goDialog = () => dialog('Go to', ({ submit, fault }) => html`<form @submit=${submit((form) => {
    const field = form.querySelector('input');
    // What is not taken is typed anew.
    field.select();
    const to = frameOf(field.value);
    if (to === null) throw new Error(notTime);
    const c = clip.value;
    if (c && !c.estimated && (to < c.first || to > c.last)) {
      throw new Error(`The clip ends before: it has the frames ${c.first} to ${c.last}, ${codeText(c.first)} to ${codeText(c.last)}`);
    }
    seek(to);
  })}><input class="text digits" autofocus aria-label="Frame or time" .value=${String(frame.value)} @focus=${(/** @type {any} */ e) => e.target.select()}>
  ${fault()}<footer><button class="main">Go</button></footer></form>`, 'narrow');

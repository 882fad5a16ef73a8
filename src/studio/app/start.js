// @ts-check What is seen before a clip is open, and files that are dropped on the page.

import { html, nothing } from './vendor/lit-html.js';
import { get } from './api.js';
import { addStep, clip, doc, effect, openClip, recent, report, reported, seek, untracked } from './state.js';
import { beginRecipe, dialog, newRecipe, openRecipeFile } from './dialogs.js';
import { command } from './keys.js';

/** Folders that are searched for a dropped file. */
const FOLDERS = 60;

const chart = 'pattern:zoneplate:size=1280x720:frames=240';
/** @type {[string, string, () => unknown][]} */
const tries = [
  ['Film grain', 'on a test chart', () => addStep('grain', { preset: '16mm' })],
  ['Snow', 'falling over it', () => addStep('particles', { preset: 'snow' })],
  ['A fade from black', 'by a curve', () => addStep('fade', { amount: '0=1;48=0' })],
];

/** The filters of an example that nobody has changed: one's own clip begins without them. @type {import('./state.js').Step[]} */
let example = [];

/** @param {() => unknown} then */
const onChart = (then) => async () => {
  if (doc.value.steps === example) await beginRecipe();
  else if (doc.value.steps.length && !(await newRecipe())) return;
  await openClip(chart);
  seek(24);
  then();
  example = doc.value.steps;
};


export const startPage = () => html`<div class="start">
  <h1>Drop a clip here</h1>
  <p><button class="main" @click=${() => command('file.open').run()}>Open a clip (Ctrl+O)</button></p>
  ${recent.value.length ? html`<h2>Recent</h2><ul>${recent.value.map((path) => html`<li><button title=${path} @click=${() => openClip(path).catch(report)}>${path.split('/').pop()}</button></li>`)}</ul>` : nothing}
  <h2>Or try</h2>
  <ul>${tries.map(([name, more, run]) => html`<li><button @click=${reported(onChart(run))}>${name}</button> <span class="dim">${more}</span></li>`)}</ul></div>`;

/** Whether a list that names numbered images once, `IMG_%04d.jpg`, means this one too. @param {string} pattern @param {string} name */
function isOneOf(pattern, name) {
  const parts = pattern.split(/%0(\d+)d/);
  const [before, digits, after] = parts;
  const number = name.slice(before.length, name.length - (after ?? '').length);
  return parts.length === 3 && name.startsWith(before) && name.endsWith(after) && number.length >= Number(digits) && /^\d+$/.test(number);
}

/** The path of a file of this name and size in the folders that the page may read. @param {File} file */
async function find(file) {
  const first = await get('/files?folder=');
  const waiting = [...new Set(['', ...first.roots.map((/** @type {[string, string]} */ r) => r[1])])];
  for (let i = 0; i < waiting.length && i < FOLDERS; i++) {
    const folder = waiting[i];
    const listing = await get(`/files?${new URLSearchParams({ folder })}`).catch(() => null);
    const join = (/** @type {string} */ name) => (folder ? `${folder}/${name}` : name);
    const found = listing?.files.some((/** @type {any} */ f) => (f.name === file.name && f.bytes === file.size) || isOneOf(f.name, file.name));
    if (found) return join(file.name);
    listing?.folders.forEach((/** @type {string} */ f) => waiting.push(join(f)));
  }
  return null;
}

/** A browser does not tell where a dropped file is: it is looked for. @param {File} file */
export async function dropped(file) {
  const path = await find(file);
  if (path !== null) return /\.toml$/i.test(path) ? openRecipeFile(path) : openClip(path);
  const { roots } = await get('/files?folder=');
  dialog('The file was not found', () => html`<p>A browser does not say where a dropped file is. The studio has looked for
    <b>${file.name}</b> below these folders, and it is not there:</p>
    <ul>${roots.map((/** @type {[string, string]} */ r) => html`<li><code>${r[0]}</code></li>`)}</ul>
    <p>Move it there, or start the studio with its folder: <code>grainfield studio --allow-folder FOLDER</code></p>`);
}

export function startOpening() {
  effect(() => {
    if ((clip.value?.path ?? chart) !== chart && example.length && doc.peek().steps === example) untracked(beginRecipe).catch(report);
  });
  // Else the browser would leave the page for the file.
  document.addEventListener('dragover', (e) => e.dataTransfer?.types.includes('Files') && e.preventDefault());
  document.addEventListener('drop', (e) => {
    const file = e.dataTransfer?.files[0];
    if (!file) return;
    e.preventDefault();
    dropped(file).catch(report);
  });
}

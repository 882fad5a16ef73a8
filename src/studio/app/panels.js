// @ts-check
// What stands around the pictures: the bar, the dock with curves, scopes and jobs, the loupe, and the status line.

import { html, nothing, render } from './vendor/lit-html.js';
import { get, picture, post } from './api.js';
import {
  checked, clip, connected, dirty, dock, dockOpen, effect, frame, key, recipePath, report, signal, simulating, toasts, view,
} from './state.js';
import { codes, drawn, hashes, paneUnderPointer, panes, playing, pointer, zoomTo } from './viewer.js';
import { command, icon, keyText } from './keys.js';
import { curvesTemplate, resizeCurves } from './curve.js';
import { renderDialog } from './dialogs.js';

/** @typedef {{id: string, name: string, input: string, options: string[], state: string, frames: number, reason: string | null}} Job */

// ---- the bar ----

/** @param {string} id @param {string} [text] */
const tool = (id, text) => {
  const c = command(id);
  const keys = keyText(id);
  return html`<button class="${text ? '' : 'icon'} ${c.on?.() ? 'lit' : ''}" title="${c.label}${keys ? ` (${keys})` : ''}" aria-label=${text ? nothing : c.label}
    aria-pressed=${c.on ? String(c.on()) : nothing} ?disabled=${c.can ? !c.can() : false} @click=${c.run}>${c.icon ? icon(c.icon) : nothing}${text ?? ''}</button>`;
};

function bar() {
  const c = clip.value;
  const isDiff = view.layout.value === 'diff';
  const gain = isDiff ? view.diffGain : view.gain;
  const planes = c?.planes ?? [];
  const name = recipePath.value.split('/').pop() || 'unsaved recipe';
  return html`
    <span class="group">${tool('file.open', 'Open')}${tool('render.now', 'Render')}</span>
    <span class="group">${tool('recipe.open', 'Recipe')}${tool('recipe.save', 'Save')}
      <span class="recipe" title=${recipePath.value}>${name}${dirty.value ? ' •' : ''}</span></span>
    <span class="group">${tool('edit.undo')}${tool('edit.redo')}</span>
    <span class="group">${['side', 'stack', 'out', 'wipe', 'diff'].map((l) => tool(`view.${l}`))}${tool('view.flip', 'A/B')}</span>
    <label title="Zoom"><select aria-label="Zoom" @change=${(/** @type {any} */ e) => zoomTo(Number(e.target.value))}>
      ${[...new Set([0, 0.25, 0.5, 1, 2, 3, 4, 8, 16, view.zoom.value])].sort((a, b) => a - b).map((z) => html`<option value=${z} .selected=${z === view.zoom.value}>${z === 0 ? 'Fit' : `${short(z * 100)} %`}</option>`)}</select></label>
    <label title="Plane"><select aria-label="Plane" @change=${(/** @type {any} */ e) => (view.plane.value = Number(e.target.value))}>
      <option value="-1" .selected=${view.plane.value < 0}>RGB</option>
      ${planes.map((p, i) => html`<option value=${i} .selected=${view.plane.value === i}>${p}</option>`)}</select></label>
    <label title="Field of an interlaced picture (${keyText('view.field')})"><select aria-label="Field" @change=${(/** @type {any} */ e) => (view.field.value = e.target.value)}>
      ${[['', 'Frame'], ['top', 'Top field'], ['bottom', 'Bottom field']].map(([id, name]) => html`<option value=${id} .selected=${view.field.value === id}>${name}</option>`)}</select></label>
    <label title=${isDiff ? 'Gain of the difference' : 'Gain'}><select aria-label=${isDiff ? 'Gain of the difference' : 'Gain'} @change=${(/** @type {any} */ e) => (gain.value = Number(e.target.value))}>
      ${[0.25, 0.5, 1, 2, 4, 8, 16, 32, 64].map((g) => html`<option value=${g} .selected=${g === gain.value}>${isDiff ? 'Diff' : 'Gain'} ${g}×</option>`)}</select></label>
    <label title="Gamma of what is shown, after the gain"><select aria-label="Gamma" ?disabled=${isDiff} @change=${(/** @type {any} */ e) => (view.gamma.value = Number(e.target.value))}>
      ${[0.45, 0.6, 0.8, 1, 1.25, 1.6, 2.2].map((g) => html`<option value=${g} .selected=${g === view.gamma.value}>γ ${g}</option>`)}</select></label>
    <span class="group">${tool('view.clipping')}${tool('view.loupe')}</span>
    <label title="Surround"><select aria-label="Surround" @change=${(/** @type {any} */ e) => (view.surround.value = e.target.value)}>
      ${['black', 'dark', 'grey'].map((s) => html`<option value=${s} .selected=${s === view.surround.value}>${s}</option>`)}</select></label>
    <span class="space"></span>
    <span class="group">${tool('help.palette', 'Find')}${tool('help.keys', 'Keys')}</span>`;
}

/** @param {number} n */
const short = (n) => String(Number(n.toFixed(2)));

// ---- scopes ----

const scopes = /** @type {const} */ (['histogram', 'waveform', 'parade', 'vectorscope']);
const scopeSide = signal(/** @type {'in' | 'out'} */ ('out'));
let scoping = false;
let scopeAgain = false;

async function drawScopes() {
  if (dock.value !== 'scopes' || !dockOpen.value || !clip.value || playing.value) return;
  if (scoping) {
    scopeAgain = true;
    return;
  }
  scoping = true;
  do {
    scopeAgain = false;
    const side = scopeSide.value;
    if (side === 'out' && !key.value) break;
    try {
      await Promise.all(scopes.map(async (scope) => {
        const got = await picture(`/scopes/${clip.value?.id}/${side === 'in' ? '0' : key.value}/${frame.value}?side=${side}&scope=${scope}`);
        const canvas = /** @type {HTMLCanvasElement | null} */ (document.querySelector(`canvas[data-scope=${scope}]`));
        if (!canvas) return;
        [canvas.width, canvas.height] = [got.image.width, got.image.height];
        /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).putImageData(got.image, 0, 0);
        canvas.dataset.frame = String(frame.value);
      }));
    } catch (error) {
      if (!(error instanceof Error && /** @type {any} */ (error).status === 410)) report(error);
    }
  } while (scopeAgain);
  scoping = false;
}

const names = { histogram: 'Histogram', waveform: 'Waveform', parade: 'RGB parade', vectorscope: 'Vectorscope' };
const scopesTemplate = () => html`<div class="scopes">
  <div class="sidebar"><label><input type="radio" name="scopeside" .checked=${scopeSide.value === 'in'} @change=${() => (scopeSide.value = 'in')}>Source</label>
    <label><input type="radio" name="scopeside" .checked=${scopeSide.value === 'out'} @change=${() => (scopeSide.value = 'out')}>Result</label></div>
  ${scopes.map((s) => html`<figure class=${s}><figcaption>${names[s]}</figcaption><canvas data-scope=${s} role="img" aria-label=${names[s]}></canvas></figure>`)}
</div>`;

// ---- jobs ----

export const jobs = signal(/** @type {{list: string, jobs: Job[], running: boolean}} */ ({ list: '', jobs: [], running: false }));
/** What is told of the jobs that run, by their names. */
const progress = signal(/** @type {Record<string, any>} */ ({}));

export async function loadJobs() {
  try {
    jobs.value = await get('/jobs');
  } catch (error) {
    report(error);
  }
}

/** @param {any} told */
export function onTold(told) {
  if (told.type === 'jobs') {
    loadJobs();
  } else if (told.type === 'simulating') {
    simulating.value = told.done >= told.all ? null : told;
  } else if (told.type === 'job') {
    const { job, event, text } = told.told;
    if (job) progress.value = { ...progress.value, [job]: { ...progress.value[job], ...told.told } };
    if (event === 'warning' && text) report(text);
    if (event !== 'progress') loadJobs();
  }
}

/** @param {string} name @param {string} [id] */
const verb = (name, id = '') => () => post(`/jobs/${name}`, { id }).then(loadJobs, report);

function jobsTemplate() {
  const { list, jobs: rows, running } = jobs.value;
  const waiting = rows.some((r) => r.state === 'waiting');
  const failed = rows.some((r) => r.state === 'failed');
  return html`<div class="jobs">
    <div class="sidebar">
      <button ?disabled=${!clip.value} @click=${() => renderDialog()}>Add a job</button>
      <button ?disabled=${running || !waiting} @click=${verb('start')}>Start</button>
      <button ?disabled=${!running} @click=${verb('stop')}>Stop</button>
      <button ?disabled=${running || !failed} @click=${verb('retry')}>Retry failed</button>
      <p class="dim">${list ? html`Shared with<br><code>grainfield batch ${list}</code>` : nothing}</p>
    </div>
    <div class="scroll">${rows.length ? html`<table aria-label="Jobs"><thead><tr><th>State</th><th>Output</th><th>Input</th><th>Progress</th><td></td></tr></thead>
      <tbody>${rows.map((r, i) => {
        const p = progress.value[r.name];
        const going = r.state === 'running' && p;
        return html`<tr class=${r.state}><td>${r.state}</td><td title=${r.options.join(' ')}>${r.name}</td><td>${r.input.split('/').pop()}</td>
          <td>${going ? html`<progress max=${p.total ?? 1} .value=${p.frame ?? 0}></progress> ${p.frame ?? 0}${p.total ? ` / ${p.total}` : ''}${p.fps ? `, ${short(p.fps)} fps` : ''}${p.eta_s ? `, ${p.eta_s} s left` : ''}` : r.state === 'done' ? `${r.frames} frames` : r.reason ?? ''}</td>
          <td class="tools"><button class="icon" title="Earlier" aria-label="Earlier" ?disabled=${i === 0} @click=${verb('up', r.id)}>${icon('up')}</button>
            <button class="icon" title="Later" aria-label="Later" ?disabled=${i === rows.length - 1} @click=${verb('down', r.id)}>${icon('down')}</button>
            <button class="icon" title="Remove" aria-label="Remove" ?disabled=${r.state === 'running'} @click=${verb('remove', r.id)}>${icon('none')}</button></td></tr>`;
      })}</tbody></table>` : html`<p class="empty">No jobs. F7 renders the clip, or puts it into the queue.</p>`}</div>
  </div>`;
}

// ---- the dock ----

const tabs = { curves: 'Curves', scopes: 'Scopes', jobs: 'Jobs' };
function dockTemplate() {
  const open = dockOpen.value;
  return html`<div class="tabs" role="tablist">${Object.entries(tabs).map(([id, name]) => html`<button role="tab" id="tab-${id}" aria-selected=${open && dock.value === id}
      title="${name} (${keyText(`dock.${id}`)})" @click=${() => command(`dock.${id}`).run()}>${name}</button>`)}</div>
    ${open ? html`<div class="dockbody" role="tabpanel" aria-labelledby="tab-${dock.value}">${dock.value === 'curves' ? curvesTemplate() : dock.value === 'scopes' ? scopesTemplate() : jobsTemplate()}</div>` : nothing}`;
}

// ---- the loupe ----

/** Magnifies what is around the pointer, from the pane itself. */
function drawLoupe() {
  const box = /** @type {HTMLElement | null} */ (document.querySelector('#loupe'));
  const p = paneUnderPointer();
  const at = pointer.value;
  if (!box || !p?.shown || !at) return;
  const canvas = /** @type {HTMLCanvasElement} */ (box.querySelector('canvas'));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.imageSmoothingEnabled = false;
  context.fillStyle = '#000';
  context.fillRect(0, 0, canvas.width, canvas.height);
  const z = p.zoom();
  const [left, top] = p.origin();
  const cells = 11;
  const cell = canvas.width / cells;
  const half = (cells - 1) / 2;
  context.drawImage(p.canvas, left + (at.x - half) * z, top + (at.y - half) * z, cells * z, cells * z, 0, 0, canvas.width, canvas.height);
  context.strokeStyle = '#d9a441';
  context.strokeRect(half * cell, half * cell, cell, cell);
}

const codeText = (/** @type {any} */ got) => got?.names.map((/** @type {string} */ n, /** @type {number} */ i) => `${n} ${Number(got.planes[i][0]?.[0]?.toPrecision?.(6) ?? 0)}`).join('  ') ?? '';

function loupe() {
  const c = codes.value;
  return html`<div id="loupe" role="group" aria-label="Loupe"><canvas width="176" height="176"></canvas>
    <table><tr><th>at</th><td>${c ? `${c.x}, ${c.y}` : ''}</td></tr><tr><th>source</th><td>${c ? codeText(c.in) : ''}</td></tr>
      <tr><th>result</th><td>${c ? codeText(c.out) : ''}</td></tr></table></div>`;
}

// ---- the status line ----

function status() {
  const c = clip.value;
  const made = checked.value?.made;
  const at = codes.value;
  const changed = made && c && (made.format !== c.format || made.width !== c.width || made.height !== c.height);
  const h = hashes.value;
  const one = (/** @type {string} */ side, /** @type {string} */ hash) => hash ? html`<span title="MD5 of the ${side} frame’s samples, as grainfield hash prints it">${side} <code>${hash.slice(0, 8)}</code></span>` : nothing;
  const z = [...panes.values()].find((p) => p.canvas.isConnected)?.zoom() ?? 1;
  return html`<span>${c ? `${c.name}: ${c.width}×${c.height} ${c.format}` : ''}${changed ? ` → ${made.width}×${made.height} ${made.format}` : ''}</span>
    <span class="digits" title="Device pixels for one of the picture; smaller views are the mean of the area that each pixel covers">${c ? `${short(z * 100)} %${z < 1 ? ' (area mean)' : ''}` : ''}</span>
    ${one('source', h.in)}${one('result', h.out)}
    <span class="space"></span>
    ${simulating.value ? html`<span role="status">stepping ${simulating.value.done} of ${simulating.value.all}</span>` : nothing}
    <span class="digits codes">${at ? `${at.x}, ${at.y}   ${codeText(at.in)}   →   ${codeText(at.out)}` : ''}</span>
    ${connected.value ? nothing : html`<span class="bad" role="alert">the studio does not answer</span>`}`;
}

export function startPanels() {
  const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  effect(() => render(bar(), byId('bar')));
  effect(() => {
    void drawn.value;
    render(status(), byId('status'));
  });
  effect(() => render(toasts.value.map((t) => html`<p class=${t.bad ? 'bad' : ''} @click=${() => (toasts.value = toasts.value.filter((o) => o !== t))}>${t.text}</p>`), byId('toasts')));
  const dockBox = byId('dock');
  effect(() => {
    dockBox.classList.toggle('shut', !dockOpen.value);
    render(dockTemplate(), dockBox);
  });
  const measure = () => {
    const plot = dockBox.querySelector('.plot');
    if (plot) resizeCurves(Math.floor(plot.clientWidth), Math.floor(plot.clientHeight));
  };
  new ResizeObserver(measure).observe(dockBox);
  effect(() => {
    void [dock.value, dockOpen.value, checked.value];
    queueMicrotask(measure);
  });
  effect(() => {
    void [dock.value, dockOpen.value, scopeSide.value, key.value, frame.value, clip.value, playing.value];
    queueMicrotask(drawScopes);
  });
  const loupeBox = byId('loupebox');
  effect(() => {
    render(view.loupe.value && clip.value ? loupe() : nothing, loupeBox);
    void [pointer.value, drawn.value];
    if (view.loupe.value) queueMicrotask(drawLoupe);
  });
  effect(() => {
    void frame.value;
    simulating.value = null;
  });
}

// @ts-check The parts around the pictures: the bar, the dock with curves, scopes and jobs, the loupe, and the status line.

import { html, nothing, render, svg } from './vendor/lit-html.js';
import { blob, get, picture, post } from './api.js';
import {
  afterwards, against, area, batch, checked, clip, clipTold, connected, dirty, dock, dockOpen, effect, folder, frame, isGone, key, latest,
  markers, offer, offers, openClip, recipePath, reference, report, reported, selection, signal, simulating, toast, toasts, view,
} from './state.js';
import { busy, codes, drawn, hashNow, panes, play, playing, pointer, scrubbing, surrounds, zoomTo } from './viewer.js';
import { command, icon, keyText, tool } from './keys.js';
import { curvesTemplate, resizeCurves } from './curve.js';
import { changeJob, optionsOf, renderDialog } from './render.js';
import { putPicture } from './kept.js';
import { referencesHere, titleOf } from './compare.js';
import { dialog } from './dialogs.js';
import { counted, menu, splitter } from './controls.js';
import { short } from './moving.js';
import { clockText } from './timecode.js';

/** @typedef {{id: string, name: string, input: string, output: string, options: string[], state: string, frames: number,
 *   reason: string | null, by: string | null, here: boolean}} Job */

// ---- the bar ----

function bar() {
  const c = clip.value;
  const isDiff = view.layout.value === 'diff';
  const gain = isDiff ? 'Gain of the difference' : 'Gain';
  const shownPane = [...panes.values()].find((p) => p.canvas.isConnected);
  const fits = (/** @type {number} */ z) => (c && shownPane ? ` ${Math.round(shownPane.zoom(z) * 100)} %` : '');
  /** @type {[number, string, string?][]} */
  const zooms = [
    [0, `Fit${fits(0)}`, 'Larger pictures are reduced; smaller ones grow by whole steps'],
    [-1, `Fill${fits(-1)}`, 'To the edges of the pane; enlarged, some pixels are wider than others'],
    ...[...new Set([0.25, 0.5, 1, 2, 3, 4, 8, 16, view.zoom.value])].filter((z) => z > 0).sort((a, b) => a - b)
      .map((z) => /** @type {[number, string]} */ ([z, `${short(z * 100, 0.01)} %`])),
  ];
  void drawn.value;
  const kept = referencesHere().map((r) => /** @type {[number, string]} */ ([r.id, `A: ${titleOf(r)}`]));
  const name = recipePath.value.split('/').pop() || 'unsaved recipe';
  return html`
    <span class="group">${tool('file.open', 'Open clip')}${tool('render.now', 'Render')}</span>
    <span class="group">${tool('recipe.open', 'Open recipe')}${tool('recipe.save', 'Save recipe')}
      <span class="recipe" title=${recipePath.value}>${name}</span>${dirty.value ? html`<span title="changed since the last save">•</span>` : nothing}</span>
    <span class="group">${tool('edit.undo')}${tool('edit.redo')}</span>
    <span class="group">${['side', 'stack', 'out', 'wipe', 'diff'].map((l) => tool(`view.${l}`))}${tool('view.flip', 'A/B')}${tool('compare.keep')}</span>
    ${kept.length ? menu('Compare with', 'A, what the result is compared with', [[0, 'A: source'], ...kept],
      { value: reference.value?.id ?? 0 }, (id) => (against.value = id)) : nothing}
    ${menu('Zoom', 'Zoom', zooms, view.zoom, zoomTo)}
    ${menu('Plane', 'Plane', ['RGB', ...(c?.planes ?? [])].map((p, i) => [i - 1, p]), view.plane)}
    ${!c?.planes.includes('A') ? nothing : menu('Over', 'What is seen behind the picture, which has alpha', [['', 'No alpha'], ['checks', 'On checks'], ['black', 'On black'], ['grey', 'On grey']], view.over)}
    ${menu('Field', `Field of an interlaced picture (${keyText('view.field')})`,
      [['', 'Fields'], ['top', 'Top'], ['bottom', 'Bottom']], view.field)}
    ${!c || c.shape === 1 ? nothing
      : menu('Pixels', `Shape of the pixels (${keyText('view.square')}): that of the clip, or one sample as a square`,
        [[false, `${short(c.shape, 0.01)}:1`], [true, 'Square']], view.square)}
    ${menu(gain, gain, [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64].map((g) => [g, `${isDiff ? 'Diff' : 'Gain'} ${g}×`]),
      isDiff ? view.diffGain : view.gain)}
    ${menu('Gamma', 'Gamma of the view, after the gain', [0.45, 0.6, 0.8, 1, 1.25, 1.6, 2.2].map((g) => [g, `γ ${g}`]),
      view.gamma, undefined, isDiff)}
    <span class="group">${tool('view.clipping')}${tool('view.loupe')}</span>
    ${menu('Surround', 'Surround', Object.keys(surrounds).map((s) => [s, s]), view.surround)}
    <span class="space"></span>
    <span class="group">${tool('help.palette', 'Find')}${tool('help.keys', '?')}</span>`;
}

// ---- scopes ----

const scopes = /** @type {const} */ (['histogram', 'waveform', 'parade', 'vectorscope']);
const scopeSide = signal(/** @type {'in' | 'out'} */ ('out'));
/** When scopes may be drawn again while something plays: they take half of the time at most. */
let scopesRest = 0;
/** The frame of the scopes. */
const scopedFrame = signal(0);

const drawScopes = latest(async () => {
  if (dock.value !== 'scopes' || !dockOpen.value || !clip.value || scrubbing.value) return;
  const begun = performance.now();
  const at = frame.value;
  const side = scopeSide.value;
  if ((playing.value && begun < scopesRest) || (side === 'out' && !key.value)) return;
  await Promise.all(scopes.map(async (scope) => {
    const got = await picture(`/scopes/${clip.value?.id}/${side === 'in' ? '0' : key.value}/${at}?side=${side}&scope=${scope}`);
    const canvas = /** @type {HTMLCanvasElement | null} */ (document.querySelector(`canvas[data-scope=${scope}]`));
    if (!canvas) return;
    putPicture(canvas, got.image);
    canvas.dataset.frame = String(at);
  })).catch((error) => isGone(error) || report(error));
  scopesRest = Math.max(begun + 250, 2 * performance.now() - begun);
  scopedFrame.value = at;
});

const names = { histogram: 'Histogram, RGB', waveform: 'Waveform, luma', parade: 'RGB parade', vectorscope: 'Vectorscope' };
/** The shares of red and blue in luma, by the matrix of the clip. */
function matrix() {
  const c = clip.value;
  const said = c?.colour ?? '';
  if (/bt2020/.test(said)) return { name: 'BT.2020', kr: 0.2627, kb: 0.0593 };
  const sd = /smpte170m|bt470bg|smpte240m|fcc/.test(said) || (!/bt709/.test(said) && (c?.height ?? 720) < 720);
  return sd ? { name: 'BT.601', kr: 0.299, kb: 0.114 } : { name: 'BT.709', kr: 0.2126, kb: 0.0722 };
}

/** Matrix, transfer and range in the words of the trade. @param {any} c */
function colours(c) {
  const said = [...new Set(c.colour.replace(/smpte432/, 'P3 D65').replace(/smpte431/, 'P3 DCI').replace(/smpte170m|bt470bg/g, 'BT.601').replace(/bt2020(nc|c)?/g, 'BT.2020').replace(/bt709/g, 'BT.709').replace('smpte2084', 'PQ, shown without tone mapping').replace('arib-std-b67', 'HLG, shown without tone mapping').replace(/(full|limited)/, '$1 range').split(', '))].join(', ');
  return /^(full|limited)/.test(said) && c.planes[1] === 'U' ? `${matrix().name} assumed, ${said}` : said;
}

/** Lines to read a scope by, in its own 256 steps. @param {string} scope */
function graticule(scope) {
  /** @type {unknown[]} */
  const names = [];
  // Names keep their shape when the scope is stretched.
  const line = (/** @type {number} */ at, /** @type {string} */ name, across = false) => {
    if (name) names.push(html`<span class=${across ? 'across' : ''} .style=${across ? `left:${at / 2.56}%` : `bottom:${Math.min(94, at / 2.56)}%`}>${name}</span>`);
    return across ? svg`<line x1=${at} x2=${at} y1="0" y2="256"/>` : svg`<line x1="0" x2="256" y1=${255 - at} y2=${255 - at}/>`;
  };
  const { kr, kb } = matrix();
  const targets = Object.entries({ R: [1, 0, 0], Mg: [1, 0, 1], B: [0, 0, 1], Cy: [0, 1, 1], G: [0, 1, 0], Yl: [1, 1, 0] }).map(([name, [r, g, b]]) => {
    const y = kr * r + (1 - kr - kb) * g + kb * b;
    const u = 128 + (0.75 * 224 * (b - y)) / (2 * (1 - kb));
    const v = 128 + (0.75 * 224 * (r - y)) / (2 * (1 - kr));
    return svg`<rect x=${u - 5} y=${255 - v - 5} width="10" height="10"/><text x=${u + 7} y=${259 - v}>${name}</text>`;
  });
  // Levels of luma in a video; those of red, green and blue are drawn between the same lines.
  const levels = () => [0, 25, 50, 75, 100].map((p) => line(16 + 2.19 * p, `${p} %`));
  const all = {
    histogram: () => [0, 25, 50, 75, 100].map((p) => line(2.55 * p, p === 100 ? '' : `${p} %`, true)),
    waveform: levels,
    parade: levels,
    // The skin line: 123 degrees from U.
    vectorscope: () => [line(128, ''), line(128, '', true), targets, svg`<line x1="128" y1="127" x2=${128 + 112 * Math.cos((123 * Math.PI) / 180)} y2=${127 - 112 * Math.sin((123 * Math.PI) / 180)}/>`],
  };
  return html`<svg viewBox="0 0 256 256" preserveAspectRatio=${scope === 'vectorscope' ? 'xMidYMid' : 'none'} aria-hidden="true">${all[/** @type {keyof typeof all} */ (scope)]()}</svg>${names}`;
}

const scopesTemplate = () => html`<div class="scopes">
  <div class="sidebar"><label><input type="radio" name="scopeside" .checked=${scopeSide.value === 'in'} @change=${() => (scopeSide.value = 'in')}>Source</label>
    <label><input type="radio" name="scopeside" .checked=${scopeSide.value === 'out'} @change=${() => (scopeSide.value = 'out')}>Result</label>
    ${playing.value ? html`<p class="dim digits">of frame ${scopedFrame.value}</p>` : nothing}</div>
  ${scopes.map((s) => html`<figure class=${s}><figcaption>${names[s]}${s === 'vectorscope' ? `, ${matrix().name}, 75 %` : ''}</figcaption><div class="scope"><canvas data-scope=${s} role="img" aria-label=${names[s]}></canvas>${graticule(s)}</div></figure>`)}
</div>`;

// ---- jobs ----

export const jobs = signal(/** @type {{list: string, jobs: Job[], running: boolean, shows: boolean}} */ ({ list: '', jobs: [], running: false, shows: false }));
/** The progress of running jobs, by their names. */
const progress = signal(/** @type {Record<string, any>} */ ({}));

/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking;
export const loadJobs = reported(async () => {
  clearTimeout(looking);
  const told = await get('/jobs');
  batch(() => {
    jobs.value = told;
    // What an earlier run has told is not how far the next one is.
    progress.value = Object.fromEntries(Object.entries(progress.value).filter(([name]) => told.jobs.some((/** @type {Job} */ j) => j.name === name && j.state === 'running' && j.here)));
  });
  // Nobody tells when another program's render ends, or that of a studio that was killed.
  if (!jobs.value.running && jobs.value.jobs.some((j) => j.state === 'running')) looking = setTimeout(loadJobs, 2000);
});

/** @param {any} told */
export function onTold(told) {
  if (told.type === 'jobs') {
    loadJobs();
  } else if (told.type === 'clip') {
    clipTold(told.id).catch(report);
  } else if (told.type === 'simulating') {
    simulating.value = told.done >= told.all ? null : told;
  } else if (told.type === 'job') {
    const { job, event, text } = told.told;
    if (job) progress.value = { ...progress.value, [job]: event === 'started' ? told.told : { ...progress.value[job], ...told.told } };
    // What a render cannot keep is no failure, and that another program has written the new file is no news.
    if (event === 'warning' && text && !/cannot keep everything: tags are lost \(software\)$/i.test(text)) toast(text);
    if (event === 'fault') report(text);
    if (event !== 'progress') loadJobs();
  }
}

/** The state in one word, and why it is that: a job that waits may have been begun. @param {Job} r @returns {[string, string]} */
function stateOf(r) {
  const begun = /^(cancelled|interrupted)(?:: )?(.*)/s.exec((r.state === 'waiting' && r.reason) || '');
  return begun ? [begun[1], begun[2]] : [r.state, r.reason ?? ''];
}

/** A verb, its label and its explanation. @typedef {[string, string, string]} Action */
/** @type {Action} */
const again = ['start', 'Render again', 'Render the job now; a long video goes on after its complete segments'];
/** @type {Action} */
const postpone = ['postpone', 'Postpone', 'Exclude the job until it is resumed, here and for other programs that share the list'];
/** What can be done with a job, by its state. @type {Record<string, Action[]>} */
const actions = {
  waiting: [postpone],
  cancelled: [again, postpone],
  interrupted: [again, postpone],
  postponed: [['resume', 'Resume', 'Return the job to the queue']],
  running: [['cancel', 'Cancel', 'Stop this job alone; the finished part is kept as NAME.partial.EXT, of a long video in NAME.segments']],
  failed: [['start', 'Retry', 'Render the job again']],
  stale: [['start', 'Render again', 'Replace the output, which is not the result of this job any more']],
};

/** @param {string} name @param {string} [id] */
const verb = (name, id = '') => () => post(`/jobs/${name}`, { id }).then(({ segments }) => {
  if (segments) toast(`complete segments stay in ${segments}: a render to the same name continues or replaces them`);
  return loadJobs();
}, report);

/** The finished file that is watched in the place of the clip, and the offer of the way back.
 * @type {null | {path: string, back: [string, () => unknown][], withdraw: () => void}} */
let watched = null;

/** Plays a finished file as it is; the recipe stays for the way back. */
const watch = reported(async (/** @type {string} */ path) => {
  const c = clip.value;
  const was = [frame.value, selection.value, markers.value];
  const layout = view.layout.value;
  /** @type {[string, () => unknown][]} */
  const back = watched && watched.path === c?.path ? watched.back : !c ? [] : [[`Back to ${c.name}`, reported(async () => {
    view.layout.value = layout;
    await openClip(c.path);
    [frame.value, selection.value, markers.value] = /** @type {any} */ (was);
  })]];
  await openClip(path);
  view.layout.value = 'in';
  watched?.withdraw();
  watched = { path: clip.value?.path ?? path, back, withdraw: offer(`${path} is shown as it is, without the filters.`, back) };
  play(1);
});

/** The rows of each job: an element that moves with it. @type {Map<string, HTMLElement>} */
const rowsOf = new Map();
/** The order that is shown, and since when. */
let order = { ids: '', since: -1e9 };
/** A job that has just come under the pointer is not meant. @param {Event} e */
const tooEarly = (e) => {
  if (!e.isTrusted || performance.now() - order.since > SETTLED || !(/** @type {HTMLElement} */ (e.target).closest('button'))) return;
  e.stopPropagation();
  toast('the list has just changed: press again');
};
/** Milliseconds in which one sees that the list has changed. */
const SETTLED = 500;

function jobsTemplate() {
  const { list, jobs: rows, running } = jobs.value;
  const waiting = rows.some((r) => r.state === 'waiting');
  const failed = rows.some((r) => r.state === 'failed');
  // What runs comes first, what is done last, and of that the newest first.
  const rank = (/** @type {Job} */ r) => (r.state === 'running' ? 0 : r.state === 'done' ? 2 : 1);
  const [now, next, done] = [0, 1, 2].map((n) => rows.filter((r) => rank(r) === n));
  const shown = [...now, ...next, ...done.reverse()];
  /** Moves a job over its neighbour in this order, which may stand several places away in the list. @param {number} i @param {number} by */
  const move = (i, by) => reported(async () => {
    const [from, to] = [shown[i], shown[i + by]].map((r) => rows.indexOf(r));
    try {
      for (let n = Math.abs(to - from); n > 0; n--) await post(`/jobs/${to < from ? 'up' : 'down'}`, { id: shown[i].id });
    } finally {
      await loadJobs();
    }
  });
  const ids = shown.map((r) => r.id).join();
  if (order.ids !== ids) order = { ids, since: ids.startsWith(order.ids) ? order.since : performance.now() };
  for (const id of rowsOf.keys()) if (!shown.some((r) => r.id === id)) rowsOf.delete(id);
  // A job that was added is seen.
  const added = rowsOf.size && shown.find((r) => !rowsOf.has(r.id));
  if (added) queueMicrotask(() => rowsOf.get(added.id)?.scrollIntoView({ block: 'nearest' }));
  const canMove = (/** @type {number} */ i, /** @type {number} */ by) => !!shown[i + by] && rank(shown[i]) < 2 && rank(shown[i + by]) === rank(shown[i]);
  return html`<div class="jobs">
    <div class="sidebar">
      <button ?disabled=${!clip.value} @click=${() => renderDialog()}>Add a job</button>
      <button title="Renders the waiting jobs one after another, after those that are running; also those that were cancelled" ?disabled=${!waiting} @click=${() => {
        if (running) toast('the waiting jobs are rendered after the running one');
        verb('start')();
      }}>Start</button>
      <button title="Stops the running jobs; finished parts are kept" ?disabled=${!running} @click=${verb('stop')}>Stop</button>
      <button ?disabled=${running || !failed} @click=${verb('retry')}>Retry failed</button>
      <p class="dim">${list ? html`Shared with <code>grainfield batch</code>:<br><code>${list}</code>` : nothing}</p>
    </div>
    <div class="scroll">${rows.length ? html`<table aria-label="Jobs" @click=${{ handleEvent: tooEarly, capture: true }}><thead><tr><th>State</th><th>Output</th><th>Input</th><th>Progress</th><td></td></tr></thead>
      ${shown.map((r, i) => {
        const box = rowsOf.get(r.id) ?? document.createElement('tbody');
        rowsOf.set(r.id, box);
        const p = progress.value[r.name];
        const going = r.state === 'running' && r.here && p;
        const [state, reason] = stateOf(r);
        const why = (r.state === 'failed' || r.state === 'stale') && r.reason;
        render(html`<tr class=${r.state}><td>${state}</td><td class="long" title="${r.name} ${r.options.join(' ')}">${r.name}</td><td class="long" title=${r.input}>${r.input.split('/').pop()}</td>
          <td class="reason" title=${going ? `${p.frame ?? 0} of ${p.total ?? '?'} frames, ${short(p.fps ?? 0, 0.01)} a second` : reason}>${going ? html`<progress max=${p.total ?? 1} .value=${p.frame ?? 0}></progress> ${p.total ? `${Math.floor((100 * (p.frame ?? 0)) / p.total)} %` : p.frame ?? 0}${p.eta_s ? `, ${clockText(p.eta_s)} left` : ''}${p.fps ? `, ${short(p.fps, 0.01)} fps` : ''}` : r.state === 'done' ? counted(r.frames) : why ? 'see below' : r.state === 'running' && !r.here ? `by another program${r.by ? `, ${r.by}` : ''}` : reason}</td>
          <td class="tools"><button class="icon" title="Earlier" aria-label="Earlier" ?disabled=${!canMove(i, -1)} @click=${move(i, -1)}>${icon('up')}</button>
            <button class="icon" title="Later" aria-label="Later" ?disabled=${!canMove(i, 1)} @click=${move(i, 1)}>${icon('down')}</button>
            ${!/^(waiting|postponed|failed)$/.test(r.state) ? nothing : html`<button class="small" title=${optionsOf(r.options) ? 'Open the render window with the choices of this job' : `The job has options that the render window does not have: change them in ${list}`}
              ?disabled=${!optionsOf(r.options)} @click=${() => changeJob(r).catch(report)}>Change</button>`}
            ${(actions[state] ?? []).map(([name, label, title]) => html`<button class="small" title=${title} @click=${(/** @type {any} */ e) => {
              // The next key must not press what comes in its place.
              if (e.detail) e.currentTarget.blur();
              verb(name, r.id)();
            }}>${label}</button>`)}
            ${r.state === 'done' ? html`<button class="small" title="Open the finished file and play it" @click=${() => watch(r.name)}>Play</button>` : nothing}
            ${r.state === 'done' && jobs.value.shows ? html`<button class="small" title="Open the folder of the finished file"
              @click=${verb('show', r.id)}>Show file</button>` : nothing}
            <button class="icon" title="Remove" aria-label="Remove" @click=${verb('remove', r.id)}>${icon('none')}</button></td></tr>
          ${why ? html`<tr class="why"><td></td><td class="reason" colspan="4">${why}</td></tr>` : nothing}`, box);
        return box;
      })}</table>` : html`<p class="empty">No jobs. F7 renders the clip, or puts it into the queue.</p>`}</div>
  </div>`;
}

// ---- measuring ----

const plot = signal(/** @type {{url: string, what: string} | null} */ (null));
const plotting = signal(/** @type {AbortController | null} */ (null));

/** Measures the result, or the source. @param {'in' | 'out'} side */
const measure = (side) => reported(async () => {
  const c = clip.value;
  if (!c) return;
  const mine = new AbortController();
  plotting.value?.abort();
  plotting.value = mine;
  const region = area.value ? `&region=${area.value.join(',')}` : '';
  try {
    const got = await blob(`/plot/${c.id}/${side === 'in' ? '0' : key.value}/${frame.value}?side=${side}${region}`, mine.signal);
    if (plot.value) URL.revokeObjectURL(plot.value.url);
    plot.value = { url: URL.createObjectURL(got), what: `${side === 'in' ? 'the source' : 'what the filters add'} from frame ${frame.value}` };
  } finally {
    if (plotting.value === mine) plotting.value = null;
  }
});

/** The plots in a window of their own, at their own size. */
const enlarge = () => {
  const { url, what } = /** @type {{url: string, what: string}} */ (plot.value);
  dialog(`Measured: ${what}`, () => html`<div class="plots"><img src=${url} alt="Plots of ${what}"></div>
    <footer><a class="button" href=${url} download="measured.png">Save the picture</a></footer>`, 'sheet');
};

const measureTemplate = () => html`<div class="measure">
  <div class="sidebar">
    <button ?disabled=${!clip.value || !key.value} @click=${measure('out')}>Measure the result</button>
    <button ?disabled=${!clip.value} @click=${measure('in')}>Measure the source</button>
    ${plotting.value ? html`<button @click=${() => plotting.value?.abort()}>Stop</button><p role="status">measuring up to 24 frames</p>` : nothing}
    <label>Area <input class="text digits" aria-label="Area" placeholder="all: x,y,width,height" title="Shift+drag in the picture chooses it" .value=${area.value?.join(',') ?? ''}
      @change=${(/** @type {any} */ e) => {
        const all = e.target.value.split(',').map(Number);
        area.value = all.length === 4 && all.every((/** @type {number} */ n) => Number.isInteger(n) && n >= 0) ? /** @type {any} */ (all) : null;
        e.target.value = area.value?.join(',') ?? '';
      }}></label>
    <p class="dim">As grainfield analyze: spectrum, distribution, correlation of noise.</p>
  </div>
  <div class="scroll">${plot.value ? html`<button class="plots" title="Enlarge" @click=${enlarge}><img src=${plot.value.url} alt="Plots of ${plot.value.what}"></button>` : html`<p class="empty">Nothing is measured yet. Shift+drag in a picture chooses an area.</p>`}</div>
</div>`;

// ---- the dock ----

const tabs = { curves: 'Curves', scopes: 'Scopes', measure: 'Measure', jobs: 'Jobs' };
const bodies = { curves: curvesTemplate, scopes: scopesTemplate, measure: measureTemplate, jobs: jobsTemplate };
function dockTemplate() {
  const open = dockOpen.value;
  return html`${open ? splitter('dock') : nothing}<div class="tabs" role="tablist">${Object.entries(tabs).map(([id, name]) => html`<button role="tab" id="tab-${id}" aria-selected=${open && dock.value === id}
      title="${name} (${keyText(`dock.${id}`)})" @click=${() => command(`dock.${id}`).run()}>${name}</button>`)}</div>
    ${open ? html`<div class="dockbody" role="tabpanel" aria-labelledby="tab-${dock.value}">${bodies[/** @type {keyof typeof bodies} */ (dock.value)]()}</div>` : nothing}`;
}

// ---- the loupe ----

/** Magnifies what is around the pointer, from the pane itself, beside the pointer. */
function drawLoupe() {
  const box = /** @type {HTMLElement | null} */ (document.querySelector('#loupe'));
  const at = pointer.value;
  if (!box || !at?.pane.shown) return;
  const p = at.pane;
  const canvas = /** @type {HTMLCanvasElement} */ (box.querySelector('canvas'));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.imageSmoothingEnabled = false;
  context.fillStyle = '#000';
  context.fillRect(0, 0, canvas.width, canvas.height);
  const [zx, z] = [p.across(), p.zoom()];
  const [left, top] = p.origin();
  const cells = 11;
  const cell = canvas.width / cells;
  const half = (cells - 1) / 2;
  context.drawImage(p.canvas, left + (at.x - half) * zx, top + (at.y - half) * z, cells * zx, cells * z, 0, 0, canvas.width, canvas.height);
  context.strokeStyle = '#d9a441';
  context.strokeRect(half * cell, half * cell, cell, cell);
  const pane = p.canvas.getBoundingClientRect();
  const beside = (/** @type {number} */ point, /** @type {number} */ size, /** @type {number} */ room) =>
    Math.max(0, point + 24 + size > room ? point - 24 - size : point + 24);
  box.style.left = `${beside(pane.left + (left + (at.x + 0.5) * zx) / devicePixelRatio, box.offsetWidth, pane.right)}px`;
  box.style.top = `${beside(pane.top + (top + (at.y + 0.5) * z) / devicePixelRatio, box.offsetHeight, pane.bottom)}px`;
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
  void drawn.value;
  const made = checked.value?.made;
  const at = codes.value;
  const changed = made && c && (made.format !== c.format || made.width !== c.width || made.height !== c.height);
  const one = (/** @type {'in' | 'out'} */ side, /** @type {string} */ name) => html`<span class="md5" title="MD5 of the ${name} frame’s samples, as grainfield hash prints it">${name} MD5 <code>${hashNow(side).slice(0, 8) || '–'}</code></span>`;
  const going = jobs.value.jobs.filter((j) => j.state === 'running').map((j) => progress.value[j.name]).filter((p) => p?.total);
  const z = [...panes.values()].find((p) => p.canvas.isConnected)?.zoom() ?? 1;
  return html`<span>${c ? `${c.name}: ${c.width}×${c.height} ${c.format}${c.lavfi ? ', deinterlaced' : ''}` : ''}${changed ? ` → ${made.width}×${made.height} ${made.format}` : ''}</span>
    <span class="digits" title="Device pixels for one of the picture; smaller views are the mean of the area that each pixel covers">${c ? `${short(z * 100, 0.01)} %${z < 1 ? ' (area mean)' : ''}` : ''}</span>
    ${c ? html`<span title="Matrix, transfer, range and primaries of the clip: ${c.colour}. The panes show its values as they are, without a transform for the display">${c.bits ? `${c.bits} bit, ` : ''}${colours(c)}${c.shape === 1 ? '' : `, pixels ${short(c.shape, 0.01)}:1${view.square.value ? ', shown square' : ''}`}</span>${at ? nothing : [one('in', reference.value ? 'A' : 'source'), one('out', 'result')]}` : nothing}
    ${going.map((p) => html`<span role="status">render ${Math.floor((100 * (p.frame ?? 0)) / p.total)} %</span>`)}
    <span class="space"></span>
    ${simulating.value && (busy.value || playing.value) ? html`<span role="status">stepping ${simulating.value.done} of ${simulating.value.all}</span>` : nothing}
    <span class="digits codes">${at ? `${at.x}, ${at.y}   ${codeText(at.in)}   →   ${codeText(at.out)}` : ''}</span>
`;
}

export const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

export function startPanels() {
  effect(() => render(bar(), byId('bar')));
  effect(() => render(status(), byId('status')));
  effect(() => render(toasts.value.map((t) => html`<p class=${t.bad ? 'bad' : ''} @click=${() => (toasts.value = toasts.value.filter((o) => o !== t))}>${t.text}</p>`), byId('toasts')));
  effect(() => render([connected.value ? nothing : html`<p class="lost" role="alert">Connection lost: the studio does not answer. Your work stays in this page. Start <code>grainfield studio</code> again in <code>${folder.value}</code>, and it goes on here.</p>`, ...offers.value.slice(-1).map((o) => {
    const drop = () => (offers.value = offers.value.filter((other) => other !== o));
    const count = offers.value.length;
    return html`<p>${o.text} ${count > 1 ? html`<span class="dim">1 of ${count}</span>` : nothing} ${o.answers.map(([name, run]) => html`<button class="small" @click=${() => {
      drop();
      run();
    }}>${name}</button>`)}<span class="space"></span><button class="icon" aria-label="Dismiss" title="Dismiss" @click=${drop}>×</button></p>`;
  })], byId('notice')));
  effect(() => {
    const path = clip.value?.path;
    if (!watched || path === watched.path) return;
    watched.withdraw();
    watched = null;
  });
  const dockBox = byId('dock');
  effect(() => {
    dockBox.classList.toggle('shut', !dockOpen.value);
    render(dockTemplate(), dockBox);
  });
  const measure = () => {
    const plot = dockBox.querySelector('.plot');
    const ruler = document.querySelector('.ruler');
    if (!plot || !ruler) return;
    const [a, b] = [plot, ruler].map((e) => e.getBoundingClientRect());
    resizeCurves(Math.floor(plot.clientWidth), Math.floor(plot.clientHeight), ((a.left - b.left) * plot.clientWidth) / (a.width || 1));
  };
  new ResizeObserver(measure).observe(dockBox);
  afterwards(() => [dock.value, dockOpen.value, checked.value], measure);
  const ofScopes = [dock, dockOpen, scopeSide, key, frame, clip, playing, scrubbing];
  afterwards(() => ofScopes.map((one) => one.value), drawScopes);
  const loupeOf = () => (view.loupe.value && clip.value && pointer.value ? loupe() : nothing);
  afterwards(() => [drawn.value, render(loupeOf(), byId('loupebox'))], drawLoupe);
  effect(() => {
    // What another picture is waited for is not told to its end.
    void [frame.value, key.value, busy.value];
    simulating.value = null;
  });
}

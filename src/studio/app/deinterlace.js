// @ts-check How frames of two fields become whole ones: FFmpeg's bwdif, with which the clip is opened before all filters.

import { html, nothing } from './vendor/lit-html.js';
import { batch, clip, doc, edit, effect, frame, markers, offer, openAs, references, report, reported, selection, signal, toast, untracked } from './state.js';
import { framesOfOne } from './cutting.js';
import { dialog } from './dialogs.js';
import { isCurve } from './moving.js';

/** FFmpeg's graphs, what they are called and what they do. @type {[string, string, string][]} */
const ways = [
  ['', 'As it is', 'Frames keep their two fields; filters treat each as a picture of its own.'],
  ['bwdif=mode=send_frame', 'One frame for each frame', 'The frame rate stays.'],
  ['bwdif=mode=send_field', 'One frame for each field', 'Twice the frame rate: motion stays as smooth as on a television set.'],
];

/** Which field of a frame was taken first, as an option of bwdif. @type {[string, string][]} */
const orders = [['', 'as the file says'], [':parity=tff', 'top field first'], [':parity=bff', 'bottom field first']];
/** What the files of clips say of their fields. @type {Map<string, string>} */
const said = new Map();

/** Opens the clip with a graph before all filters; what is chosen in it stays chosen. @param {string} graph @param {() => unknown} [also] */
async function openWith(graph, also) {
  const c = clip.value;
  if (!c) return;
  const opened = graph === c.lavfi ? c : await openAs(c.path, { lavfi: graph });
  if (clip.value?.path !== c.path) return;
  const by = framesOfOne(opened) / framesOfOne(clip.value);
  const begin = (/** @type {number} */ n) => Math.floor(n * by);
  const end = (/** @type {number} */ n) => Math.ceil((n + 1) * by) - 1;
  batch(() => {
    also?.();
    if (opened === c) return;
    clip.value = opened;
    frame.value = Math.min(begin(frame.value), opened.last);
    selection.value = selection.value && [begin(selection.value[0]), end(selection.value[1])];
    markers.value = [...new Set(markers.value.map(begin))];
    references.value = references.value.map((r) => (r.clip === c.path && r.frame !== null ? { ...r, frame: begin(r.frame) } : r));
  });
  if (by !== 1 && doc.value.steps.some((step) => Object.entries(step.values).some(([id, text]) => id === 'enable' || isCurve(text)))) {
    toast(`Frames are counted ${by > 1 ? 'twice' : 'half'} as fast now: look at the keys of curves and at Enable, which name frames`);
  }
}

/** Says how the clip is deinterlaced, which is saved with the recipe. @param {string} graph */
const deinterlace = (graph) => openWith(graph, () => {
  const { path = '' } = clip.value ?? {};
  edit((d) => ({ ...d, deinterlace: { ...d.deinterlace, [path]: graph } }));
});

export function deinterlaceDialog() {
  const order = signal(orders.findLast(([option]) => clip.value?.lavfi.endsWith(option))?.[0] ?? '');
  dialog('Deinterlace', ({ close, attempt, fault }) => {
    const choose = (/** @type {string} */ way) => attempt(() => deinterlace(way && way + order.value).then(() => false));
    const c = clip.value;
    if (!c) return nothing;
    const chosen = ways.findLast(([way]) => c.lavfi.startsWith(way))?.[0] ?? '';
    const fields = c.lavfi ? said.get(c.path) : c.fields;
    const state = c.lavfi ? `FFmpeg’s ${c.lavfi} runs before all filters.` : fields !== 'unspecified' ? `The frames of this clip are ${fields}.`
      : 'The file does not say whether its frames are interlaced, nor which field comes first.';
    return c.kind !== 'video' ? html`<p>FFmpeg deinterlaces the clips that it reads. This one is read by Grainfield itself (${c.kind}).</p><footer><button class="main" autofocus @click=${close}>Close</button></footer>`
      : html`<p class="dim">${state} A render and <i>Copy as command line</i> do the same as the preview, by <code>--lavfi</code>.</p>
      ${ways.map(([graph, name, more], i) => html`<label class="way"><input type="radio" name="way" ?autofocus=${i === 0} .checked=${chosen === graph} @change=${() => choose(graph)}>
        <span>${name}<br><span class="dim">${more}</span></span></label>`)}
      <label class="order">Field order <select @change=${(/** @type {any} */ e) => {
        order.value = e.target.value;
        if (chosen) choose(chosen);
      }}>${orders.map(([option, name]) => html`<option value=${option} .selected=${order.value === option}>${name}${option || !fields ? '' : ` (${fields === 'unspecified' ? 'it says nothing: top field first' : fields})`}</option>`)}</select></label>
      ${fault()}<footer><button class="main" @click=${close}>Close</button></footer>`;
  }, 'narrow');
}

/** Offers it for an interlaced clip of which the user has not said what to do. */
export function startDeinterlacing() {
  let withdraw = () => {};
  let path = '';
  effect(() => {
    const c = clip.value;
    if (c && !c.lavfi) said.set(c.path, c.fields);
    const graph = doc.value.deinterlace[c?.path ?? ''];
    // Undo, and a recipe that was opened, say it too.
    if (c && graph !== undefined && graph !== c.lavfi) untracked(() => openWith(graph)).catch(report);
    if (c?.path === path) return;
    path = c?.path ?? '';
    untracked(() => {
      withdraw();
      if (c?.kind !== 'video' || !/field first/.test(c.fields) || c.path in doc.value.deinterlace) return;
      const answer = (/** @type {number} */ way) => reported(() => deinterlace(ways[way][0]));
      withdraw = offer(`${c.name} is interlaced (${c.fields}): each frame consists of two pictures of different times.`,
        [['Deinterlace', answer(1)], ['One frame for each field', answer(2)], ['Leave it as it is', answer(0)]]);
    });
  });
}

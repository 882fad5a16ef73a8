// @ts-check The list of filters, and the settings of the one that is chosen.

import { html, nothing, render } from './vendor/lit-html.js';
import {
  checked, clip, doc, edit, editStep, effect, entry, key, moveStep, removeStep, selected, selectedStep, selection, settingOf, signal, times, timing,
} from './state.js';
import { cutSelection } from './cutting.js';
import { arrowed, control, randomSeed, splitter, spoken } from './controls.js';
import { isCurve } from './moving.js';
import { command, icon, keyText, tool } from './keys.js';
import { addFilterDialog } from './dialogs.js';
import { effectTemplate } from './effect.js';

/** @typedef {import('./state.js').Step} Step */

/** Groups that the user has opened or closed, by filter and group. Others are open but for what few need. */
const shut = signal(/** @type {Map<string, boolean>} */ (new Map()));
/** @param {string} id @param {string} name */
const isShut = (id, name) => shut.value.get(id) ?? name === 'Advanced';
/** The filter that is dragged. */
let dragged = -1;

/** @param {Step} step */
function summary(step) {
  const said = Object.entries(step.values).filter(([id]) => id !== 'enable');
  return said.map(([id, v]) => {
    const s = settingOf(step, id);
    return `${s?.label.toLowerCase() ?? id} ${s?.kind !== 'text' && isCurve(v) ? '◆' : s?.kind === 'choice' ? spoken(v) : v}`;
  }).join(' · ');
}

/** What a filter adds to the time of a frame. @param {Step} step @param {number} i */
function timeOf(step, i) {
  const { key: of, list } = times.value;
  if (step.off) return '';
  const ms = of === key.value ? list[doc.value.steps.slice(0, i).filter((s) => !s.off).length] : undefined;
  return ms === undefined ? '…' : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** @param {Step} step @param {number} i */
function row(step, i) {
  const filter = entry(step.name);
  const faulty = checked.value?.faults.some((f) => f.step === i);
  const chosen = i === selected.value;
  return html`<li class="${step.off ? 'off' : ''} ${faulty ? 'faulty' : ''} ${chosen ? 'chosen' : ''}" draggable="true"
    @click=${() => (selected.value = i)}
    @dragstart=${() => (dragged = i)}
    @dragover=${(/** @type {Event} */ e) => e.preventDefault()}
    @drop=${(/** @type {Event} */ e) => {
      e.preventDefault();
      if (dragged >= 0) moveStep(dragged, i);
      dragged = -1;
    }}>
    <input type="checkbox" aria-label="${filter?.label ?? step.name}: on" title="On or off" .checked=${!step.off}
      @click=${(/** @type {Event} */ e) => e.stopPropagation()}
      @change=${(/** @type {any} */ e) => editStep(step.id, (s) => ({ ...s, off: !e.target.checked }))}>
    <button class="name" tabindex=${chosen ? 0 : -1} aria-current=${chosen ? 'true' : 'false'}>${filter?.label ?? step.name}</button>
    <span class="summary" title=${summary(step)}>${step.values.enable ? `[${step.values.enable}] ` : ''}${summary(step)}</span>
    ${timing.value ? html`<span class="digits took" title="The time that the filter adds to a frame: the fastest of three runs">${timeOf(step, i)}</span>` : nothing}
    <button class="icon" tabindex=${chosen ? 0 : -1} title="Delete" aria-label="Delete ${filter?.label ?? step.name}"
      @click=${(/** @type {Event} */ e) => {
        e.stopPropagation();
        removeStep(step.id);
      }}>${icon('none')}</button>
  </li>`;
}

/** Arrow keys choose, Alt+arrows move. @param {KeyboardEvent} e */
function onListKey(e) {
  const steps = doc.value.steps;
  if (e.altKey || e.ctrlKey || e.shiftKey || !steps.length) return;
  const act = arrowed(e, {
    ArrowUp: () => (selected.value = Math.max(0, selected.value - 1)),
    ArrowDown: () => (selected.value = Math.min(steps.length - 1, selected.value + 1)),
    Delete: () => (selection.value ? cutSelection() : removeStep(steps[selected.value].id)),
  });
  if (!act) return;
  act();
  queueMicrotask(() => /** @type {HTMLElement | null} */ (document.querySelector('#filters li.chosen .name'))?.focus());
}

/** @param {Step} step @param {number} i */
function settings(step, i) {
  const filter = entry(step.name);
  if (!filter) return html`<p class="fault">There is no filter ‘${step.name}’.</p>`;
  const effective = checked.value?.effective[i] ?? {};
  const matters = (/** @type {any} */ s) =>
    !s.only_when || s.id in step.values || s.only_when.values.includes(effective[s.only_when.setting] ?? '');
  // What a mask has is shown where there is one, and a place where it has one.
  const { mask, where } = step.values;
  const isOfMask = (/** @type {any} */ s) =>
    s.group !== 'Mask' || /^(mask|where)$/.test(s.id) || s.id in step.values || where ||
    (mask && s.id !== 'where_over' && !(/_(at|width|height|max_aspect)$/.test(s.id) && /^(luma|alpha|color)$/.test(mask)));
  /** @type {Partial<Record<string, any[]>>} */
  const { Advanced, ...groups } = Object.groupBy(filter.settings.filter(matters), (/** @type {any} */ s) => s.group ?? '');
  groups['Where and when'] = filter.common.filter((/** @type {any} */ s) => matters(s) && isOfMask(s));
  const fault = checked.value?.faults.find((f) => f.step === i && !f.setting);
  return html`<h2>${filter.label}</h2>
    <p class="help">${filter.help}</p>
    ${fault ? html`<p class="fault" role="alert">${fault.text}</p>` : nothing}
    ${Object.entries({ ...groups, ...(Advanced && { Advanced }) }).map(([name, list = []]) => {
      const id = `${step.name}/${name}`;
      /** @type {unknown[]} */
      const lines = list.map((s) => control(step, i, s));
      const mask = list.findIndex((s) => s.id === 'mask');
      if (mask >= 0 && clip.value) lines.splice(mask + 1, 0, html`<p class="draw">${['ellipse', 'rectangle'].map((shape) => html`<button class="small ${command(`mask.${shape}`).on?.() ? 'lit' : ''}" title="${command(`mask.${shape}`).label}: drag in the picture (${keyText(`mask.${shape}`)})" @click=${() => command(`mask.${shape}`).run()}>Draw ${shape === 'ellipse' ? 'an ellipse' : 'a rectangle'}</button> `)}${command('mask.show').can?.() ? html`<button class="small ${command('mask.show').on?.() ? 'lit' : ''}" title="In the place of the result (${keyText('mask.show')})" @click=${() => command('mask.show').run()}>Show the mask</button>` : nothing}</p>`);
      return name === ''
        ? html`<div class="groupbody">${lines}</div>`
        : html`<details .open=${!isShut(id, name)} @toggle=${(/** @type {any} */ e) => {
            if (e.target.open === isShut(id, name)) shut.value = new Map(shut.value).set(id, !e.target.open);
          }}><summary>${name}</summary><div class="groupbody">${lines}</div></details>`;
    })}
    ${effectTemplate(step)}`;
}

function template() {
  const steps = doc.value.steps;
  const step = selectedStep.value;
  const seedFault = checked.value?.faults.find((f) => f.step === undefined);
  return html`
    ${splitter('side')}
    <div class="panelhead">
      <h1>Filters</h1>
      ${tool('filter.up')}${tool('filter.down')}
      <button class="add" title="Whole looks and presets, as pictures of this frame (${keyText('look.gallery')})" ?disabled=${!clip.value} @click=${command('look.gallery').run}>${icon('grid')}Looks</button>
      <button class="add" title="Add a filter (${keyText('filter.add')})" @click=${() => addFilterDialog()}>${icon('add')}Add</button>
    </div>
    <ul aria-label="Filters, in order" data-own-keys @keydown=${onListKey}>
      ${steps.length ? steps.map(row) : html`<li class="empty">No filter: the result is the source.</li>`}
    </ul>
    <div class="seed">
      <label for="recipe-seed" title="Start of all random numbers; filters with a seed of their own keep it">Recipe’s seed</label>
      <input id="recipe-seed" class="text digits" type="text" spellcheck="false" placeholder="0" .value=${doc.value.seed ?? ''}
        @change=${(/** @type {any} */ e) => edit((d) => ({ ...d, seed: e.target.value.trim() || null }))}>
      <button class="icon" title="Another seed" aria-label="Another seed" @click=${() => edit((d) => ({ ...d, seed: randomSeed() }))}>${icon('dice')}</button>
    </div>
    ${seedFault ? html`<p class="fault" role="alert">${seedFault.text}</p>` : nothing}
    <div class="settings">${step ? settings(step, selected.value) : nothing}</div>
    ${checked.value?.notes.map((note) => html`<p class="note">${note}</p>`)}`;
}

/** @param {HTMLElement} root */
export function startFilters(root) {
  let shown = 0;
  effect(() => {
    void clip.value;
    render(template(), root);
    const id = selectedStep.value?.id ?? 0;
    // Another filter is shown from its title on, and its row is in sight.
    if (id !== shown) {
      root.querySelector('.settings')?.scrollTo(0, 0);
      root.querySelector('li.chosen')?.scrollIntoView({ block: 'nearest' });
    }
    shown = id;
  });
}

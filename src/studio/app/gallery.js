// @ts-check The gallery: the current frame under each built-in look, or under each preset of a filter. A click applies one.

import { html, nothing } from './vendor/lit-html.js';
import { get } from './api.js';
import { addStep, applyLook, catalog, doc, fine, frame, plainDoc, reported, selectedStep, selected, signal } from './state.js';
import { arrowed, spoken, usePreset, withPreset } from './controls.js';
import { isCurve, short } from './moving.js';
import { dialog } from './dialogs.js';
import { startThumbs, withFilter } from './thumbs.js';

/** @typedef {{name: string, off: boolean, values: Record<string, string>}} Plain */
/** @typedef {{name: string, about: string, own: boolean, recipe: {steps: Plain[], seed: string | null}}} Look */

/** The presets of a filter. @param {any} filter */
const presetOf = (filter) => filter?.settings.find((/** @type {any} */ s) => s.id === 'preset');

/** Filters in another strength: their opacity is multiplied, where it does not move. @param {Plain[]} steps @param {number} strength */
const weaker = (steps, strength) => (strength === 1 ? steps : steps.map((step) => {
  const { opacity = '1' } = step.values;
  return isCurve(opacity) ? step : { ...step, values: { ...step.values, opacity: short(Number(opacity) * strength, 0.01) } };
}));

/** With the presets of a filter, else with looks. */
export const galleryDialog = reported(async (/** @type {string} */ shown = '') => {
  /** The user's own looks and the built-in ones. @type {Look[]} */
  const looks = await get('/looks');
  const filters = catalog.value.filter((f) => presetOf(f)?.choices?.length);
  const of = signal(filters.some((f) => f.name === shown) ? shown : '');
  const percent = signal(100);
  const follows = signal(false);
  const filter = () => filters.find((f) => f.name === of.value);
  /** The filter whose preset is changed: the selected one, if it is of that kind. */
  const changed = () => (selectedStep.value?.name === of.value ? selectedStep.value : null);
  const values = (/** @type {string} */ preset) => weaker([{ name: of.value, off: false, values: changed() ? withPreset(changed()?.values ?? {}, presetOf(filter()), preset)[0] : { preset } }], percent.value / 100)[0];
  const look = (/** @type {string} */ name) => {
    const { recipe } = /** @type {Look} */ (looks.find((l) => l.name === name));
    return { ...recipe, steps: weaker(recipe.steps, percent.value / 100) };
  };

  /** @param {string} choice */
  const planOf = (choice) => {
    const name = choice.split('|')[0].split('/')[1];
    const recipe = plainDoc();
    if (!of.value) {
      const { steps, seed } = look(name);
      return { recipe: follows.value ? { ...recipe, steps: [...recipe.steps, ...steps] } : { seed, steps }, alone: null };
    }
    const step = values(name);
    if (!changed()) return withFilter(step);
    recipe.steps[selected.value] = step;
    return { recipe, alone: fine.includes(step.name) ? step : null };
  };

  /** @param {string} name */
  const apply = (name) => {
    if (!of.value) return applyLook(look(name), follows.value, name);
    const { values: all } = values(name);
    const step = changed();
    if (!step) return addStep(of.value, all);
    usePreset(step, presetOf(filter()), name, percent.value < 100 ? { opacity: all.opacity } : {});
  };

  /** Arrows go from picture to picture. @param {KeyboardEvent} e */
  const onKey = (e) => {
    const all = /** @type {HTMLElement[]} */ ([...(/** @type {HTMLElement} */ (e.currentTarget)).children]);
    const at = all.indexOf(/** @type {HTMLElement} */ (e.target));
    const row = all.filter((card) => card.offsetTop === all[0].offsetTop).length;
    const by = at < 0 ? 0 : arrowed(e, { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row });
    if (by) all[at + by]?.focus();
  };

  const { element } = dialog('Looks and presets', ({ close }) => {
    /** @type {[string, string][]} */
    const cards = of.value ? presetOf(filter()).choices.map((/** @type {any} */ c) => [c.id, c.help]) : looks.map((l) => [l.name, `${l.own ? 'Your own. ' : ''}${l.about}`]);
    const how = `${frame.value}|${percent.value}|${follows.value}`;
    return html`<div class="gallerybar">
        <select aria-label="What is shown" @change=${(/** @type {any} */ e) => (of.value = e.target.value)}>
          <option value="" .selected=${!of.value}>Looks</option>
          ${filters.map((f) => html`<option value=${f.name} .selected=${f.name === of.value}>Presets: ${f.label}</option>`)}</select>
        <label for="strength">Strength</label><input id="strength" type="range" min="5" max="100" step="5" title="The opacity of the filters" .value=${String(percent.value)}
          @input=${(/** @type {any} */ e) => (percent.value = Number(e.target.value))}><span class="digits">${percent.value} %</span>
        ${!of.value && doc.value.steps.length ? html`<label><input type="checkbox" .checked=${follows.value} @change=${(/** @type {any} */ e) => (follows.value = e.target.checked)}>Keep the filters that are there</label>` : nothing}
      </div>
      <div class="gallery" role="group" aria-label=${of.value ? 'Presets' : 'Looks'} @keydown=${onKey}>${cards.map(([id, more]) => html`<button title=${more} ?autofocus=${id === cards[0][0]} @click=${() => {
        apply(id);
        close();
      }}><canvas class="thumb" width="1" height="1" data-choice="${of.value}/${id}|${how}" aria-hidden="true"></canvas><b>${spoken(id)}</b><span>${more}</span></button>`)}</div>`;
  }, 'looks');
  const list = /** @type {HTMLElement} */ (element.querySelector('.gallery'));
  element.addEventListener('close', startThumbs(list, planOf, () => [of.value, percent.value, follows.value], 208));
});

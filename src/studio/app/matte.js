// @ts-check The mask of the selected filter as a grey picture: the difference between white and black where the filter acts.

import { post } from './api.js';
import { clip, doc, plainDoc, rested, selected, selectedStep, signal, view } from './state.js';

/** The keys of both recipes, and what they make; null while no mask is shown.
 * @type {import('./vendor/signals-core.js').Signal<null | {black: string, white: string, made: {width: number, height: number, shape: number}}>} */
export const matte = signal(/** @type {any} */ (null));

/** What the selected filter has of a mask. @returns {null | Record<string, string>} */
export const maskValues = () => {
  const values = selectedStep.value?.values ?? {};
  return values.mask || values.where ? Object.fromEntries(Object.entries(values).filter(([id]) => /^(mask|where)/.test(id))) : null;
};

rested(30, () => {
  const values = view.matte.value && clip.value ? maskValues() : null;
  if (!values) matte.value = null;
  return values && { id: clip.value?.id, values, recipe: plainDoc(), at: selected.value };
}, async ({ id, values, recipe, at }, stop) => {
  const checked = (/** @type {string} */ color) => post('/recipe', {
    clip: id, recipe: { ...recipe, steps: [...recipe.steps.slice(0, at), { name: 'fade', off: false, values: { ...values, amount: '1', color } }] }, drafts: doc.value.drafts,
  });
  const [black, white] = await Promise.all([checked('black'), checked('white')]);
  if (!stop.aborted) matte.value = white.faults.length ? null : { black: black.key, white: white.key, made: white.made };
});

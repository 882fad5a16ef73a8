// @ts-check What the result (B) is compared with (A): the source, a recipe that was kept, or a still of one.

import { post } from './api.js';
import {
  against, batch, check, checked, clip, doc, effect, frame, openAs, plainDoc, reference, references, replaceRecipe, report, stillClips, toast, untracked, view,
} from './state.js';

/** The largest number of recipes and stills that are kept. */
const MOST = 20;

/** Keeps the recipe as it is, with `still` only its picture of this frame, and compares with it.
 * @param {boolean} still */
export async function keepReference(still) {
  const n = frame.value;
  await check();
  const c = clip.value;
  const { key, made, faults } = checked.value ?? {};
  if (!c || !key || !made || faults?.length) return toast('not kept: the recipe has an error', true);
  const { steps, seed } = plainDoc();
  const id = 1 + Math.max(0, ...references.value.map((r) => r.id));
  const filters = steps.filter((s) => !s.off).map((s) => [s.name, s.values.preset ?? ''].join(' ').trim()).join(', ');
  const name = `${id}: ${filters || 'no filter'}${still ? `, frame ${n}` : ''}`;
  batch(() => {
    references.value = [...references.value.slice(1 - MOST), {
      id, name, clip: c.path, frame: still ? n : null, recipe: { steps, seed }, drafts: doc.value.drafts, key, made,
    }];
    against.value = id;
    if (!/^(side|stack|wipe|diff)$/.test(view.layout.value)) view.layout.value = 'side';
  });
}

/** Tells the server the recipe that is compared with, and opens the clip of a still: it may have dropped both. */
export async function checkReference() {
  const r = references.value.find(({ id }) => id === against.value);
  if (!r || !clip.value) return;
  const of = r.clip === clip.value.path ? clip.value : r.frame === null ? null : await openAs(r.clip);
  if (!of) return;
  await post('/recipe', { clip: of.id, recipe: r.recipe, drafts: r.drafts });
  if (of !== clip.value) stillClips.value = { ...stillClips.value, [r.clip]: of };
}

effect(() => {
  const r = references.value.find(({ id }) => id === against.value);
  if (r && clip.value && r.clip !== clip.value.path && !untracked(() => r.clip in stillClips.value)) checkReference().catch(report);
});

/** Those of this clip, and stills of others. */
export const referencesHere = () => references.value.filter((r) => r.clip === clip.value?.path || r.frame !== null);
/** @param {import('./state.js').Reference} r */
export const titleOf = (r) => `${r.name}${r.clip === clip.value?.path ? '' : ` of ${r.clip.split('/').pop()}`}`;

/** Compares with the next one; after the last one comes the source. */
export function nextReference() {
  const all = referencesHere();
  against.value = all[all.findIndex((r) => r.id === against.value) + 1]?.id ?? 0;
}

/** Takes the recipe that is compared with; the one that was there is kept in its place. A still stays, too. */
export async function swapReference() {
  const r = reference.value;
  if (!r) return;
  await keepReference(false);
  if (r.frame === null) references.value = references.value.filter(({ id }) => id !== r.id);
  replaceRecipe(r.recipe, null, r.drafts);
}

export function dropReference() {
  references.value = references.value.filter((r) => r.id !== against.value);
  against.value = 0;
}

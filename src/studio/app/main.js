// @ts-check Assembles the page, opens the files named on the command line, and restores unsaved work.

import { begin as startSession, get, listen, openWork, post } from './api.js';
import {
  batch, beginHistory, catalog, check, clip, clipTold, connected, doc, effect, folder, keepsake, messageOf, offer, offers, openClip, originals, recipePath,
  replaceRecipe, report, reported, rested, restorePage, restoreWork, savedToml, scale, sizes,
} from './state.js';
import { startCurves } from './curve.js';
import { startEffects } from './effect.js';
import { startFilters } from './filters.js';
import { onKey } from './keys.js';
import { byId, loadJobs, onTold, startPanels } from './panels.js';
import { startTimeline } from './timeline.js';
import { startViewer } from './viewer.js';
import { asSaved, beginRecipe, openedRecipe } from './dialogs.js';
import { startDeinterlacing } from './deinterlace.js';
import { startOpening } from './start.js';

startViewer(byId('view'));
startFilters(byId('filters'));
startTimeline(byId('timeline'));
startCurves();
startEffects();
startPanels();
startOpening();
document.addEventListener('keydown', onKey);
// Some browsers press a button when Space is released.
document.addEventListener('keyup', (e) => {
  if (e.key === ' ' && /** @type {HTMLElement} */ (e.target).tagName === 'BUTTON' && !document.querySelector('dialog[open]')) e.preventDefault();
});
effect(() => {
  document.documentElement.style.zoom = scale.value === 100 ? '' : `${scale.value}%`;
  for (const [which, { value }] of Object.entries(sizes)) document.body.style.setProperty(`--${which}`, value ? `${value}px` : '');
});
// An element that was clicked does not keep the focus: Space plays.
document.addEventListener('click', (e) => {
  const used = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (e.target).closest('#bar button, #timeline button, .tabs button, .panelhead button, input[type=checkbox]'));
  if (e.detail > 0) used?.blur();
});
// Nor does a menu of the bar in which something was chosen. One whose choices arrows step through without opening it does.
let stepping = false;
document.addEventListener('pointerdown', () => (stepping = false), true);
document.addEventListener('keydown', (e) => (stepping = !e.altKey && e.key !== ' ' && e.key !== 'Enter'), true);
byId('bar').addEventListener('change', (e) => {
  if (!stepping) /** @type {HTMLElement} */ (e.target).blur();
});

/** The time of day. @param {number} when */
const clock = (when) => new Date(when).toTimeString().slice(0, 5);

/** Work that was offered. */
const offered = new Set();
/** @param {{id: string, when: number, clip: string | null, filters: string[]}[]} unsaved work that no page has */
function offerWork(unsaved) {
  // The last one is shown: what is offered for this clip, then the newest work.
  offers.value = [...unsaved.filter(({ id }) => !offered.has(id)).reverse().map((work) => ({
    work: work.id,
    text: `There is other unsaved work of ${clock(work.when)}: ${work.filters.join(', ')}${work.clip ? ` on ${work.clip}` : ''}.`,
    answers: /** @type {[string, () => unknown][]} */ ([['Open in a new tab', () => openWork(work.id)], ['Discard', () => post('/forget', { id: work.id }).catch(report)]]),
  })), ...offers.value.filter((o) => !o.work || unsaved.some(({ id }) => id === o.work))];
  unsaved.forEach(({ id }) => offered.add(id));
}

/** Goes on with work that was stored; undo leads back. @param {any} saved */
function take(saved) {
  originals.value = { ...originals.value, ...saved.originals };
  replaceRecipe(saved.recipe, saved.base, saved.drafts);
  recipePath.value = saved.recipePath ?? '';
  savedToml.value = saved.savedToml ?? savedToml.value;
}

/** Offers a copy of the unsaved work of another tab. @param {{id: string, clip: string | null, filters: string[]}} work */
const offerCopy = ({ id, clip, filters }) => offer(
  `Another tab has unsaved work: ${filters.join(', ') || 'an empty recipe'}${clip ? ` on ${clip}` : ''}. It stays there.`,
  [['Open a copy here', () => get(`/work?${new URLSearchParams({ id })}`).then(take).catch(report)]],
);

/** Offers to begin without the work that is restored, until it or its clip is left. @param {number} when */
function offerToLeave(when) {
  const withdraw = offer(`Unsaved work of ${clock(when)} is restored.`, [['Start without it', reported(beginRecipe)]]);
  const path = clip.value?.path;
  const ids = doc.value.steps.map((s) => s.id);
  const stop = effect(() => {
    if (clip.value?.path === path && (!ids.length || doc.value.steps.some((s) => ids.includes(s.id)))) return;
    queueMicrotask(() => {
      stop();
      withdraw();
    });
  });
}

/** @param {boolean} [last] whether the page ends */
const save = (last = false) => post('/autosave', keepsake(), 'POST', undefined, last).catch(() => {});

async function begin() {
  const [filters, session] = await Promise.all([get('/catalog'), startSession()]);
  const { start, autosave, resume, unsaved, elsewhere } = session;
  batch(() => {
    catalog.value = filters;
    folder.value = session.folder;
    restorePage(autosave ?? {});
    savedToml.value = 'version = 1\n';
    doc.value = { ...doc.value, deinterlace: autosave?.deinterlace ?? {} };
  });
  // The same clip continues at its position.
  const input = resume ? autosave.clip : start.input ?? autosave?.clip;
  if (input) await openClip(input).catch(report);
  // What is cut out of clips belongs to the folder, whatever the recipe.
  if (resume && autosave.cuts) {
    doc.value = { ...doc.value, cuts: autosave.cuts };
    savedToml.value = await asSaved({ steps: [], seed: null });
  }
  startDeinterlacing();
  offerWork(unsaved);
  if (elsewhere) offerCopy(elsewhere);
  if (resume && (autosave.recipe?.steps.length || (autosave.recipe && autosave.recipePath))) {
    take(autosave);
    if (autosave.dirty) offerToLeave(autosave.when);
  } else if (start.recipe) {
    const { recipe, name, text, was } = start.recipe;
    await openedRecipe(recipe, name, text, was);
  }
  beginHistory();
  if (resume) restoreWork(autosave);
  await loadJobs();
  rested(400, keepsake, () => save());
  addEventListener('pagehide', () => save(true));
  listen((told) => (told.type === 'unsaved' ? get('/unsaved').then(offerWork, report) : onTold(told)), (is) => {
    const isBack = is && !connected.value;
    connected.value = is;
    // Its length may have been told before this page listened.
    if (is && clip.value?.estimated) clipTold(clip.value.id).catch(report);
    // A server that was started again knows neither the clip nor the recipe.
    if (isBack) check().then(() => post('/autosave', keepsake())).then(loadJobs).catch(report);
  });
  document.body.dataset.ready = 'true';
}

begin().catch((error) => {
  // Without the key of the address nothing can be done here.
  offer(messageOf(error), []);
  document.body.dataset.ready = 'failed';
});

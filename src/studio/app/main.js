// @ts-check Assembles the page, opens the files named on the command line, and restores unsaved work.

import { get, listen } from './api.js';
import {
  batch, catalog, connected, effect, folder, frame, markers, openClip, originals, recent, recipePath, replaceRecipe, report, savedToml, scale, selection,
  sizes, startAutosave, timecode, toast, undo, userKeys,
} from './state.js';
import { startCurves } from './curve.js';
import { startEffects } from './effect.js';
import { startFilters } from './filters.js';
import { onKey } from './keys.js';
import { loadJobs, onTold, startPanels } from './panels.js';
import { startTimeline } from './timeline.js';
import { startViewer } from './viewer.js';
import { openedRecipe } from './dialogs.js';

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

startViewer(byId('view'));
startFilters(byId('filters'));
startTimeline(byId('timeline'));
startCurves();
startEffects();
startPanels();
document.addEventListener('keydown', onKey);
effect(() => {
  document.documentElement.style.zoom = scale.value === 100 ? '' : `${scale.value}%`;
});
effect(() => {
  const { style } = document.body;
  for (const which of /** @type {const} */ (['dock', 'side'])) {
    if (sizes[which].value) style.setProperty(`--${which}`, `${sizes[which].value}px`);
    else style.removeProperty(`--${which}`);
  }
});
// An element that was clicked does not keep the focus: Space plays.
document.addEventListener('click', (e) => {
  const used = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (e.target).closest('#bar button, #timeline button, .tabs button, .panelhead button, input[type=checkbox]'));
  if (e.detail > 0) used?.blur();
});

async function begin() {
  const [filters, session] = await Promise.all([get('/catalog'), get('/session')]);
  const { start, autosave } = session;
  batch(() => {
    catalog.value = filters;
    folder.value = session.folder;
    userKeys.value = autosave?.keys ?? {};
    recent.value = autosave?.recent ?? [];
    scale.value = autosave?.scale ?? 100;
    [sizes.dock.value, sizes.side.value] = autosave?.sizes ?? [0, 0];
    timecode.value = autosave?.timecode ?? true;
    savedToml.value = 'version = 1\n';
  });
  // Files on the command line override restored work; the same clip continues at its position.
  const same = autosave && (!start.input || start.input === autosave.clip);
  const input = start.input ?? autosave?.clip;
  if (input) await openClip(input).catch(report);
  if (start.recipe) {
    const { recipe, name, text } = start.recipe;
    await openedRecipe(recipe, name, text);
  } else if (same && autosave.dirty && autosave.recipe?.steps.length) {
    originals.value = autosave.originals ?? {};
    replaceRecipe(autosave.recipe, autosave.base, autosave.drafts);
    recipePath.value = autosave.recipePath ?? '';
    savedToml.value = autosave.savedToml ?? savedToml.value;
    toast(`Unsaved work of ${new Date(autosave.when).toTimeString().slice(0, 5)} was restored.`, false, [['Keep it', () => {}], ['Start without it', undo]]);
  }
  if (same) {
    frame.value = autosave.frame ?? frame.value;
    selection.value = autosave.selection ?? null;
    markers.value = autosave.markers ?? [];
  }
  await loadJobs();
  startAutosave();
  listen(onTold, (is) => (connected.value = is));
  document.body.dataset.ready = 'true';
}

begin().catch((error) => {
  report(error);
  document.body.dataset.ready = 'failed';
});

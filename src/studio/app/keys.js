// @ts-check All commands in one table, for menus, buttons, the palette and keys. Keys are those of VirtualDub if it has
// one, and J K L, I O, comma and period.

import { html, nothing, svg } from './vendor/lit-html.js';
import { has } from './api.js';
import {
  addStep, canRedo, canUndo, clip, doc, dock, dockOpen, editStep, frame, markers, moveStep, openClip, range, redo, reference, references, removeStep, reported, scale,
  seek, selected, selectedStep, selection, timecode, timing, toast, undo, userKeys, view,
} from './state.js';
import { cutSelection, cuts, restoreCuts, step as stepKept } from './cutting.js';
import { drawing, play, playing, png, sound, zoomBy, zoomTo } from './viewer.js';
import { dropReference, keepReference, nextReference, swapReference } from './compare.js';
import { deinterlaceDialog } from './deinterlace.js';
import * as dialogs from './dialogs.js';
import { fileDialog } from './files.js';
import { galleryDialog } from './gallery.js';
import { maskValues } from './matte.js';
import { describeDialog, tagsDialog } from './interpret.js';
import { copyCommand, renderDialog } from './render.js';
import { seekKeyFrame, seekMarker, seekScene, stopSearch, toggleMarker } from './scenes.js';

/** @typedef {{id: string, group: string, label: string, keys: string[], run: () => unknown, icon?: string,
 *   on?: () => boolean, can?: () => boolean}} Command */

/** The shapes of icons, on 16 by 16. @type {Record<string, string>} */
const shapes = {
  start: 'M3 3h2v10H3zM14 3v10L6 8z', end: 'M11 3h2v10h-2zM2 3v10l8-5z', back: 'M11 3v10L4 8z', forward: 'M5 3v10l7-5z',
  play: 'M4 2v12l10-6z', stop: 'M3 3h10v10H3z',
  none: 'M3 4.4 4.4 3 8 6.6 11.6 3 13 4.4 9.4 8 13 11.6 11.6 13 8 9.4 4.4 13 3 11.6 6.6 8z',
  undo: 'M6 2v3h3a5 5 0 0 1 0 9H5v-2h4a3 3 0 0 0 0-5H6v3L1.500 6z', redo: 'M10 2v3H7a5 5 0 0 0 0 9h4v-2H7a3 3 0 0 1 0-5h3v3l4.500-4z',
  side: 'M1 3h6v10H1zM9 3h6v10H9z', stack: 'M2 1h12v6H2zM2 9h12v6H2z', one: 'M2 2h12v12H2zM4 4v8h8V4z',
  keep: 'M1 1h9v3h5v11H6v-3H1zM3 3v7h3V4h2V3zM8 6v7h5V6z',
  wipe: 'M1 3h14v10H1zM3 5v6h4V5z', diff: 'M7 2h2v4h4v2H9v3H7V8H3V6h4zM3 12h10v2H3z', add: 'M7 2h2v5h5v2H9v5H7V9H2V7h5z',
  up: 'M8 3l6 7H2z', down: 'M8 13l6-7H2z', dice: 'M2 2h12v12H2zM4.500 4.500v2h2v-2zM9.500 4.500v2h2v-2zM4.500 9.500v2h2v-2zM9.500 9.500v2h2v-2z',
  pick: 'M7 1h2v3H7zM7 12h2v3H7zM1 7h3v2H1zM12 7h3v2h-3zM7 7h2v2H7z', file: 'M1 3h5l2 2h7v8H1z',
  key: 'M8 2l5 6-5 6-5-6z', reset: 'M8 3a5 5 0 1 1-4.600 3l1.800.8A3 3 0 1 0 8 5v2.500L4 4l4-3.500z', loupe: 'M6.500 1a5.500 5.500 0 0 1 4.400 8.800l4 4-1.400 1.400-4-4A5.500 5.500 0 1 1 6.500 1zm0 2a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7z',
  sceneback: 'M2 3h2v10H2zM14 3v10L9 8zM9 3v10L4 8z', sceneforward: 'M12 3h2v10h-2zM2 3v10l5-5zM7 3v10l5-5z', marker: 'M4 1h8v14L8 11l-4 4z',
  sound: 'M1 6h3l4-4v12l-4-4H1zM10 5a4 4 0 0 1 0 6zM10 2a6 6 0 0 1 0 12v-1.500a4.500 4.500 0 0 0 0-9z',
  grid: 'M1 1h6v6H1zM9 1h6v6H9zM1 9h6v6H1zM9 9h6v6H9z', clip: 'M1 13 13 1h2v2L3 15H1zM1 6l5-5h3L1 9zM15 10l-5 5H7l8-8z',
};

/** @param {string} name */
export const icon = (name) => svg`<svg class="glyph" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path fill-rule="evenodd" d=${shapes[name] ?? ''}/></svg>`;

const open = () => !!clip.value;
/** @param {string} name @param {string} [back] what the same key goes back to */
const layout = (name, back = name) => ({ run: () => (view.layout.value = view.layout.value === name ? back : name), on: () => view.layout.value === name });
/** @param {import('./vendor/signals-core.js').Signal<boolean>} of */
const toggle = (of) => ({ run: () => (of.value = !of.value), on: () => of.value });
/** What is done with the selected filter. @param {(step: import('./state.js').Step) => unknown} run */
const withStep = (run) => ({
  run: () => selectedStep.value && run(selectedStep.value),
  can: () => !!selectedStep.value,
});
/** @param {'ellipse' | 'rectangle'} shape */
const mask = (shape) => ({
  run: () => (drawing.value = shape),
  on: () => drawing.value === shape,
  can: () => !!selectedStep.value && open(),
});
/** @param {number} by */
const step = (by) => () => {
  if (playing.value) play(0);
  stepKept(by);
};
/** @param {number} speed */
const shuttle = (speed) => () => {
  const now = playing.value;
  play(Math.sign(now) === Math.sign(speed) ? Math.max(-8, Math.min(8, now * 2)) : speed);
};
/** @param {'in' | 'out'} side */
const copyFrame = (side) => reported(async () => {
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': await png(side) })]);
  toast(`frame ${frame.value} is in the clipboard`);
});
/** @param {'in' | 'out'} side */
const saveFrame = (side) => reported(async () =>
  dialogs.download(await png(side), `${clip.value?.name.replace(/\.\w+$/, '').replace(/[^\w-]+/g, '-')}-${frame.value}-${side === 'in' ? 'source' : 'result'}.png`));
const scales = [80, 90, 100, 110, 125, 150, 175, 200];
/** @param {number} by */
const resize = (by) => {
  scale.value = scales[Math.max(0, Math.min(scales.length - 1, scales.indexOf(scale.value) + by))];
};
/** @param {string} tab */
const showDock = (tab) => () => ([dock.value, dockOpen.value] = [tab, dock.value !== tab || !dockOpen.value]);

/** The filter that was copied. @type {null | import('./state.js').Step} */
let copied = null;

export const commands = /** @type {Command[]} */ ([
  { id: 'file.open', group: 'File', label: 'Open a clip', keys: ['Ctrl+O', 'F2'], run: () => fileDialog('Open a clip', 'clip', openClip, { clips: true }) },
  { id: 'file.start', group: 'File', label: 'Start page: recent clips, examples', keys: [], run: () => {
    play(0);
    clip.value = null;
  }, can: open },
  { id: 'recipe.new', group: 'File', label: 'New recipe', keys: ['Ctrl+Alt+N'], run: () => dialogs.newRecipe() },
  { id: 'recipe.open', group: 'File', label: 'Open a recipe', keys: ['Ctrl+L'], run: () => fileDialog('Open a recipe', 'recipe', dialogs.openRecipeFile) },
  { id: 'recipe.save', group: 'File', label: 'Save the recipe', keys: ['Ctrl+S'], run: () => dialogs.saveRecipe(false) },
  { id: 'recipe.saveas', group: 'File', label: 'Save the recipe as', keys: ['Ctrl+Shift+S'], run: () => dialogs.saveRecipe(true) },
  { id: 'recipe.look', group: 'File', label: 'Keep as look…', keys: [], run: () => dialogs.keepLook(), can: () => doc.value.steps.length > 0 },
  { id: 'recipe.command', group: 'File', label: 'Copy as command line', keys: ['Ctrl+Shift+C'], run: reported(copyCommand), can: open },
  { id: 'recipe.text', group: 'File', label: 'Recipe as text', keys: ['Ctrl+Shift+E'], run: () => dialogs.recipeText() },
  { id: 'render.now', group: 'File', label: 'Render', keys: ['F7'], run: () => renderDialog(), can: open },
  { id: 'frame.copy.out', group: 'File', label: 'Copy the result frame', keys: ['Ctrl+2'], run: copyFrame('out'), can: open },
  { id: 'frame.copy.in', group: 'File', label: 'Copy the source frame', keys: ['Ctrl+1'], run: copyFrame('in'), can: open },
  { id: 'frame.save.out', group: 'File', label: 'Save the result frame as PNG', keys: ['Ctrl+Alt+2'], run: saveFrame('out'), can: open },
  { id: 'frame.save.in', group: 'File', label: 'Save the source frame as PNG', keys: ['Ctrl+Alt+1'], run: saveFrame('in'), can: open },
  { id: 'file.facts', group: 'File', label: 'Clip properties', keys: ['Alt+Enter'], run: () => dialogs.factsDialog(), can: open },
  { id: 'file.deinterlace', group: 'File', label: 'Deinterlace', keys: [], run: () => deinterlaceDialog(), can: open, on: () => !!clip.value?.lavfi },
  { id: 'file.samples', group: 'File', label: 'Describe the samples', keys: [], run: () => describeDialog(clip.value?.path ?? ''), can: () => !!clip.value?.raw },
  { id: 'file.tags', group: 'File', label: 'Interpret the clip: matrix, range, transfer, rate', keys: [], run: tagsDialog, can: open, on: () => Object.keys(clip.value?.tags ?? {}).length > 0 },
  { id: 'time.code', group: 'Frames', label: 'Times as timecode', keys: ['Shift+T'], run: () => (timecode.value = !timecode.value), on: () => timecode.value },
  { id: 'edit.undo', group: 'Edit', label: 'Undo', keys: ['Ctrl+Z'], run: undo, icon: 'undo', can: () => canUndo.value },
  { id: 'edit.redo', group: 'Edit', label: 'Redo', keys: ['Ctrl+Y', 'Ctrl+Shift+Z'], run: redo, icon: 'redo', can: () => canRedo.value },
  { id: 'filter.add', group: 'Filters', label: 'Add a filter', keys: ['Ctrl+F'], run: () => dialogs.addFilterDialog(), icon: 'add' },
  { id: 'look.gallery', group: 'Filters', label: 'Looks', keys: ['G'], run: () => galleryDialog(), icon: 'grid', can: open },
  { id: 'look.presets', group: 'Filters', label: 'Presets of the filter, as pictures', keys: ['Shift+G'], run: () => galleryDialog(selectedStep.value?.name), can: () => !!selectedStep.value && open() },
  { id: 'filter.copy', group: 'Filters', label: 'Copy the filter', keys: ['Ctrl+C'], ...withStep((s) => (copied = s)) },
  { id: 'filter.cut', group: 'Filters', label: 'Cut the filter', keys: ['Ctrl+X'], ...withStep((s) => {
    copied = s;
    removeStep(s.id);
  }) },
  { id: 'filter.paste', group: 'Filters', label: 'Paste the filter', keys: ['Ctrl+V'], run: () => copied && addStep(copied.name, copied.values) },
  { id: 'sel.restore', group: 'Selection', label: 'Bring cut frames back', keys: ['Shift+Delete'], run: restoreCuts, can: () => cuts.value.length > 0 },
  { id: 'filter.delete', group: 'Filters', label: 'Cut out the selected frames, else delete the filter', keys: ['Delete'], run: () => {
    if (selection.value) cutSelection();
    else withStep((s) => removeStep(s.id)).run();
  }, can: () => !!selectedStep.value || !!selection.value },
  { id: 'filter.toggle', group: 'Filters', label: 'Switch the filter on or off', keys: ['Ctrl+B'],
    ...withStep((s) => editStep(s.id, (one) => ({ ...one, off: !one.off }))) },
  { id: 'filter.up', group: 'Filters', label: 'Move the filter up', keys: ['Alt+ArrowUp'], run: () => moveStep(selected.value, selected.value - 1), icon: 'up', can: () => selected.value > 0 },
  { id: 'filter.down', group: 'Filters', label: 'Move the filter down', keys: ['Alt+ArrowDown'], run: () => moveStep(selected.value, selected.value + 1), icon: 'down',
    can: () => selected.value < doc.value.steps.length - 1 },
  { id: 'mask.ellipse', group: 'Filters', label: 'Draw an ellipse as the filter’s mask', keys: ['E'], ...mask('ellipse') },
  { id: 'mask.rectangle', group: 'Filters', label: 'Draw a rectangle as the filter’s mask', keys: ['Shift+E'], ...mask('rectangle') },
  { id: 'mask.show', group: 'Filters', label: 'Show the filter’s mask', keys: ['H'], ...toggle(view.matte), can: () => !!maskValues() },
  { id: 'step.back', group: 'Frames', label: 'Frame back', keys: ['ArrowLeft', ','], run: step(-1), icon: 'back', can: open },
  { id: 'step.forward', group: 'Frames', label: 'Frame forward', keys: ['ArrowRight', '.'], run: step(1), icon: 'forward', can: open },
  { id: 'step.back50', group: 'Frames', label: '50 frames back', keys: ['Alt+ArrowLeft', 'PageUp'], run: step(-50) },
  { id: 'step.forward50', group: 'Frames', label: '50 frames forward', keys: ['Alt+ArrowRight', 'PageDown'], run: step(50) },
  { id: 'go.start', group: 'Frames', label: 'To the start', keys: ['Ctrl+ArrowLeft'], run: () => seek(clip.value?.first ?? 0), icon: 'start', can: open },
  { id: 'go.end', group: 'Frames', label: 'To the end', keys: ['Ctrl+ArrowRight'], run: () => seek(clip.value?.last ?? 0), icon: 'end', can: open },
  { id: 'go.scene.back', group: 'Frames', label: 'To the previous cut', keys: ['Ctrl+Shift+ArrowLeft'], run: () => seekScene(true), icon: 'sceneback', can: open },
  { id: 'go.scene.forward', group: 'Frames', label: 'To the next cut', keys: ['Ctrl+Shift+ArrowRight'], run: () => seekScene(false), icon: 'sceneforward', can: open },
  { id: 'go.key.back', group: 'Frames', label: 'To the previous key frame', keys: ['Shift+ArrowLeft'], run: () => seekKeyFrame(true), can: open },
  { id: 'go.key.forward', group: 'Frames', label: 'To the next key frame', keys: ['Shift+ArrowRight'], run: () => seekKeyFrame(false), can: open },
  { id: 'marker.toggle', group: 'Frames', label: 'Set or clear a marker', keys: ['M'], run: toggleMarker, icon: 'marker', on: () => markers.value.includes(frame.value), can: open },
  { id: 'marker.back', group: 'Frames', label: 'To the previous marker', keys: ['{'], run: () => seekMarker(true), can: open },
  { id: 'marker.forward', group: 'Frames', label: 'To the next marker', keys: ['}'], run: () => seekMarker(false), can: open },
  { id: 'go.frame', group: 'Frames', label: 'Go to a frame or time', keys: ['Ctrl+G'], run: () => dialogs.goDialog(), can: open },
  { id: 'play.result', group: 'Frames', label: 'Play', keys: ['Space'], run: () => play(playing.value ? 0 : 1), icon: 'play', can: open },
  { id: 'play.stop', group: 'Frames', label: 'Stop', keys: ['K', 'Escape'], run: () => {
    play(0);
    stopSearch();
  }, icon: 'stop' },
  { id: 'play.out', group: 'Frames', label: 'Play the result alone', keys: ['Enter'], run: () => play(playing.value ? 0 : 1, 'out'), can: open },
  { id: 'play.in', group: 'Frames', label: 'Play the source alone', keys: ['Shift+Enter'], run: () => play(playing.value ? 0 : 1, 'in'), can: open },
  { id: 'play.start', group: 'Frames', label: 'Play from the start', keys: ['F5'], run: () => {
    seek(range()[0]);
    play(1);
  }, can: open },
  { id: 'play.sound', group: 'Frames', label: 'Sound while playing', keys: ['Shift+M'], ...toggle(sound), icon: 'sound', can: () => !!clip.value?.sound },
  { id: 'play.faster', group: 'Frames', label: 'Play forward, faster each time', keys: ['L'], run: shuttle(1), can: open },
  { id: 'play.backward', group: 'Frames', label: 'Play backward, faster each time', keys: ['J'], run: shuttle(-1), can: open },
  { id: 'sel.in', group: 'Selection', label: 'Selection begins here', keys: ['Home', 'I'],
    run: () => (selection.value = [frame.value, Math.max(frame.value, range()[1])]), can: open },
  { id: 'sel.out', group: 'Selection', label: 'Selection ends here', keys: ['End', 'O'],
    run: () => (selection.value = [Math.min(frame.value, range()[0]), frame.value]), can: open },
  { id: 'sel.go.in', group: 'Selection', label: 'To the selection\u2019s first frame', keys: ['['], run: () => seek(range()[0]) },
  { id: 'sel.go.out', group: 'Selection', label: 'To the selection\u2019s last frame', keys: [']'], run: () => seek(range()[1]) },
  { id: 'sel.all', group: 'Selection', label: 'Select everything', keys: ['Ctrl+A'],
    run: () => (selection.value = clip.value && [clip.value.first, clip.value.last]) },
  { id: 'sel.none', group: 'Selection', label: 'Clear the selection', keys: ['Ctrl+D'], run: () => (selection.value = null), can: open },
  { id: 'view.side', group: 'View', label: 'Side by side', keys: ['1'], ...layout('side'), icon: 'side' },
  { id: 'view.stack', group: 'View', label: 'One above the other', keys: ['2'], ...layout('stack'), icon: 'stack' },
  { id: 'view.swap', group: 'View', label: 'Swap source and result', keys: ['Shift+B'], ...toggle(view.swapped) },
  { id: 'view.out', group: 'View', label: 'The result alone', keys: ['3', 'F9'], ...layout('out'), icon: 'one' },
  { id: 'view.in', group: 'View', label: 'The source alone', keys: ['4', 'F10'], ...layout('in') },
  { id: 'view.wipe', group: 'View', label: 'Wipe between source and result', keys: ['5', 'W'], ...layout('wipe'), icon: 'wipe' },
  { id: 'view.diff', group: 'View', label: 'Difference', keys: ['6', 'D'], ...layout('diff', 'side'), icon: 'diff' },
  { id: 'view.flip', group: 'View', label: 'Flip between source and result', keys: ['B', 'V'], run: () => (view.layout.value = view.layout.value === 'out' ? 'in' : 'out') },
  { id: 'compare.keep', group: 'View', label: 'Keep the recipe as A, to compare with', keys: ['R'], run: reported(() => keepReference(false)), icon: 'keep', can: open },
  { id: 'compare.still', group: 'View', label: 'Keep the result of this frame as a still, to compare with', keys: ['Shift+R'], run: reported(() => keepReference(true)), can: open },
  { id: 'compare.next', group: 'View', label: 'Compare with the next one: source, recipes, stills', keys: ['N'], run: nextReference, can: () => references.value.length > 0 },
  { id: 'compare.swap', group: 'View', label: 'Exchange the recipe and A', keys: ['X'], run: reported(swapReference), can: () => !!reference.value },
  { id: 'compare.drop', group: 'View', label: 'Forget A', keys: ['Shift+N'], run: dropReference, can: () => !!reference.value },
  { id: 'view.fit', group: 'View', label: 'Fit', keys: ['F', '0'], run: () => zoomTo(0), on: () => view.zoom.value === 0 },
  { id: 'view.fill', group: 'View', label: 'Fill the pane', keys: ['Shift+F'], run: () => zoomTo(-1), on: () => view.zoom.value === -1 },
  { id: 'view.one', group: 'View', label: 'One to one', keys: ['Z'], run: () => zoomTo(1), on: () => view.zoom.value === 1 },
  { id: 'view.zoomin', group: 'View', label: 'Zoom in', keys: ['+', '='], run: () => zoomBy(1) },
  { id: 'view.zoomout', group: 'View', label: 'Zoom out', keys: ['-'], run: () => zoomBy(-1) },
  { id: 'view.clipping', group: 'View', label: 'Mark clipped samples', keys: ['C'], ...toggle(view.clipping), icon: 'clip' },
  { id: 'view.loupe', group: 'View', label: 'Loupe', keys: ['Q'], ...toggle(view.loupe), icon: 'loupe' },
  { id: 'view.field', group: 'View', label: 'Frame, top field, bottom field', keys: ['T'], run: () => (view.field.value = { '': 'top', top: 'bottom' }[view.field.value] ?? '') },
  { id: 'view.square', group: 'View', label: 'Square pixels, or the clip’s shape', keys: ['A'], ...toggle(view.square) },
  { id: 'view.larger', group: 'View', label: 'Enlarge interface', keys: ['Ctrl+Alt++', 'Ctrl+Alt+=', 'Ctrl+Alt+Shift++'], run: () => resize(1) },
  { id: 'view.smaller', group: 'View', label: 'Shrink interface', keys: ['Ctrl+Alt+-'], run: () => resize(-1) },
  { id: 'filter.times', group: 'View', label: 'Time per filter', keys: ['Shift+F8'], ...toggle(timing) },
  { id: 'dock.curves', group: 'View', label: 'Curves', keys: ['Ctrl+Shift+K'], run: showDock('curves') },
  { id: 'dock.scopes', group: 'View', label: 'Scopes', keys: ['S'], run: showDock('scopes') },
  { id: 'dock.measure', group: 'View', label: 'Measure', keys: ['Ctrl+Shift+M'], run: showDock('measure') },
  { id: 'dock.jobs', group: 'View', label: 'Jobs', keys: ['F4'], run: showDock('jobs') },
  { id: 'help.keys', group: 'Help', label: 'Keys', keys: ['F1', '?'], run: () => dialogs.keysDialog() },
  { id: 'help.palette', group: 'Help', label: 'Find a command', keys: ['Ctrl+K', 'Ctrl+Shift+P'], run: () => dialogs.palette() },
  { id: 'help.match', group: 'Help', label: 'Match grain of a scan: grainfield match', keys: [], run: () => dialogs.matchDialog() },
]).filter(({ id }) => has(id));

/** Keys of what has the focus, which stay as they are. */
export const fixedKeys = [
  { group: 'In the plot of a curve', label: 'A key at the playhead, or choose the one there', keys: ['Enter'] },
  { group: 'In the plot of a curve', label: 'Move the chosen key by a frame', keys: ['ArrowLeft', 'ArrowRight'] },
  { group: 'In the plot of a curve', label: 'Change its value by a step', keys: ['ArrowUp', 'ArrowDown'] },
  { group: 'In the plot of a curve', label: 'The same by ten', keys: ['Shift+ArrowLeft', 'Shift+ArrowRight', 'Shift+ArrowUp', 'Shift+ArrowDown'] },
  { group: 'In the plot of a curve', label: 'Delete the chosen key', keys: ['Delete'] },
  { group: 'In the plot of a curve', label: 'Clear the selection: arrows step frames again', keys: ['Escape'] },
  { group: 'On a drawn mask', label: 'Move it by a sample; with Shift by ten', keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'] },
  { group: 'On a drawn mask', label: 'Resize it', keys: ['Ctrl+ArrowLeft', 'Ctrl+ArrowRight', 'Ctrl+ArrowUp', 'Ctrl+ArrowDown'] },
  { group: 'In numbers and the table of keys', label: 'A step', keys: ['ArrowUp', 'ArrowDown'] },
  { group: 'In numbers and the table of keys', label: 'Ten steps', keys: ['Shift+ArrowUp', 'Shift+ArrowDown'] },
];

/** @param {string} id @returns {Command} */
export function command(id) {
  const found = commands.find((c) => c.id === id);
  if (!found) throw new Error(`no command ${id}`);
  return found;
}

/** The keys of a command: the user's, or its own. @param {Command} c */
export const keysOf = (c) => (c.id in userKeys.value ? [userKeys.value[c.id]].filter(Boolean) : c.keys);

/** @param {string} key */
export const pretty = (key) =>
  key.replace('Arrow', '').replace('PageUp', 'PgUp').replace('PageDown', 'PgDn');
/** @param {string} id */
export const keyText = (id) => keysOf(command(id)).map(pretty).join(', ');

/** The button of a command: a text, or its icon. @param {string} id @param {string} [text] @param {string} [kind] */
export const tool = (id, text, kind = text ? '' : 'icon') => {
  const { label, icon: shape = '', on, can, run } = command(id);
  const keys = keyText(id);
  return html`<button class="${kind} ${on?.() ? 'lit' : ''}" title="${label}${keys ? ` (${keys})` : ''}"
    aria-label=${text ? nothing : label} aria-pressed=${on ? String(on()) : nothing}
    ?disabled=${can ? !can() : false} @click=${() => run()}>${text ?? icon(shape)}</button>`;
};

/** An event as it stands in the table. @param {KeyboardEvent} e */
export function keyName(e) {
  if (['Control', 'Shift', 'Alt', 'Meta'].includes(e.key)) return '';
  let name = e.key === ' ' ? 'Space' : e.key;
  const letter = /^[a-z]$/i.test(name);
  if (letter) name = name.toUpperCase();
  // With Ctrl or Alt, some layouts give other characters for digits and letters.
  if ((e.ctrlKey || e.altKey) && /^(Key[A-Z]|Digit[0-9])$/.test(e.code)) name = e.code.slice(-1);
  const shift = e.shiftKey && (letter || name.length > 1 || e.ctrlKey);
  return `${e.ctrlKey || e.metaKey ? 'Ctrl+' : ''}${e.altKey ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${name}`;
}

/** Whether a key belongs to what has the focus: text is typed, and lists and sliders of the browser move by arrows.
 * @param {KeyboardEvent} e @param {string} name */
function isTyped(e, name) {
  const target = /** @type {HTMLElement} */ (e.target);
  const tag = target.tagName;
  const type = /** @type {HTMLInputElement} */ (target).type;
  const plain = !/^(Ctrl|Alt)\+/.test(name);
  if (tag === 'TEXTAREA' || (tag === 'INPUT' && !['checkbox', 'range', 'color', 'button'].includes(type))) {
    return (plain && !/^(Shift\+)?F\d/.test(name)) || /^Ctrl\+([ACVXZY]|Arrow|Home|End|Shift\+Z)/.test(name);
  }
  if (tag === 'SELECT') return plain && !/^F\d/.test(name);
  if (tag === 'INPUT' && type === 'range') return /^(Arrow|Page|Home|End)/.test(name);
  // Space plays, wherever a button was pressed last.
  if (tag === 'BUTTON') return name === 'Enter';
  if (/^(checkbox|radio)$/.test(type) || tag === 'SUMMARY') return name === 'Space' || name === 'Enter';
  return !!target.closest('[data-own-keys]') && /^(Arrow(Up|Down)|Delete|Enter|Space)$/.test(name);
}

/** @param {KeyboardEvent} e */
export function onKey(e) {
  const name = keyName(e);
  if (!name || e.defaultPrevented || document.querySelector('dialog[open]')) return;
  if (isTyped(e, name)) {
    if (name === 'Escape' || (name === 'Enter' && /** @type {any} */ (e.target).tagName === 'INPUT')) {
      /** @type {HTMLElement} */ (e.target).blur();
    }
    return;
  }
  const found = commands.find((c) => keysOf(c).includes(name));
  if (!found) return;
  e.preventDefault();
  if (!found.can || found.can()) found.run();
}

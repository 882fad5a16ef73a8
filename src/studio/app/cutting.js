// @ts-check The frames that are cut out of clips: they keep their numbers, and steps, playing and renders pass over them.

import { computed } from './vendor/signals-core.js';
import { clip, doc, edit, frame, range, seek, selection } from './state.js';

/** @typedef {import('./state.js').Clip} Clip */

/** The number of frames that deinterlacing makes of one. @param {Clip | null} c */
export const framesOfOne = (c) => (c?.lavfi?.includes('send_field') ? 2 : 1);

/** The frames that are cut out of a clip: those of the file, as they are shown. @param {Clip | null} c */
export const cutsOf = (c) => {
  const each = framesOfOne(c);
  return (doc.value.cuts[c?.path ?? ''] ?? []).map(([a, b]) => /** @type {[number, number]} */ ([a * each, b * each + each - 1]));
};
/** Those of the clip that is open. */
export const cuts = computed(() => cutsOf(clip.value));

/** The frames between two that are not cut out, in ranges.
 * @param {[number, number]} of @param {[number, number][]} cut @returns {[number, number][]} */
export function keptRanges(of = range(), cut = cuts.value) {
  let [from, to] = of;
  /** @type {[number, number][]} */
  const kept = [];
  for (const [a, b] of cut) {
    if (b < from || a > to) continue;
    if (a > from) kept.push([from, a - 1]);
    from = Math.max(from, b + 1);
  }
  return from <= to ? [...kept, [from, to]] : kept;
}

/** Goes on by frames that are not cut out. @param {number} by */
export function step(by) {
  const c = clip.value;
  const kept = c ? keptRanges([c.first, c.last]) : [];
  if (!kept.length) return seek(frame.value + by);
  const before = kept.reduce((all, [a, b]) => all + Math.max(0, Math.min(b + 1, frame.value) - a), 0);
  // A frame that is cut out is between two.
  const isCut = !kept.some(([a, b]) => a <= frame.value && frame.value <= b);
  let left = Math.max(0, before + by - (isCut && by > 0 ? 1 : 0));
  for (const [a, b] of kept) {
    if (left <= b - a) return seek(a + left);
    left -= b - a + 1;
  }
  seek(kept[kept.length - 1][1]);
}

/** The cut that a frame is in. @param {number} n */
export const cutAt = (n) => cuts.value.find(([a, b]) => a <= n && n <= b);

/** `0-9,20-29`, as the option `--frames` takes it; null is all of the clip. @param {[number, number]} [of] @param {Clip | null} [c] */
export function framesText(of = range(), c = clip.value) {
  const kept = keptRanges(of, cutsOf(c));
  if (!kept.length) throw new Error('all of these frames are cut out');
  const isAll = kept.length === 1 && kept[0][0] === c?.first && (kept[0][1] === c.last || (c.estimated && !selection.value));
  return isAll ? null : kept.map(([a, b]) => `${a}-${b}`).join(',');
}

/** @param {(list: [number, number][]) => [number, number][]} change */
function editCuts(change) {
  const each = framesOfOne(clip.value);
  const of = change(cuts.value).map(([a, b]) => /** @type {[number, number]} */ ([Math.floor(a / each), Math.floor(b / each)]));
  edit((d) => ({ ...d, cuts: { ...d.cuts, [clip.value?.path ?? '']: of } }));
}

/** Cuts out the selected frames, with those beside them that are cut already. */
export function cutSelection() {
  if (!selection.value) return;
  let [from, to] = selection.value;
  editCuts((list) => {
    for (const [a, b] of list) if (b >= from - 1 && a <= to + 1) [from, to] = [Math.min(a, from), Math.max(b, to)];
    return [...list.filter(([a, b]) => b < from || a > to), /** @type {[number, number]} */ ([from, to])].sort((a, b) => a[0] - b[0]);
  });
  selection.value = null;
  seek(to + 1 > (clip.value?.last ?? 0) ? from - 1 : to + 1);
}

/** Brings back what is cut out of the selection, or everything. */
export function restoreCuts() {
  const [from, to] = range();
  editCuts((list) => list.flatMap(([a, b]) => /** @type {[number, number][]} */ ([[a, Math.min(b, from - 1)], [Math.max(a, to + 1), b]]).filter(([x, y]) => x <= y)));
}

// @ts-check Pictures that have arrived, by their addresses: for steps back, loops and the hand on the timeline. Those used
// longest ago are dropped.

import { signal, view } from './state.js';

/** @typedef {import('./api.js').Picture} Picture */
/** @typedef {'in' | 'out' | 'diff'} Side */

/** Bytes of all pictures. */
export const LIMIT = 256 << 20;
/** Counts changes, for what shows them. */
export const changes = signal(0);
/** @type {Map<string, Picture>} */
const all = new Map();
let bytes = 0;

/** @param {string} url */
export function kept(url) {
  const found = all.get(url);
  if (found) {
    all.delete(url);
    all.set(url, found);
  }
  return found;
}

/** The bytes of a kept picture, or 0. @param {string} url */
export const keptOf = (url) => all.get(url)?.image.data.length ?? 0;

/** @param {string} url @param {Picture} picture */
export function keep(url, picture) {
  bytes += picture.image.data.length - keptOf(url);
  all.delete(url);
  all.set(url, picture);
  for (const [old, { image }] of all) {
    if (bytes <= LIMIT) break;
    all.delete(old);
    bytes -= image.data.length;
  }
  changes.value++;
}

export function forget() {
  all.clear();
  bytes = 0;
  changes.value++;
}

/** Frames of which these pictures are there, in runs: the address is split at the frame's number.
 * @param {[string, string][]} addresses @returns {[number, number][]} */
export function runs(addresses) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const url of all.keys()) {
    for (const [before, after] of addresses) {
      if (!url.startsWith(before) || !url.endsWith(after)) continue;
      const n = Number(url.slice(before.length, url.length - after.length));
      counts.set(n, (counts.get(n) ?? 0) + 1);
    }
  }
  /** @type {[number, number][]} */
  const found = [];
  for (const n of [...counts.keys()].filter((n) => counts.get(n) === addresses.length).sort((a, b) => a - b)) {
    const end = found[found.length - 1];
    if (end && end[1] === n - 1) end[1] = n;
    else found.push([n, n]);
  }
  return found;
}

/** Gives a canvas a picture and its size. @param {HTMLCanvasElement | OffscreenCanvas} canvas @param {ImageData} image
 * @param {CanvasRenderingContext2DSettings} [how] */
export function putPicture(canvas, image, how) {
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', how));
  context.putImageData(image, 0, 0);
  return context;
}

/** Sides that a layout shows, in order. @param {string} layout @returns {Side[]} */
export const shownSides = (layout) => {
  if (layout === 'wipe') return ['in', 'out'];
  if (layout !== 'side' && layout !== 'stack') return [/** @type {Side} */ (layout)];
  return view.swapped.value ? ['out', 'in'] : ['in', 'out'];
};

// @ts-check Curves as text: their values at the playhead, as the library works them out, and keys that are set there.

import { clip, frame, post, signal } from './state.js';

/** @param {string | undefined} text */
export const isCurve = (text) => !!text && (text.includes('=') || text.startsWith('@'));

/** Values of curves at the playhead, by filter, setting, text and frame. @type {Map<string, any>} */
const values = new Map();
/** Counts the values that have come. */
export const known = signal(0);

/** The value of a curve at a frame, as the library works it out; null until it has come.
 * @param {string} filter @param {string} setting @param {string} text @param {number} at
 * @param {boolean} [layer] whether it is a key of an effect's layers @returns {number[] | null} */
export function valueAt(filter, setting, text, at, layer = false) {
  void known.value;
  const id = [clip.value?.id ?? '', filter, setting, text, at].join('\n');
  const found = values.get(id);
  if (found !== undefined) return found;
  if (values.size > 2000) values.clear();
  values.set(id, null);
  post('/curve', { clip: clip.value?.id ?? null, filter, setting, text, from: at, to: at, samples: 1, layer })
    .then((drawn) => {
      values.set(id, drawn.samples.map((/** @type {number[]} */ s) => s[0]));
      known.value++;
    })
    .catch(() => {});
  return null;
}

/** A number in its shortest form. @param {number} n @param {number} [step] */
export function short(n, step = 0) {
  if (!Number.isFinite(n)) return '0';
  const digits = step > 0 ? Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) : 6;
  return String(Number(n.toFixed(digits)));
}

/** Keys of a curve that is set at the playhead. The text between is the library's.
 * @param {{keys: any[], before: string, after: string}} drawn */
export function curveText({ keys, before, after }) {
  const key = (/** @type {any} */ k) => `${k.at}${k.shape === 'linear' ? '' : `(${k.shape})`}=${k.text ?? k.value.map((/** @type {number} */ v) => short(v)).join(',')}`;
  return `${before === 'hold' ? '' : `<${before};`}${keys.map(key).join(';')}${after === 'hold' ? '' : `;>${after}`}`;
}

/** A curve with a value at the playhead: a key, in the place of one that is there.
 * @param {string} filter @param {string} setting @param {string} text @param {string} value */
export async function withKey(filter, setting, text, value) {
  const drawn = await post('/curve', { clip: clip.value?.id ?? null, filter, setting, text, from: 0, to: 0, samples: 1 });
  const at = frame.value;
  const found = drawn.keys.find((/** @type {any} */ k) => Math.abs(k.frame - at) < 0.5);
  if (found) found.text = value;
  else {
    const before = drawn.keys.findLast((/** @type {any} */ k) => k.frame < at);
    drawn.keys.push({ at: String(at), frame: at, text: value, shape: before?.shape ?? 'linear' });
    drawn.keys.sort((/** @type {any} */ a, /** @type {any} */ b) => a.frame - b.frame);
  }
  return curveText(drawn);
}

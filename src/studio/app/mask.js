// @ts-check The drawn mask of the selected filter, in the picture: handles to drag it by, and keys.

import { html, nothing, render } from './vendor/lit-html.js';
import { editStep, effect, frame, report, selectedStep } from './state.js';
import { isCurve, known, valueAt, withKey } from './moving.js';

/** Middle, width and height, in fractions of the picture. @typedef {[number, number, number, number]} Box */
/** Where a pane has the picture, in pixels of the page, and the size of the picture in samples.
 * @typedef {{left: number, top: number, across: number, down: number, width: number, height: number}} Place */

/** The boxes that were shown last, by filter of the recipe. @type {Map<number, Box>} */
const shown = new Map();

/** The drawn mask of a filter at the playhead; null if it has none, or one that a file moves.
 * @param {import('./state.js').Step | null} step @returns {null | {shape: string, box: Box, widest: number}} */
function maskOf(step) {
  const { mask = '', mask_at = '0.5,0.5', mask_width = '1', mask_height = '1', mask_max_aspect } = step?.values ?? {};
  if (!step || !/^(ellipse|rectangle)$/.test(mask) || [mask_at, mask_width, mask_height].some((text) => text.startsWith('@'))) return null;
  const numbers = Object.entries({ mask_at, mask_width, mask_height }).map(([id, text]) => (isCurve(text) ? valueAt(step.name, id, text, frame.value) : text.split(',').map(Number)));
  const box = numbers.includes(null) ? shown.get(step.id) : /** @type {Box} */ (numbers.flat());
  if (box?.length !== 4 || !box.every(Number.isFinite)) return null;
  shown.set(step.id, box);
  return { shape: mask, box, widest: Number(mask_max_aspect) || Infinity };
}

/** Counts the calls of `setMask`: the last one holds. */
let asked = 0;

/** Gives the selected filter a mask. What moves gets a key at this frame. All changes of one `turn` are undone together.
 * @param {Box} box @param {string} shape @param {string} turn */
export async function setMask(box, shape, turn) {
  const step = selectedStep.value;
  if (!step) return;
  const texts = (/** @type {Box | undefined} */ of) => {
    const [x, y, w, h] = (of ?? [NaN, NaN, NaN, NaN]).map((v, i) => String(Number(Math.max(i > 1 ? 0.01 : -9, v).toFixed(4))));
    return { mask_at: `${x},${y}`, mask_width: w, mask_height: h };
  };
  const before = texts(maskOf(step)?.box);
  /** @type {Record<string, string>} */
  const values = texts(box);
  shown.set(step.id, box);
  const mine = ++asked;
  for (const [id, was] of Object.entries(before)) {
    const curve = step.values[id];
    if (isCurve(curve)) values[id] = values[id] === was ? curve : await withKey(step.name, id, curve, values[id]);
  }
  if (mine === asked) editStep(step.id, (one) => ({ ...one, values: { ...one.values, ...values, mask: shape } }), turn);
}

/** Moves edges of a box: -1 is the left or upper one, 1 the other one, 0 both. @param {Box} from
 * @param {[number, number]} edges @param {[number, number]} by @returns {Box} */
function moved([x, y, w, h], edges, by) {
  const one = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ i) => {
    const shift = Math.max(-2, Math.min(2, by[i]));
    if (!edges[i]) return [Math.max(-1, Math.min(2, at + shift)), size];
    const grown = Math.max(0.01, size + edges[i] * shift);
    return [at + (edges[i] * (grown - size)) / 2, grown];
  };
  const [[mx, mw], [my, mh]] = [one(x, w, 0), one(y, h, 1)];
  return [mx, my, mw, mh];
}

let turns = 0;

/** Handles of a mask over a pane. @param {HTMLElement} root @param {() => Place} place */
export function maskHandles(root, place) {
  /** @type {null | {x: number, y: number, edges: [number, number], box: Box, turn: string}} */
  let drag = null;
  const grab = (/** @type {PointerEvent} */ e) => {
    const mask = maskOf(selectedStep.value);
    const edges = /** @type {HTMLElement} */ (e.target).dataset.edges?.split(',').map(Number);
    if (!mask || !edges || e.button) return;
    e.stopPropagation();
    /** @type {HTMLElement} */ (e.currentTarget).setPointerCapture(e.pointerId);
    const [ex, ey] = edges;
    drag = { x: e.clientX, y: e.clientY, edges: [ex, ey], box: mask.box, turn: `mask ${++turns}` };
  };
  const drags = (/** @type {PointerEvent} */ e) => {
    const mask = maskOf(selectedStep.value);
    if (!drag || !mask) return;
    e.stopPropagation();
    const at = place();
    // By whole samples, as it is drawn.
    const x = Math.round(((e.clientX - drag.x) / at.across) * at.width) / at.width;
    const y = Math.round(((e.clientY - drag.y) / at.down) * at.height) / at.height;
    const [ex, ey] = drag.edges;
    // The middle of an edge moves that one alone.
    setMask(moved(drag.box, drag.edges, [ex || !ey ? x : 0, ey || !ex ? y : 0]), mask.shape, drag.turn).catch(report);
  };
  const onKey = (/** @type {KeyboardEvent} */ e) => {
    const mask = maskOf(selectedStep.value);
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key] ?? [0, 0];
    if (!mask || e.altKey || !(x || y)) return;
    e.preventDefault();
    const at = place();
    const by = e.shiftKey ? 10 : 1;
    /** @type {[number, number]} */
    const edges = e.ctrlKey ? [x && 1, y && 1] : [0, 0];
    setMask(moved(mask.box, edges, [(x * by) / at.width, (y * by) / at.height]), mask.shape, `mask ${turns} ${e.key}`).catch(report);
  };
  const draw = () => {
    const mask = maskOf(selectedStep.value);
    if (!mask) return render(nothing, root);
    const at = place();
    const [x, y, wide, h] = mask.box;
    const w = Math.min(wide, (mask.widest * h * at.down) / at.across);
    const [left, top] = [at.left + (x - w / 2) * at.across, at.top + (y - h / 2) * at.down];
    const where = `left:${left}px;top:${top}px;width:${w * at.across}px;height:${h * at.down}px`;
    const said = [x * at.width, y * at.height, w * at.width, h * at.height].map(Math.round);
    render(html`<div class="maskbox ${mask.shape}" tabindex="0" role="group" .style=${where}
      aria-label="Mask, ${mask.shape}: middle ${said[0]}, ${said[1]}, ${said[2]} by ${said[3]} samples"
      title="Drag the handles. Arrows move the mask, Ctrl+arrows resize it, Shift by ten samples. Where it is animated, this sets a key at this frame"
      @pointerdown=${grab} @pointermove=${drags} @pointerup=${() => (drag = null)} @pointercancel=${() => (drag = null)}
      @keydown=${onKey}>${[-1, 0, 1].flatMap((b) => [-1, 0, 1].map((a) => html`<i data-edges="${a},${b}"
        .style=${`left:${50 + 50 * a}%;top:${50 + 50 * b}%`}></i>`))}</div>`, root);
  };
  // Values of curves come later than the picture is drawn.
  effect(() => void (known.value && queueMicrotask(draw)));
  return draw;
}

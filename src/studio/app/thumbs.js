// @ts-check Thumbnails of filters applied to the current frame, one after another, visible ones first. Grain and noise are
// shown two to one, and beside it what they add, four times as strong: else they all look alike.

import { picture, post } from './api.js';
import { afterwards, clip, doc, fine, frame, latest, plainDoc, selected, view } from './state.js';
import { putPicture } from './kept.js';

/** @typedef {{name: string, values: Record<string, string>}} Filter */
/** A recipe to draw, and the filter whose grain or noise is shown alone beside it.
 * @typedef {{recipe: Omit<ReturnType<typeof plainDoc>, 'cuts' | 'deinterlace'>, alone: Filter | null}} Plan */

/** The recipe with a filter as it would be added: after the selected one. @param {Filter} filter @returns {Plan} */
export function withFilter(filter) {
  const recipe = plainDoc();
  recipe.steps.splice(doc.value.steps.length ? selected.value + 1 : 0, 0, { ...filter, off: false });
  return { recipe, alone: fine.includes(filter.name) ? filter : null };
}

/**
 * Draws what is in sight of a list into its canvases, until it is stopped. What a choice stands for is before its first `|`;
 * the rest says how it is drawn.
 * @param {HTMLElement} root what scrolls
 * @param {(choice: string) => Plan | null} planOf what a canvas' choice stands for
 * @param {() => unknown} watch reads what changes the list
 * @param {number} [across] the width of a picture, in pixels of the page
 */
export function startThumbs(root, planOf, watch, across = 128) {
  const down = Math.round((across * 9) / 16);
  const abort = new AbortController();
  const c = clip.value;
  /** @type {Set<HTMLCanvasElement>} */
  const waiting = new Set();
  /** What is drawn now. @type {null | {canvas: HTMLCanvasElement, choice: string, abort: AbortController}} */
  let running = null;

  /** @param {HTMLCanvasElement} canvas @param {AbortSignal} stop */
  async function draw(canvas, stop) {
    const { choice = '' } = canvas.dataset;
    const plan = planOf(choice);
    if (!c || !plan) return;
    const { recipe, alone } = plan;
    const checked = await post('/recipe', { clip: c.id, recipe, drafts: doc.value.drafts });
    if (checked.faults.length || !checked.made) return;
    const { made } = checked;
    const shape = view.square.value ? 1 : made.shape;
    const zoom = Math.min(1, 1 / shape, (across * devicePixelRatio) / made.width / shape, (down * devicePixelRatio) / made.height);
    const size = [made.width * shape, made.height].map((side) => Math.max(1, Math.round(side * zoom)));
    const half = (/** @type {number} */ side) => Math.round((side * devicePixelRatio) / 2);
    const [w, h] = [Math.min(half(across), made.width), Math.min(half(down), made.height)];
    const shown = (/** @type {string} */ key, /** @type {string} */ query) => picture(`/frame/${c.id}/${key}/${frame.value}?${query}`, stop);
    const part = `region=${(made.width - w) >> 1},${(made.height - h) >> 1},${w},${h}`;
    const got = await shown(checked.key, `side=out&${alone ? part : `size=${size}&quick=true`}`);
    const by = alone && (await post('/recipe', { clip: c.id, recipe: { ...recipe, steps: [{ ...alone, off: false }] }, drafts: {} }));
    const added = by && !by.faults.length && made.width === c.width && made.height === c.height
      ? await shown(by.key, `side=diff&gain=4&${part}`) : null;
    // The list may have changed: this canvas may belong to another choice.
    if (canvas.dataset.choice !== choice) return;
    const context = putPicture(canvas, got.image);
    if (added) context.putImageData(added.image, 0, 0, w >> 1, 0, w, h);
    canvas.dataset.drawn = choice;
    canvas.classList.remove('old');
  }

  const work = latest(async () => {
    for (const canvas of waiting) {
      if (abort.signal.aborted) break;
      waiting.delete(canvas);
      const { choice = '', drawn } = canvas.dataset;
      if (!canvas.isConnected || drawn === choice) continue;
      const mine = new AbortController();
      running = { canvas, choice, abort: mine };
      // A choice that needs a further setting has no picture.
      await draw(canvas, AbortSignal.any([abort.signal, mine.signal])).catch(() => {});
    }
    running = null;
  });

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const canvas = /** @type {HTMLCanvasElement} */ (target);
      if (isIntersecting) waiting.add(canvas);
      else waiting.delete(canvas);
    }
    work();
  }, { root });
  const about = (/** @type {string | undefined} */ choice) => choice?.split('|')[0];
  /** Looks for canvases that are new or stand for another choice. */
  const refresh = () => {
    if (running && running.canvas.dataset.choice !== running.choice) running.abort.abort();
    for (const canvas of /** @type {NodeListOf<HTMLCanvasElement>} */ (root.querySelectorAll('canvas[data-choice]'))) {
      const { choice, drawn } = canvas.dataset;
      // A picture of the same thing stays, dimmed, until there is a newer one.
      canvas.classList.toggle('old', !!drawn && drawn !== choice);
      if (drawn && about(drawn) !== about(choice)) {
        canvas.width = 1;
        delete canvas.dataset.drawn;
      }
      seen.unobserve(canvas);
      seen.observe(canvas);
    }
  };
  const stop = afterwards(watch, refresh);
  return () => {
    stop();
    abort.abort();
    seen.disconnect();
  };
}

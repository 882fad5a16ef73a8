// @ts-check Thumbnails of filters applied to the current frame, one after another, visible ones first. Grain and noise are
// shown two to one, and beside it what they add, four times as strong: else they all look alike.

import { picture, post } from './api.js';
import { clip, doc, fine, frame, plainDoc, selected } from './state.js';

/** The width of a small picture, in pixels of the page. */
const WIDTH = 128;
const HEIGHT = 72;

/**
 * Draws what is in sight of a list into its canvases, until it is stopped.
 * @param {HTMLElement} root what scrolls
 * @param {(id: string) => {name: string, values: Record<string, string>} | null} filterOf the filter that a canvas' choice stands for
 */
export function startThumbs(root, filterOf) {
  const abort = new AbortController();
  const c = clip.value;
  /** @type {Set<HTMLCanvasElement>} */
  const waiting = new Set();
  let working = false;

  /** @param {HTMLCanvasElement} canvas */
  async function draw(canvas) {
    const { choice } = canvas.dataset;
    const filter = filterOf(choice ?? '');
    if (!c || !filter) return;
    // As it would be added: after the selected filter.
    const recipe = plainDoc();
    recipe.steps.splice(doc.value.steps.length ? selected.value + 1 : 0, 0, { ...filter, off: false });
    const checked = await post('/recipe', { clip: c.id, recipe, drafts: doc.value.drafts });
    if (checked.faults.length || !checked.made) return;
    const { made } = checked;
    const width = Math.round(WIDTH * devicePixelRatio);
    const height = Math.max(1, Math.round((width * made.height) / made.width));
    const half = (/** @type {number} */ side) => Math.round((side * devicePixelRatio) / 2);
    const [w, h] = [Math.min(half(WIDTH), made.width), Math.min(half(HEIGHT), made.height)];
    const shown = (/** @type {string} */ key, /** @type {string} */ query) => picture(`/frame/${c.id}/${key}/${frame.value}?${query}`, abort.signal);
    const isFine = fine.includes(filter.name);
    const part = `region=${(made.width - w) >> 1},${(made.height - h) >> 1},${w},${h}`;
    const got = await shown(checked.key, `side=out&${isFine ? part : `size=${width},${height}`}`);
    const alone = isFine && (await post('/recipe', { clip: c.id, recipe: { ...recipe, steps: [{ ...filter, off: false }] }, drafts: {} }));
    const added = alone && !alone.faults.length && made.width === c.width && made.height === c.height
      ? await shown(alone.key, `side=diff&gain=4&${part}`) : null;
    // The list may have changed: this canvas may belong to another choice.
    if (canvas.dataset.choice !== choice) return;
    [canvas.width, canvas.height] = [got.image.width, got.image.height];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.putImageData(got.image, 0, 0);
    if (added) context.putImageData(added.image, 0, 0, w >> 1, 0, w, h);
    canvas.dataset.drawn = choice;
  }

  async function work() {
    if (working) return;
    working = true;
    for (;;) {
      const [next] = waiting;
      if (!next || abort.signal.aborted) break;
      waiting.delete(next);
      // A choice that needs a further setting has no picture.
      if (next.isConnected && next.dataset.drawn !== next.dataset.choice) await draw(next).catch(() => {});
    }
    working = false;
  }

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const canvas = /** @type {HTMLCanvasElement} */ (target);
      if (isIntersecting) waiting.add(canvas);
      else waiting.delete(canvas);
    }
    work();
  }, { root });
  /** Looks for canvases that are new or stand for another choice. */
  const refresh = () => {
    for (const canvas of /** @type {NodeListOf<HTMLCanvasElement>} */ (root.querySelectorAll('canvas[data-choice]'))) {
      if (canvas.dataset.drawn && canvas.dataset.drawn !== canvas.dataset.choice) {
        canvas.width = 1;
        delete canvas.dataset.drawn;
      }
      seen.unobserve(canvas);
      seen.observe(canvas);
    }
  };
  return {
    refresh,
    stop: () => {
      abort.abort();
      seen.disconnect();
    },
  };
}

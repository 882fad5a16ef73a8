// @ts-check Renders pictures and answers requests of the page, one after another.

import { GrainfieldError, load } from './grainfield.js';
import { shown } from './view.js';

const ready = load();
/** Pictures that stay, by their source. @type {Map<number, import('./view.js').Pixels>} */
const stills = new Map();

/** @param {any} job */
async function answer({ ask, source, pixels, still, chain, frame, alpha, rate, last, view }) {
  const grainfield = await ready;
  if (ask) return grainfield.ask(ask);
  if (still) {
    // One picture at a time.
    stills.clear();
    stills.set(source, still);
  }
  const before = pixels ?? stills.get(source);
  return shown(grainfield.apply(before, chain, { frame, alpha, rate, last }), before, new URLSearchParams(view));
}

addEventListener('message', async ({ data: { id, job } }) => {
  try {
    const told = await answer(job);
    postMessage({ id, told }, told.data ? { transfer: [told.data.buffer] } : {});
  } catch (error) {
    const fault = error instanceof GrainfieldError ? error.fault : { text: error instanceof Error ? error.message : String(error) };
    postMessage({ id, fault });
  }
});

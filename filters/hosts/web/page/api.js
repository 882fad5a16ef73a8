// @ts-check What the studio's modules ask a server for, answered in the page: filters run in workers, pictures come from
// `sources.js`. It takes the place of the studio's `api.js`.

import { describe, named, sourceOf, takeFrame } from './sources.js';
import { shown } from './view.js';

/** An error, as the studio's server reports it. */
export class ApiError extends Error {
  /** @param {number} status @param {{text: string, line?: number, step?: number, setting?: string}} error */
  constructor(status, error) {
    super(error.text);
    this.status = status;
    this.error = error;
  }
}

/** Commands that need no server. */
const commands = new Set([
  'recipe.new', 'recipe.command', 'recipe.text', 'frame.copy.out', 'frame.save.out', 'frame.save.in', 'edit.undo', 'edit.redo', 'step.back', 'step.forward', 'step.back50',
  'step.forward50', 'go.start', 'go.end', 'view.side', 'view.stack', 'view.out', 'view.in', 'view.wipe', 'view.diff', 'view.flip', 'view.fit', 'view.fill', 'view.one', 'view.zoomin',
  'view.zoomout', 'help.keys', 'help.palette', 'play.result', 'play.stop',
]);
/** Whether the page has a command; it lacks FFmpeg's filters. @param {string} id */
export const has = (id) => id !== 'filter.add.lavfi' && (commands.has(id) || /^(filter|look|mask)\.(?!times)/.test(id));

/** @typedef {{worker: Worker, jobs: Map<number, {job: any, signal?: AbortSignal, resolve: (told: any) => void, reject: (error: unknown) => void}>, has: number}} Runner */

/** They start when there is work for them. @type {Runner[]} */
const runners = [];
/** Two for a machine with two cores: the page itself does little. */
const MOST = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2));
/** Milliseconds after which a picture is given up; sooner it is cheaper to wait than to begin anew. */
const PATIENCE = 2000;
/** Pixels of a picture that more than one worker holds. */
const SMALL = 1 << 23;
let nextJob = 1;

/** @returns {Runner} */
function start() {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  /** @type {Runner} */
  const runner = { worker, jobs: new Map(), has: 0 };
  worker.addEventListener('message', ({ data: { id, told, fault } }) => {
    const job = runner.jobs.get(id);
    runner.jobs.delete(id);
    if (fault) job?.reject(new ApiError(422, fault));
    else job?.resolve(told);
  });
  worker.addEventListener('error', (e) => {
    for (const { reject } of runner.jobs.values()) reject(new Error(e.message || 'the filters cannot be loaded'));
    runner.jobs.clear();
  });
  return runner;
}

/** @param {Runner} runner @param {any} job @param {Transferable[]} [transfer] @param {AbortSignal} [signal] @returns {Promise<any>} */
function send(runner, job, transfer = [], signal) {
  const id = nextJob++;
  const since = performance.now();
  return new Promise((resolve, reject) => {
    runner.jobs.set(id, { job, signal, resolve, reject });
    runner.worker.postMessage({ id, job }, transfer);
    signal?.addEventListener('abort', () => {
      setTimeout(() => {
        if (runner.jobs.has(id)) end(runner);
      }, PATIENCE - (performance.now() - since));
    });
  });
}

/** A worker was ended before it made the picture. */
class Ended extends Error {}

/** Ends a worker that makes a picture which nobody waits for; what else was asked of it goes to another. @param {Runner} runner */
function end(runner) {
  runner.worker.terminate();
  runners.splice(runners.indexOf(runner), 1);
  for (const { job, signal, resolve, reject } of runner.jobs.values()) {
    if (job.ask) send(free(), job).then(resolve, reject);
    else reject(signal?.aborted ? new DOMException('', 'AbortError') : new Ended());
  }
  runner.jobs.clear();
}

/** The one of so many with the least to do. @param {number} [most] */
function free(most = MOST) {
  const idle = runners.slice(0, most).find((runner) => !runner.jobs.size);
  if (!idle && runners.length < most) runners.push(start());
  return idle ?? runners.slice(0, most).reduce((a, b) => (b.jobs.size < a.jobs.size ? b : a));
}

/** @param {object} ask */
const request = (ask) => send(free(), { ask });

/** The chains of recipes that were checked last, by their keys. @type {Map<string, string>} */
const chains = new Map();
/** Looks and the catalog do not change. @type {Map<string, Promise<any>>} */
const known = new Map();

/** @param {string} path @param {AbortSignal} [_signal] @returns {Promise<any>} */
export async function get(path, _signal) {
  if (path === '/catalog' || path === '/looks') {
    if (!known.has(path)) known.set(path, request({ ask: path.slice(1) }));
    return known.get(path);
  }
  if (path.startsWith('/clip/')) return describe(Number(path.split('/')[2]));
  throw new ApiError(404, { text: 'A page has no files and no jobs: Grainfield’s program does.' });
}

/** @param {number | null} id */
const formOf = (id) => {
  if (id === null) return null;
  const { width, height, alpha, rate, last } = sourceOf(id);
  return { width, height, alpha, rate, last };
};

/** @param {string} path @param {any} body @param {'POST' | 'PUT'} [_method] @param {AbortSignal} [_signal] @returns {Promise<any>} */
export async function post(path, body, _method, _signal) {
  if (path === '/curve') return request({ ...body, ask: 'curve', of: formOf(body.clip) });
  if (path === '/open') return describe(Number(body.path) || named(body.path));
  // A picture is rendered to one, without the loss of a JPEG; the file of a GIF may be a clip.
  if (path === '/output' && sourceOf(body.clip).still) return { free: body.output.replace(/\.(?!mkv$)\w+$/, /\.gif$/i.test(sourceOf(body.clip).name) ? '.mkv' : '.png') };
  if (path !== '/recipe') return get(path);
  const { chain, toml, recipe, clip } = body;
  const told = await request({ ask: 'recipe', clip: formOf(clip), ...(recipe ? { recipe } : chain === undefined ? { toml } : { chain }) });
  chains.delete(told.key);
  chains.set(told.key, told.chain);
  if (chains.size > 256) chains.delete([...chains.keys()][0]);
  return told;
}

/** @typedef {{image: ImageData, number: number, exact: true}} Picture */

/** What was shown last of a source as it is. */
let plain = { of: '', image: new ImageData(1, 1) };

/** @param {string} path `/frame/CLIP/KEY/NUMBER?VIEW` @param {AbortSignal} [signal] @returns {Promise<Picture>} */
export async function picture(path, signal) {
  const [, , clip, key, number] = path.split(/[/?]/);
  const source = sourceOf(Number(clip));
  const chain = key === '0' ? '' : chains.get(key);
  if (chain === undefined) throw new ApiError(410, { text: 'this recipe is not known any more' });
  const { alpha, rate, last, still } = source;
  const view = path.split('?')[1] ?? '';
  const job = { source: source.id, chain, frame: Number(number), alpha, rate, last, view };
  const pixels = await takeFrame(source, Number(number));
  signal?.throwIfAborted();
  if (!chain) {
    // Of a still it is the same in each frame.
    const of = `${source.id}/${still ? '' : number}?${view}`;
    if (plain.of !== of) {
      const { data, width } = shown(pixels, pixels, new URLSearchParams(view));
      plain = { of, image: new ImageData(data, width) };
    }
    return { image: plain.image, number: Number(number), exact: true };
  }
  const told = await filtered(source, job, pixels, signal).catch((error) => {
    if (!(error instanceof Ended)) throw error;
    return filtered(source, job, pixels, signal);
  });
  signal?.throwIfAborted();
  return { image: new ImageData(told.data, told.width), number: Number(number), exact: true };
}

/** @param {import('./sources.js').Source} source @param {object} job @param {import('./sources.js').Pixels} pixels @param {AbortSignal} [signal] */
function filtered(source, job, pixels, signal) {
  const { still } = source;
  const runner = free(source.width * source.height > SMALL ? 1 : MOST);
  const isNew = still && runner.has !== source.id;
  if (still) runner.has = source.id;
  const { width, height, data } = pixels;
  const copy = still && !isNew ? null : { width, height, data: new Uint8ClampedArray(data) };
  return send(runner, { ...job, ...(still ? { still: copy } : { pixels: copy }) }, copy ? [copy.data.buffer] : [], signal);
}

// What the studio alone has.
export const tab = () => '';
export const begin = async () => ({});
export const openWork = () => {};
export const listen = () => {};
export const blob = get;

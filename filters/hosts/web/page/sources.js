// @ts-check Where pictures come from: a file, a clip that the browser plays, or a picture that is drawn here.

/** @typedef {{width: number, height: number, data: Uint8ClampedArray<ArrayBuffer>}} Pixels */
/** `draw` gives the pixels of a frame; of a still they do not change. `video` is there for a clip.
 * @typedef {{id: number, name: string, path?: string, kind: string, width: number, height: number, alpha: boolean, rate: [number, number], last: number, still: boolean,
 *   draw: (n: number) => Pixels | Promise<Pixels>, video?: HTMLVideoElement, first?: number}} Source */

/** More has the program, or the machine of a visitor no memory for. */
export const MAX_PIXELS = 7680 * 4320;
/** Frames of the picture that is drawn here, which stands for a clip. */
const LENGTH = 240;

/** @type {Source[]} */
const sources = [];
/** @param {number} id */
export const sourceOf = (id) => sources[id - 1];
/** The newest of a name. @param {string} name */
export const named = (name) => sources.findLast((source) => [source.path, source.name].includes(name))?.id ?? 0;

/** @param {Omit<Source, 'id'>} source */
function add(source) {
  const { width, height, name } = source;
  if (width * height > MAX_PIXELS) throw new Error(`${name} has ${width}×${height} pixels: at most ${Math.floor(MAX_PIXELS / 1e6)} million are shown here. Grainfield’s program takes more.`);
  const id = sources.push({ ...source, id: sources.length + 1 });
  return sources[id - 1];
}

/** A source as the studio's server describes a clip. @param {number} id */
export function describe(id) {
  const { name, path = name, kind, width, height, rate, last } = sourceOf(id);
  return { id, path, name, kind, width, height, format: 'RGB, 8 bit', bits: 8, colour: 'srgb', planes: ['G', 'B', 'R'], first: 0, last, estimated: false, rate,
    variable: false, shape: 1, fields: 'progressive', matrix: null, tags: {}, notes: [], details: [], sound: null };
}

/** Closes all sources but one. @param {number} id */
export function closeOthers(id) {
  for (const source of sources.filter((s) => s.id !== id)) {
    source.video?.pause();
    if (source.video?.src) URL.revokeObjectURL(source.video.src);
    source.video?.removeAttribute('src');
    source.draw = () => Promise.reject(new Error(`${source.name} is closed`));
  }
  for (const at of taken.keys()) if (!at.startsWith(`${id}/`)) taken.delete(at);
}

/** How many frames of a source are kept. */
const KEPT = 4;
/** Frames that were taken last: a clip is not decoded again for another look. @type {Map<string, Promise<Pixels>>} */
const taken = new Map();

/** @param {Source} source @param {number} n */
export function takeFrame(source, n) {
  const at = `${source.id}/${source.still ? 0 : n}`;
  let found = taken.get(at);
  if (!found) {
    found = Promise.resolve(source.draw(n));
    found.catch(() => taken.delete(at));
    keep(at, found);
  }
  return found;
}

/** @param {string} at @param {Promise<Pixels>} pixels */
function keep(at, pixels) {
  taken.delete(at);
  taken.set(at, pixels);
  if (taken.size > KEPT) taken.delete([...taken.keys()][0]);
}

/** @param {number} width @param {number} height */
function canvas(width, height) {
  const made = new OffscreenCanvas(width, height);
  return /** @type {OffscreenCanvasRenderingContext2D} */ (made.getContext('2d', { willReadFrequently: true }));
}

/** A picture of a file. @param {Blob} file @param {string} name */
export async function ofPicture(file, name) {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${name}: the browser can show neither a picture nor a clip in it`);
  });
  const { width, height } = bitmap;
  if (width * height > MAX_PIXELS) return add(/** @type {any} */ ({ name, width, height }));
  const context = canvas(width, height);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  const pixels = context.getImageData(0, 0, width, height);
  const alpha = pixels.data.some((v, i) => i % 4 === 3 && v < 255);
  return add({ name, kind: 'picture', width, height, alpha, rate: [24, 1], last: 0, still: true, draw: () => pixels });
}

/** Usual rates, of which a clip has the one nearest to what is seen. @type {[number, number][]} */
const RATES = [[24000, 1001], [24, 1], [25, 1], [30000, 1001], [30, 1], [48, 1], [50, 1], [60000, 1001], [60, 1], [15, 1], [12, 1], [10, 1]];

/** The times of the first frames that are presented while it plays. @param {HTMLVideoElement} video @returns {Promise<number[]>} */
function firstTimes(video) {
  return new Promise((resolve, reject) => {
    /** @type {number[]} */
    const times = [];
    const done = () => {
      video.pause();
      resolve(times);
    };
    const limit = setTimeout(done, 3000);
    const each = (/** @type {number} */ _now, /** @type {VideoFrameCallbackMetadata} */ { mediaTime }) => {
      times.push(mediaTime);
      if (times.length < 16 && !video.ended) video.requestVideoFrameCallback(each);
      else {
        clearTimeout(limit);
        done();
      }
    };
    video.requestVideoFrameCallback(each);
    video.play().catch(reject);
  });
}

/** @param {HTMLVideoElement} video @param {number} at in seconds */
async function seek(video, at) {
  const seen = new Promise((resolve) => {
    video.addEventListener('seeked', resolve, { once: true });
    setTimeout(resolve, 2000);
  });
  video.currentTime = Math.min(video.duration, at);
  await seen;
}

/** The time of the last frame; null where the browser does not tell it. @param {HTMLVideoElement} video */
async function lastTime(video) {
  await seek(video, 1e7); // which says how long a recording is, too
  try {
    const frame = new VideoFrame(video);
    const { timestamp } = frame;
    frame.close();
    return timestamp > 0 && timestamp / 1e6 <= video.currentTime ? timestamp / 1e6 : null;
  } catch {
    return null;
  }
}

/** A clip that the browser decodes. Its frames are numbered by their times. @param {Blob} file @param {string} name */
export async function ofClip(file, name) {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.src = URL.createObjectURL(file);
  await new Promise((resolve, reject) => {
    video.addEventListener('loadeddata', resolve, { once: true });
    video.addEventListener('error', () => reject(new Error(`${name}: this browser cannot decode the clip; Grainfield’s program reads what FFmpeg reads`)), { once: true });
  });
  const { videoWidth: width, videoHeight: height } = video;
  const times = await firstTimes(video);
  const gaps = times.slice(1).map((t, i) => t - times[i]).filter((t) => t > 0).sort((a, b) => a - b);
  // Frames may be missed, so the smallest distances count.
  const gap = gaps[gaps.length >> 2] ?? 1 / 24;
  const off = (/** @type {[number, number]} */ [a, b]) => Math.abs(b / a - gap) / gap;
  const nearest = RATES.reduce((a, b) => (off(b) < off(a) ? b : a));
  const end = await lastTime(video);
  if (end !== null) times.push(end);
  // Of 30 and 30000/1001 that at which all frames come when they are due.
  const part = (/** @type {[number, number]} */ [a, b]) => Math.max(...times.map((t) => Math.abs((((t - times[0]) * a) / b + 0.5) % 1 - 0.5)));
  const alike = RATES.filter((r) => Math.abs((r[0] / r[1]) * (nearest[1] / nearest[0]) - 1) < 0.002);
  const rate = times.length ? alike.reduce((a, b) => (part(b) < part(a) ? b : a)) : nearest;
  const context = canvas(width, height);
  const grab = () => {
    context.drawImage(video, 0, 0);
    return context.getImageData(0, 0, width, height);
  };
  let last = Promise.resolve();
  /** One after the other. @param {number} n @returns {Promise<Pixels>} */
  const draw = (n) => {
    const found = last.then(async () => {
      // Its middle, which no rounding moves into another one.
      await seek(video, ((n + 0.5) * rate[1]) / rate[0]);
      return grab();
    });
    last = found.then(() => {}, () => {});
    return found;
  };
  // Sound may be longer than the picture, so the last frame counts, where the browser tells its time.
  const seconds = Number.isFinite(video.duration) ? video.duration : video.currentTime;
  const count = Math.max(1, Math.round(((end ?? seconds) * rate[0]) / rate[1]) + (end === null ? 0 : 1));
  const made = add({ name, kind: 'video', width, height, alpha: false, rate, last: count - 1, still: false, draw, video });
  /** Reports each frame that is presented while the clip plays. @param {(n: number) => void} report */
  const follow = (report) => {
    const each = (/** @type {number} */ _now, /** @type {VideoFrameCallbackMetadata} */ { mediaTime }) => {
      if (video.paused) return;
      const n = Math.max(0, Math.min(count - 1, Math.round((mediaTime * rate[0]) / rate[1])));
      keep(`${made.id}/${n}`, Promise.resolve(grab()));
      report(n);
      video.requestVideoFrameCallback(each);
    };
    video.requestVideoFrameCallback(each);
  };
  return Object.assign(made, { follow });
}

/** A landscape at dusk: nothing in it has grain of its own. */
export function drawn() {
  const [width, height] = [1280, 720];
  const context = canvas(width, height);
  const sky = context.createLinearGradient(0, 0, 0, 520);
  ['#1c2a4a', '#4a5c86', '#b98a86', '#f0b878'].forEach((colour, i) => sky.addColorStop(i / 3, colour));
  const sun = context.createRadialGradient(760, 340, 20, 760, 340, 520);
  /** @type {[number, string][]} */ ([[0, '#fff2c8'], [0.05, '#ffe8b0d0'], [0.3, '#ffd09050'], [1, '#ffc07000']]).forEach(([at, colour]) => sun.addColorStop(at, colour));
  for (const light of [sky, sun]) {
    context.fillStyle = light;
    context.fillRect(0, 0, width, height);
  }
  /** @type {[string, number, number, number][]} */
  const hills = [['#6d6a86', 430, 60, 0.006], ['#474c66', 500, 46, 0.009], ['#2a3344', 580, 34, 0.014], ['#141a22', 650, 22, 0.022]];
  hills.forEach(([colour, base, high, wave], i) => {
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(0, height);
    for (let x = 0; x <= width; x += 4) {
      const at = x * wave + i * 2;
      context.lineTo(x, base - high * (Math.sin(at) + 0.5 * Math.sin(2.3 * at + 1) + 0.2 * Math.sin(5.1 * at)));
    }
    context.lineTo(width, height);
    context.fill();
  });
  const pixels = context.getImageData(0, 0, width, height);
  return add({ name: 'dusk', path: 'INPUT', kind: 'picture', width, height, alpha: false, rate: [24, 1], last: LENGTH - 1, still: true, draw: () => pixels });
}

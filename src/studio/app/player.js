// @ts-check Playing: pictures are asked for ahead of the playhead and kept, the newest that has arrived is shown, and none
// that is on its way is given up. Sound follows the picture.

import { blob, picture } from './api.js';
import { clip, effect, frame, frameAt, key, rate, report, reported, rested, seek, signal, timeOf, toast, view } from './state.js';
import { keptRanges } from './cutting.js';
import { kept, keptOf, keep, LIMIT, shownSides } from './kept.js';

/** @typedef {import('./viewer.js').Side} Side */
/** @typedef {import('./api.js').Picture} Picture */
/** What shows pictures. @typedef {{want: (n: number) => string, show: (url: string, got: Picture) => void, running: unknown}} Shows */

/** What plays: 0 is nothing, else the speed and direction. */
export const playing = signal(0);
export const playSide = signal(/** @type {'both' | 'in' | 'out'} */ ('both'));
export const everyFrame = signal(false);
export const loop = signal(true);
/** Frames that playing has left out. */
export const dropped = signal(0);
/** Frames that playing shows in a second, over the last two. */
export const shownRate = signal(0);
/** Whether the hand moves along the timeline: key frames stand for frames that would take long. */
export const scrubbing = signal(false);

/** Requests on their way: a browser opens six connections, of which one is left to the rest of the page. */
const FLIGHT = 5;
/** Frames that are asked for ahead of their time. */
const AHEAD = 48;
/** Frames on both sides of the playhead that are made while nothing plays. */
const AROUND = 8;
/** Milliseconds of a frame beyond which none is made unasked. */
const QUICK = 150;

/** The panes, by side. @type {(side: Side) => Shows} */
let paneOf = () => {
  throw new Error('no panes yet');
};
/** @param {(side: Side) => Shows} panes */
export function startPlayer(panes) {
  paneOf = panes;
  effect(loadSound);
  rested(500, () => (!clip.value || playing.value || scrubbing.value ? null
    : [key.value, frame.value, view.layout.value, view.zoom.value, view.center.value]), (_, stop) => prepare(stop).catch(() => {}));
}

/** Sides that play. */
const sides = () => {
  const shown = shownSides(view.layout.value);
  return shown.filter((s) => playSide.value === 'both' || s === playSide.value || shown.length === 1);
};

/** Fetches what the panes want of a frame, unless it is there. @param {number} n @param {AbortSignal} [stop] */
const fetchAll = (n, stop) => Promise.all(sides().map(async (side) => {
  const url = paneOf(side).want(n);
  if (url && !kept(url)) keep(url, await picture(url, stop));
}));

/** The pictures of a frame, if all are there. @param {number} n @returns {null | [Side, string, Picture][]} */
function there(n) {
  const all = sides().map((side) => {
    const url = paneOf(side).want(n);
    return /** @type {[Side, string, Picture]} */ ([side, url, kept(url)]);
  });
  return all.every(([, , got]) => got) ? all : null;
}

/** Makes the next frames and the last ones while nothing else happens: a step then shows them at once.
 * @param {AbortSignal} stop */
async function prepare(stop) {
  // The frame itself comes first.
  while (sides().some((side) => paneOf(side).running)) await new Promise((resume) => setTimeout(resume, 100));
  if (stop.aborted) return;
  const c = clip.value;
  const at = frame.value;
  playSide.value = 'both';
  for (let i = 1; i <= 2 * AROUND; i++) {
    const n = at + (i % 2 ? (i + 1) / 2 : -i / 2);
    if (!c || n < c.first || n > c.last) continue;
    const begun = performance.now();
    await fetchAll(n, stop);
    if (stop.aborted || (i > 2 && performance.now() - begun > QUICK)) return;
  }
}

let playToken = 0;

/** @param {number} speed @param {'both' | 'in' | 'out'} [side] */
export function play(speed, side = 'both') {
  playing.value = speed;
  playSide.value = side;
  dropped.value = 0;
  if (speed) run(++playToken).catch(report);
  else {
    playToken++;
    hear(timeOf(frame.value), 0);
  }
}

/** Shows frames by the page's clock. @param {number} mine */
async function run(mine) {
  const began = clip.value;
  // By position among the frames that are not cut out.
  const ranges = keptRanges();
  if (!ranges.length) return play(0);
  /** First and last frame, the position of the first, and its time. @type {[number, number, number, number][]} */
  const parts = [];
  let last = -1;
  let ends = 0;
  for (const [a, b] of ranges) {
    parts.push([a, b, last + 1, ends]);
    last += b - a + 1;
    ends += timeOf(b + 1) - timeOf(a);
  }
  const partOf = (/** @type {number} */ i) => parts.findLast((p) => p[2] <= i) ?? parts[0];
  const numberOf = (/** @type {number} */ i) => partOf(i)[0] + i - partOf(i)[2];
  const timeAt = (/** @type {number} */ i) => partOf(i)[3] + timeOf(numberOf(i)) - timeOf(partOf(i)[0]);
  /** The position that is shown at a time, also beyond the ends. */
  const positionAt = (/** @type {number} */ time) => {
    if (time < 0) return -1;
    if (time >= ends - 1e-9) return last + 1;
    const [a, b, begin, since] = parts.findLast((p) => p[3] <= time + 1e-9) ?? parts[0];
    return begin + Math.min(b, frameAt(timeOf(a) + time - since + 1e-9)) - a;
  };
  const step = Math.sign(playing.value);
  const next = parts.find(([, b]) => b >= frame.value);
  let from = next ? next[2] + Math.max(0, frame.value - next[0]) : 0;
  if (frame.value < ranges[0][0] || (step > 0 && from >= last)) from = 0;
  if (numberOf(from) !== frame.value) seek(numberOf(from));
  let begun = performance.now();
  let at = from;
  let lastShown = begun - 1000;
  /** The frame that was asked for last. */
  let asked = at;
  /** How long a frame takes from asking to arriving, in ms: those asked for now are shown so much later. */
  let delay = 0;
  const stop = new AbortController();
  /** @type {Set<number>} */
  const coming = new Set();
  /** When frames of the last two seconds were shown. @type {number[]} */
  let times = [];
  shownRate.value = 0;
  const ask = async (/** @type {number} */ n) => {
    coming.add(n);
    const since = performance.now();
    try {
      await fetchAll(numberOf(n), stop.signal);
      delay = delay ? 0.7 * delay + 0.3 * (performance.now() - since) : performance.now() - since;
    } catch (error) {
      // Of a clip whose length is estimated the last frames may not be there.
      if (mine === playToken && !stop.signal.aborted && !began?.estimated) {
        play(0);
        report(error);
      }
    }
    coming.delete(n);
  };
  while (mine === playToken) {
    await new Promise(requestAnimationFrame);
    if (mine !== playToken) break;
    // Its length has become known, or there is another one.
    if (clip.value !== began) {
      stop.abort();
      return play(clip.value?.id === began?.id ? playing.value : 0, playSide.value);
    }
    const now = performance.now();
    const speed = rate.value * Math.abs(playing.value);
    // Backwards, a frame is shown from its end on.
    const time = step > 0 ? timeAt(from) + ((now - begun) / 1000) * playing.value : timeAt(from + 1) + ((now - begun) / 1000) * playing.value - 1e-6;
    const due = positionAt(time);
    const heard = Math.max(0, Math.min(last, due));
    hear(timeOf(numberOf(heard)) + Math.max(0, time - timeAt(heard)), playing.value);
    let target = everyFrame.value ? at + step : due;
    if (step > 0 ? target > last : target < 0) {
      const [start, end] = step > 0 ? [0, last] : [last, 0];
      // What is late is shown before the end.
      if (at !== end && [...coming].some((n) => (n - at) * step > 0)) target = end;
      else {
        dropped.value += Math.max(0, Math.abs(end - at) - (loop.value ? 0 : 1));
        if (!loop.value) {
          at = end;
          break;
        }
        from = start;
        [at, target] = [from - step, from];
        asked = at;
        begun = now;
      }
    }
    // The newest that has arrived, of those whose time has come.
    let best = target;
    while ((best - at) * step > 0 && !there(numberOf(best))) best -= step;
    if ((best - at) * step > 0 && (!everyFrame.value || now - lastShown >= 1000 / speed - 4)) {
      // The first frame of a loop follows none.
      if (Math.abs(best - at) > 1) dropped.value += Math.abs(best - at) - 1;
      there(numberOf(best))?.forEach(([side, url, got]) => paneOf(side).show(url, got));
      at = best;
      frame.value = numberOf(best);
      lastShown = everyFrame.value ? Math.max(lastShown + 1000 / speed, now - 1000 / speed) : now;
      times = [...times.filter((t) => now - t < 2000), now];
      const rateNow = times.length > 1 ? ((times.length - 1) * 1000) / (now - times[0]) : 0;
      if (Math.abs(rateNow - shownRate.value) >= 0.1) shownRate.value = Math.round(rateNow * 10) / 10;
    }
    // Ahead as far as there is room; from the frame on that can still be there in time.
    const lead = everyFrame.value ? 0 : Math.floor((delay / 1000) * speed);
    const count = sides().length;
    const bytes = Math.max(1, ...sides().map((side) => keptOf(paneOf(side).want(frame.value))));
    const room = Math.min(AHEAD, Math.floor(LIMIT / 2 / count / bytes));
    let wanted = step * Math.max(step * (asked + step), step * (target + step * (everyFrame.value ? 0 : lead)));
    while (coming.size * count < FLIGHT && (wanted - target) * step <= room && wanted >= 0 && wanted <= last) {
      if (!coming.has(wanted) && !there(numberOf(wanted))) ask(wanted);
      asked = wanted;
      wanted += step;
    }
    // Towards the end of a loop its beginning is asked for.
    const isNear = loop.value && (wanted > last || wanted < 0);
    for (let i = 0; isNear && coming.size * count < FLIGHT && i < room / 2 && i <= last; i++) {
      const n = step > 0 ? i : last - i;
      if (!coming.has(n) && !there(numberOf(n))) ask(n);
    }
  }
  stop.abort();
  if (mine === playToken) {
    hear(timeOf(numberOf(at)), 0);
    playing.value = 0;
    seek(numberOf(at));
  }
}

// ---- sound ----

/** Whether the input's sound is played. */
export const sound = signal(false);
/** @type {{clip: number, audio: HTMLAudioElement} | null} */
let sounding = null;
/** The bytes of one answer of the server. */
const SOUND_PART = 8 << 20;

/** The sound of the clip, fetched when it is first wanted; the browser plays what it can. */
const loadSound = reported(async () => {
  const c = clip.value;
  if (!c?.sound || !sound.value || sounding?.clip === c.id) return;
  if (sounding) URL.revokeObjectURL(sounding.audio.src);
  const audio = new Audio();
  sounding = { clip: c.id, audio };
  const parts = [];
  for (let i = 0; i * SOUND_PART < c.sound; i++) parts.push(await blob(`/sound/${c.id}/${i}`));
  audio.onerror = () => {
    sound.value = false;
    toast('the browser cannot play the sound of this clip', true);
  };
  audio.src = URL.createObjectURL(new Blob(parts));
});

/** Lets the sound go on where the picture is. @param {number} time @param {number} speed 0 is silence */
function hear(time, speed) {
  const c = clip.value;
  const audio = sounding?.audio;
  if (!c || !audio?.src || sounding?.clip !== c.id) return;
  if (!sound.value || speed <= 0 || everyFrame.value) return audio.pause();
  audio.playbackRate = speed;
  // A delay of a tenth of a second is inaudible; a jump is not.
  if (Math.abs(audio.currentTime - time) > 0.1 * speed) audio.currentTime = time;
  if (audio.paused && !audio.ended) audio.play().catch(() => {});
}

/** The sound that is played, for tests and for the status line. */
export const heard = () => sounding?.audio ?? null;

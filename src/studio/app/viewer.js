// @ts-check The two panes. Samples are never changed here: the server sends finished pixels, and a canvas shows them
// one to one, or each as a square of device pixels.

import { html, nothing, render } from './vendor/lit-html.js';
import { get, picture } from './api.js';
import {
  afterwards, area, check, checked, clip, effect, entry, frame, inPlace, isFine, key, latest, recent, reference, referenceClip, report, rested,
  selectedStep, signal, view,
} from './state.js';
import { keep, kept, putPicture, shownSides as sidesOf } from './kept.js';
import { checkReference, titleOf } from './compare.js';
import { maskHandles, setMask } from './mask.js';
import { matte } from './matte.js';
import { playing, scrubbing, startPlayer } from './player.js';

export * from './player.js';

/** @typedef {import('./api.js').Picture} Picture */
/** @typedef {import('./kept.js').Side} Side */

/** Hashes of the frames that were shown last, and which frames those were. */
export const hashes = signal({ in: '', out: '', inOf: '', outOf: '' });
/** The hash of the frame that is wanted, when it is known. @param {'in' | 'out'} side */
export const hashNow = (side) => (hashes.value[`${side}Of`] === placeOf(side, frame.value) ? hashes.value[side] : '');
/** The recipe and the frame that a side shows. @param {Side} side @param {number} number @returns {[string, number]} */
const shownOf = (side, number) => (side === 'in' ? [reference.value?.key ?? '0', reference.value?.frame ?? number] : [key.value, number]);
/** @param {Side} side @param {number} number */
const placeOf = (side, number) => `/frame/${(side === 'in' ? referenceClip : clip).value?.id}/${shownOf(side, number).join('/')}`;
/** A side as the server names it. @param {Side} side */
const told = (side) => (side === 'in' && reference.value ? 'out' : side);
/** Where the pointer is in the picture of which pane, and the codes there. */
export const pointer = signal(/** @type {null | {x: number, y: number, pane: Pane}} */ (null));
export const codes = signal(/** @type {null | {x: number, y: number, in: any, out: any}} */ (null));
/** Waits for a point in the picture: the position of a setting. */
export const picking = signal(/** @type {null | ((x: number, y: number) => void)} */ (null));
/** The shape of a mask that the next drag in the picture draws. */
export const drawing = signal(/** @type {null | 'ellipse' | 'rectangle'} */ (null));
export const busy = signal(false);

/** The size of what a side shows, and how much wider than high its samples are shown. @param {Side} side */
function sizeOf(side) {
  const c = clip.value;
  const { width = 1, height = 1, shape = 1 } = (side === 'in' ? reference.value?.made ?? c : (side === 'out' && matte.value?.made) || (checked.value?.made ?? c)) ?? {};
  return { width, height, shape: view.square.value ? 1 : shape };
}

/** Asks for the nearest key frame, where the frame itself takes long. */
const NEAR = '&near=true';
/** Frames that are decoded at once on the way to another one. */
const FAR = 12;

class Pane {
  /** @param {Side} side */
  constructor(side) {
    this.side = side;
    this.box = document.createElement('div');
    this.box.className = 'panebox';
    render(html`<canvas class="pane" data-side=${side} role="img"></canvas><div></div><div></div>`, this.box);
    const [canvas, notes, handles] = /** @type {any} */ (this.box.children);
    this.canvas = /** @type {HTMLCanvasElement} */ (canvas);
    /** What is written over the picture. @type {HTMLElement} */
    this.notes = notes;
    this.drawMask = maskHandles(handles, () => this.place());
    /** The pending request. */
    this.url = '';
    this.shownUrl = '';
    /** @type {null | {url: string, abort: AbortController, since: number}} */
    this.running = null;
    /** What comes after it. */
    this.next = '';
    /** @type {null | {source: HTMLCanvasElement, region: number[], zoomed: boolean, number: number, exact?: true}} */
    this.shown = null;
    this.error = '';
    this.retried = '';
    this.observer = new ResizeObserver((entries) => {
      const { width, height } = this.canvas.getBoundingClientRect();
      const near = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
      const box = entries[0].devicePixelContentBoxSize?.[0];
      const exact = box ? [box.inlineSize, box.blockSize] : near;
      // Emulated screens report boxes in pixels of the page.
      const size = exact.every((v, i) => Math.abs(v - near[i]) <= 1) ? exact : near;
      if (!size[0] || !size[1]) return;
      [this.canvas.width, this.canvas.height] = size;
      this.sized.value = this.sized.peek() + 1;
    });
    this.sized = signal(0);
    try {
      this.observer.observe(this.canvas, { box: 'device-pixel-content-box' });
    } catch {
      this.observer.observe(this.canvas);
    }
  }

  /** Device pixels for one pixel of the picture, downwards. @param {number} [wanted] a zoom, or 0 for whole steps that fit, or -1 */
  zoom(wanted = view.zoom.value) {
    const { width, height, shape } = sizeOf(this.side);
    if (wanted > 0) return wanted;
    const fit = Math.min(this.canvas.width / width / shape, this.canvas.height / height);
    return fit >= 1 && wanted === 0 ? Math.floor(fit) : fit;
  }

  /** The same across. */
  across() {
    return this.zoom() * sizeOf(this.side).shape;
  }

  /** Where the picture's left upper corner stands on the canvas, in device pixels. */
  origin() {
    const { width, height } = sizeOf(this.side);
    const [cx, cy] = view.center.value;
    const place = (/** @type {number} */ canvas, /** @type {number} */ size, /** @type {number} */ center) =>
      size <= canvas ? Math.floor((canvas - size) / 2) : Math.round(canvas / 2 - center * size);
    return [place(this.canvas.width, width * this.across(), cx), place(this.canvas.height, height * this.zoom(), cy)];
  }

  /** The address of what should be seen of a frame: nearly that while it moves. @param {number} number @param {boolean} [moves] */
  want(number, moves = true) {
    const c = clip.value;
    if (!c || (this.side !== 'in' && !key.value)) return '';
    const [zx, z] = [this.across(), this.zoom()];
    const { width, height } = sizeOf(this.side);
    const mask = this.side === 'out' ? matte.value : null;
    const query = new URLSearchParams(mask ? { side: 'diff', matte: 'true', against: [c.id, mask.black, number].join('.') } : { side: told(this.side) });
    if (this.side === 'diff' && reference.value) query.set('against', [referenceClip.value?.id, ...shownOf('in', number)].join('.'));
    if (z >= 1 && zx >= 1) {
      const [left, top] = this.origin();
      const x = Math.max(0, Math.floor(-left / zx));
      const y = Math.max(0, Math.floor(-top / z));
      const right = Math.min(width, Math.ceil((this.canvas.width - left) / zx));
      const bottom = Math.min(height, Math.ceil((this.canvas.height - top) / z));
      if (right <= x || bottom <= y) return '';
      query.set('region', `${x},${y},${right - x},${bottom - y}`);
    } else {
      query.set('size', `${Math.max(1, Math.round(width * Math.min(1, zx)))},${Math.max(1, Math.round(height * Math.min(1, z)))}`);
    }
    if (mask) return `/frame/${c.id}/${mask.white}/${number}?${query}`;
    const gain = this.side === 'diff' ? view.diffGain.value : view.gain.value;
    if (gain !== 1) query.set('gain', String(gain));
    if (view.over.value && this.side !== 'diff') query.set('over', view.over.value);
    if (view.gamma.value !== 1 && this.side !== 'diff') query.set('gamma', String(view.gamma.value));
    if (view.field.value) query.set('field', view.field.value);
    if (view.plane.value >= 0) query.set('plane', String(view.plane.value));
    if (view.clipping.value && this.side !== 'diff') query.set('clipping', 'true');
    if (moves && query.has('size')) query.set('quick', 'true');
    return `${placeOf(this.side, number)}?${query}`;
  }

  /** Asks for what should be seen: one request at a time and the newest after it; one that takes long is given up. */
  refresh() {
    const near = scrubbing.value;
    const url = this.want(frame.value, near) + (near ? NEAR : '');
    this.url = url;
    // Until the exact picture arrives, the one that was made for playing.
    const quick = this.want(frame.value);
    const got = kept(url) ?? kept(quick);
    if (got && this.shownUrl !== url && this.shownUrl !== quick) this.show(kept(url) ? url : quick, got);
    const running = this.running?.abort.signal.aborted ? '' : this.running?.url;
    if (!url || url === this.shownUrl || url === running) {
      this.next = '';
      if (url === this.shownUrl) {
        // Abort the pending request, whose result would replace a newer one.
        this.running?.abort.abort();
        this.draw();
      }
      return;
    }
    if (!this.running) return this.load(url);
    this.next = url;
    // What follows a key frame takes long.
    const isLong = this.isAbout() && !running?.endsWith(NEAR);
    if (isLong || performance.now() - this.running.since > 300) this.running.abort.abort();
  }

  /** Whether a key frame is seen in the place of the frame. */
  isAbout() {
    return !!this.shown && !this.shown.exact && this.shownUrl.endsWith(NEAR) && this.shown.number !== this.number();
  }

  /** The number of the frame that is wanted. */
  number() {
    return shownOf(this.side, frame.value)[1];
  }

  /** @param {string} exact @param {boolean} [isNew] whether it was not tried before */
  async load(exact, isNew = true) {
    // Far from what is seen, a key frame comes first.
    const isFar = this.shown && !this.isAbout() && Math.abs(this.shown.number - this.number()) > FAR;
    const url = isFar && isNew && !exact.endsWith(NEAR) ? `${this.want(frame.value)}${NEAR}` : exact;
    if (url !== exact) this.next = exact;
    const abort = new AbortController();
    const run = { url, abort, since: performance.now() };
    this.running = run;
    busy.value = true;
    const slow = setTimeout(() => {
      if (this.next && this.next !== exact) abort.abort();
      else this.box.classList.add('waiting');
    }, 300);
    try {
      const got = await picture(url, abort.signal);
      if (!url.endsWith(NEAR)) keep(url, got);
      this.show(url, got);
    } catch (error) {
      if (error instanceof Error && error.name !== 'AbortError') this.fail(error);
    } finally {
      clearTimeout(slow);
      this.running = null;
      const next = this.next;
      this.next = '';
      if (next && next !== this.shownUrl) this.load(next, next !== exact);
      else {
        this.box.classList.remove('waiting');
        busy.value = [...panes.values()].some((p) => p.running);
      }
    }
  }

  /** @param {Error & {status?: number}} error */
  fail(error) {
    // The server has dropped the recipe or the clip: a check restores them, once.
    if (error.status === 410 && this.retried !== this.url) {
      this.retried = this.url;
      check().then(checkReference).then(() => this.refresh()).catch(report);
    } else {
      this.error = error.message;
      this.draw();
    }
  }

  /** @param {string} url @param {Picture} got */
  show(url, got) {
    const source = this.shown?.source ?? document.createElement('canvas');
    putPicture(source, got.image, { willReadFrequently: true });
    const query = new URLSearchParams(url.split('?')[1]);
    const region = (query.get('region') ?? '0,0,0,0').split(',').map(Number);
    this.shown = { source, region, zoomed: query.has('region'), number: got.number, exact: got.exact };
    this.shownUrl = url;
    this.error = '';
    this.draw();
    // A wipe has the source's part in the result's pane.
    if (this.side === 'in' && view.layout.peek() === 'wipe') panes.get('out')?.draw();
  }

  forget() {
    [this.shown, this.shownUrl] = [null, ''];
    queueMicrotask(() => this.draw());
  }

  draw() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d', { willReadFrequently: true }));
    context.fillStyle = surrounds[/** @type {keyof typeof surrounds} */ (view.surround.value)];
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const wipes = view.layout.value === 'wipe' && this.side === 'out';
    const under = wipes ? panes.get('in') : null;
    if (under?.shown) {
      const at = Math.round(view.wipe.value * this.canvas.width);
      // Each at its own place, in its own part: their sizes may differ.
      for (const [part, from, to] of /** @type {[Pane, number, number][]} */ ([[under, 0, at], [this, at, this.canvas.width]])) {
        context.save();
        context.beginPath();
        context.rect(from, 0, to - from, this.canvas.height);
        context.clip();
        part.paint(context);
        context.restore();
      }
      const top = Math.max(0, this.origin()[1]);
      const bottom = Math.min(this.canvas.height, this.origin()[1] + sizeOf(this.side).height * this.zoom());
      context.fillStyle = '#e8e8e8';
      context.fillRect(at, top, 1, bottom - top);
      context.fillRect(at - 3, Math.round((top + bottom) / 2) - 12, 7, 24);
    } else {
      this.paint(context);
    }
    this.outline(context);
    render(this.notesTemplate(wipes), this.notes);
    this.canvas.setAttribute('aria-label', `${nameOf(this.side)}, frame ${this.shown?.number ?? frame.value}`);
    this.canvas.dataset.shown = this.shownUrl;
    drawn.value = drawn.peek() + 1;
  }

  /** What is shown, on the right too what a wipe shows there, and the note that grain looks weaker than it is.
   * @param {boolean} wipes */
  notesTemplate(wipes) {
    const isDiff = this.side === 'diff';
    const percent = `${Math.round(this.zoom() * 100)} %`;
    const small = this.zoom() < 1;
    const wrong = this.side !== 'in' && inPlace() ? `: ${inPlace()}` : '';
    const about = this.isAbout() ? `, about: key frame ${this.shown?.number}` : '';
    const scaled = `${isDiff ? ` ×${view.diffGain.value}, grey is 0` : ''}${small ? `, ${percent}` : ''}`;
    const name = `${nameOf(wipes ? 'in' : this.side)}${scaled}${about}${wipes ? '' : wrong}`;
    const hint = `${percent}: ${isDiff ? 'the difference looks smaller' : 'grain looks weaker'} than it is. Show 1:1`;
    return html`<span class="panelabel ${this.error ? 'bad' : ''}">${this.error || name}</span>
      ${wipes ? html`<span class="panelabel right">${nameOf('out')}${wrong}</span>` : nothing}
      ${small && this.side !== 'in' && isFine() && view.hints.value ? html`<div class="hint">
        <button class="badge" title="A smaller view is the mean of the area that each of its pixels covers"
          @click=${() => zoomTo(1, this)}>${hint}</button>
        <button class="icon" aria-label="Do not show this again" title="Do not show this again"
          @click=${() => (view.hints.value = false)}>×</button></div>` : nothing}`;
  }

  /** The area that is measured. @param {CanvasRenderingContext2D} context */
  outline(context) {
    this.drawMask();
    if (!area.value) return;
    const [x, y, w, h] = area.value;
    const [zx, z] = [this.across(), this.zoom()];
    const [left, top] = this.origin();
    context.strokeStyle = '#d9a441';
    context.strokeRect(left + x * zx - 0.5, top + y * z - 0.5, w * zx + 1, h * z + 1);
  }

  /** @param {CanvasRenderingContext2D} context */
  paint(context) {
    if (!this.shown) return;
    const { source, region, zoomed } = this.shown;
    const [zx, z] = [this.across(), this.zoom()];
    const [left, top] = this.origin();
    context.imageSmoothingEnabled = false;
    if (zoomed) {
      const [x, y] = [left + Math.round(region[0] * zx), top + Math.round(region[1] * z)];
      context.drawImage(source, x, y, left + Math.round((region[0] + source.width) * zx) - x, top + Math.round((region[1] + source.height) * z) - y);
    } else {
      // One to one if the size has not changed; else until the new picture arrives.
      const { width, height } = sizeOf(this.side);
      context.drawImage(source, left, top, Math.max(1, Math.round(width * zx)), Math.max(1, Math.round(height * z)));
    }
  }

  /** Where the picture is in the pane, in pixels of the page. */
  place() {
    const { width, height } = sizeOf(this.side);
    const [zx, z] = [this.canvas.clientWidth / this.canvas.width, this.canvas.clientHeight / this.canvas.height];
    const [left, top] = this.origin();
    return { left: left * zx, top: top * z, across: width * this.across() * zx, down: height * this.zoom() * z, width, height };
  }

  /** Where an event is in the picture; the corner of the sample. @param {PointerEvent | WheelEvent | MouseEvent} event */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [left, top] = this.origin();
    const x = ((event.clientX - box.left) * this.canvas.width) / box.width;
    const y = ((event.clientY - box.top) * this.canvas.height) / box.height;
    return [(x - left) / this.across(), (y - top) / this.zoom()];
  }
}

const labels = { in: 'Source', out: 'Result', diff: 'Difference' };
/** @param {Side} side */
const nameOf = (side) => (side === 'in' && reference.value ? `A, ${titleOf(reference.value)}` : side === 'out' && matte.value ? `Mask of ${entry(selectedStep.value?.name ?? '')?.label}` : labels[side]);
export const surrounds = { black: '#000000', dark: '#161616', grey: '#777777' };
/** Counts drawings, for what shows a part of a pane. */
export const drawn = signal(0);

/** @type {Map<Side, Pane>} */
export const panes = new Map();
/** @param {Side} side */
function pane(side) {
  let found = panes.get(side);
  if (!found) {
    found = new Pane(side);
    panes.set(side, found);
    listenTo(found);
  }
  return found;
}

/** Zooms, keeping what is under a place of the canvas (in device pixels from its middle) there. 0 fits, -1 fills.
 * @param {number} to @param {Pane} [on] @param {[number, number]} [place] */
export function zoomTo(to, on = [...panes.values()][0], place = [0, 0]) {
  if (!on) return;
  const from = on.zoom();
  if (to <= 0) {
    [view.zoom.value, view.center.value] = [to, [0.5, 0.5]];
    return;
  }
  const z = Math.max(1 / 16, Math.min(64, to >= 1 ? Math.round(to) : to));
  const { width, height, shape } = sizeOf(on.side);
  const [left, top] = on.origin();
  const middle = [on.canvas.width / 2, on.canvas.height / 2];
  const under = [(middle[0] + place[0] - left) / from / shape / width, (middle[1] + place[1] - top) / from / height];
  view.zoom.value = z;
  moveTo(under[0] - place[0] / z / shape / width, under[1] - place[1] / z / height);
}

/** @param {number} x @param {number} y */
const moveTo = (x, y) => (view.center.value = [Math.max(0, Math.min(1, x)), Math.max(0, Math.min(1, y))]);

const steps = [1 / 16, 1 / 8, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/** The next zoom of the usual ones. @param {number} by @param {Pane} [on] @param {[number, number]} [place] */
export function zoomBy(by, on = [...panes.values()][0], place) {
  const now = on?.zoom() ?? 1;
  const next = by > 0 ? steps.find((s) => s > now * 1.001) : steps.findLast((s) => s < now / 1.001);
  if (next) zoomTo(next, on, place);
}

/** @param {Pane} p */
function listenTo(p) {
  const { canvas } = p;
  /** @type {null | {x: number, y: number, center: number[], wipes: boolean, corner?: number[], mask?: number[]}} */
  let drag = null;
  const fromMiddle = (/** @type {MouseEvent} */ e) => {
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    return /** @type {[number, number]} */ ([
      (e.clientX - box.left) * scale - canvas.width / 2,
      (e.clientY - box.top) * scale - canvas.height / 2,
    ]);
  };
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    zoomBy(e.deltaY < 0 ? 1 : -1, p, fromMiddle(e));
  });
  canvas.addEventListener('dblclick', () => zoomTo(view.zoom.value === 1 ? 0 : 1, p));
  canvas.addEventListener('pointerdown', (e) => {
    if (picking.value) {
      const [x, y] = p.at(e);
      picking.value(Math.round(x * 10) / 10, Math.round(y * 10) / 10);
      picking.value = null;
      return;
    }
    if (e.button > 1) return;
    canvas.setPointerCapture(e.pointerId);
    const at = (e.offsetX / canvas.clientWidth) - view.wipe.value;
    const wipes = view.layout.value === 'wipe' && Math.abs(at * canvas.clientWidth) < 12;
    drag = { x: e.clientX, y: e.clientY, center: view.center.value, wipes };
    if (drawing.value && selectedStep.value) drag.mask = p.at(e);
    else if (e.shiftKey) {
      drag.corner = p.at(e);
      area.value = null;
    }
  });
  canvas.addEventListener('pointermove', (e) => {
    const [x, y] = p.at(e).map(Math.floor);
    const { width, height } = sizeOf(p.side);
    pointer.value = x >= 0 && y >= 0 && x < width && y < height ? { x, y, pane: p } : null;
    if (!drag) return;
    const from = drag.corner ?? drag.mask;
    if (from) {
      const [ax, ay] = from;
      const [bx, by] = p.at(e);
      const within = (/** @type {number} */ v, /** @type {number} */ most) => Math.max(0, Math.min(most, v));
      const [x0, x1] = [Math.min(ax, bx), Math.max(ax, bx)].map((v) => Math.round(within(v, width)));
      const [y0, y1] = [Math.min(ay, by), Math.max(ay, by)].map((v) => Math.round(within(v, height)));
      const isEmpty = x1 <= x0 || y1 <= y0;
      if (drag.corner) area.value = isEmpty ? null : [x0, y0, x1 - x0, y1 - y0];
      else if (!isEmpty && drawing.value) {
        const [x, y, w, h] = [(x0 + x1) / 2 / width, (y0 + y1) / 2 / height, (x1 - x0) / width, (y1 - y0) / height];
        setMask([x, y, w, h], drawing.value, 'mask drawn').catch(report);
      }
      return;
    }
    if (drag.wipes) return void (view.wipe.value = Math.max(0, Math.min(1, e.offsetX / canvas.clientWidth)));
    const scale = canvas.width / canvas.clientWidth;
    const { center } = drag;
    const [across, down] = [width * p.across(), height * p.zoom()];
    if (across > canvas.width || down > canvas.height) {
      moveTo(center[0] - ((e.clientX - drag.x) * scale) / across, center[1] - ((e.clientY - drag.y) * scale) / down);
    }
  });
  canvas.addEventListener('pointerup', () => {
    if (drag?.mask) drawing.value = null;
    drag = null;
  });
  canvas.addEventListener('pointerleave', () => (pointer.value = null));
}

/** The hashes of the frames that are shown, when they have rested for a moment. @param {AbortSignal} stop */
async function readHashes(stop) {
  for (const side of /** @type {const} */ (['in', 'out'])) {
    const of = placeOf(side, frame.value);
    const isShown = sidesOf(view.layout.value).some((s) => s === side || (side === 'out' && s === 'diff'));
    if (!isShown || !clip.value || (side === 'out' && !key.value) || hashes.value[`${side}Of`] === of) continue;
    const { hash } = await get(of.replace('/frame/', '/hash/'), stop);
    hashes.value = { ...hashes.value, [side]: hash, [`${side}Of`]: of };
  }
}

// ---- the codes under the pointer ----

const readCodes = latest(async () => {
  const at = pointer.value;
  if (!at) codes.value = null;
  if (!at || !clip.value || playing.value || scrubbing.value) return;
  const ask = (/** @type {Side} */ side) =>
    get(`${placeOf(side, frame.value).replace('/frame/', '/pixels/')}?side=${told(side)}&region=${at.x},${at.y},1,1`).catch(() => null);
  const [a, b] = await Promise.all([ask('in'), key.value ? ask('out') : null]);
  codes.value = { x: at.x, y: at.y, in: a, out: b };
});

// ---- putting it on the page ----

/** @param {HTMLElement} root */
export function startViewer(root) {
  effect(() => {
    const layout = view.layout.value;
    const sides = layout === 'wipe' ? /** @type {Side[]} */ (['out']) : sidesOf(layout);
    root.dataset.layout = layout;
    if (clip.value) return root.replaceChildren(...sides.map((s) => pane(s).box));
    void recent.value;
    const box = document.createElement('div');
    box.className = 'startbox';
    root.replaceChildren(box);
    import('./start.js').then(({ startPage }) => render(startPage(), box));
  });
  let seen = '';
  // Nothing of another clip stays in sight until its own picture arrives.
  effect(() => void (seen !== (seen = clip.value?.path ?? '') && panes.forEach((p) => p.forget())));
  effect(() => {
    void [clip.value, key.value, matte.value, view.over.value, reference.value, frame.value, checked.value, view.gain.value, view.diffGain.value, view.plane.value, view.gamma.value, view.field.value];
    void [view.hints.value, view.clipping.value, view.square.value, view.zoom.value, view.center.value, view.surround.value, area.value, selectedStep.value];
    const playingNow = playing.value;
    for (const side of sidesOf(view.layout.value)) {
      const p = pane(side);
      void p.sized.value;
      // A wipe shows the source in the result's pane at the same size.
      if (side === 'in' && view.layout.value === 'wipe') {
        const out = pane('out');
        void out.sized.value;
        if (p.canvas.width !== out.canvas.width || p.canvas.height !== out.canvas.height) {
          [p.canvas.width, p.canvas.height] = [out.canvas.width, out.canvas.height];
        }
      }
      void scrubbing.value;
      if (!playingNow) p.refresh();
      else p.draw();
    }
  });
  afterwards(() => view.wipe.value, () => view.layout.value === 'wipe' && pane('out').draw());
  afterwards(() => [pointer.value, key.value, frame.value], readCodes);
  startPlayer(pane);
  rested(150, () => (playing.value || scrubbing.value ? null : [clip.value, key.value, reference.value, frame.value, view.layout.value]),
    (_, stop) => readHashes(stop).catch(() => {}));
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') picking.value = drawing.value = null;
  });
  effect(() => root.classList.toggle('picking', !!picking.value || !!drawing.value));
}

/** A whole frame as a PNG. @param {Side} side @returns {Promise<Blob>} */
export async function png(side) {
  const c = clip.value;
  if (!c) throw new Error('no clip is open');
  if (side === 'out') {
    await check();
    const fault = checked.value?.faults[0];
    if (fault) throw new Error(`no picture is made: ${fault.text}`);
  }
  const { image } = await picture(`/frame/${c.id}/${side === 'in' ? '0' : key.value}/${frame.value}?side=${side}`);
  const canvas = new OffscreenCanvas(1, 1);
  putPicture(canvas, image);
  return canvas.convertToBlob({ type: 'image/png' });
}

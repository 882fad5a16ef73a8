// @ts-check The timeline: exact frames, the selection, and the buttons that play.

import { html, nothing, render, svg } from './vendor/lit-html.js';
import { begins, clip, codeText, effect, frame, frameOf, key, markers, notTime, range, rate, seek, selection, signal, timecode, timeText, toast, view } from './state.js';
import { cutSelection, cuts, keptRanges, step } from './cutting.js';
import { isSearching } from './scenes.js';
import { dropped, everyFrame, loop, panes, play, playing, scrubbing, shownRate } from './viewer.js';
import { changes, runs, shownSides } from './kept.js';
import { keyText, tool } from './keys.js';

const width = signal(600);
/** The frames that are seen; null is all. @type {import('./vendor/signals-core.js').Signal<[number, number] | null>} */
export const span = signal(null);
/** Where the plot of curves has its frames, in pixels of the ruler: both then show the same axis.
 * @type {import('./vendor/signals-core.js').Signal<null | {from: number, to: number, left: number, right: number}>} */
export const axis = signal(null);
/** Frames of the keys of the curve that is edited. */
export const keyMarks = signal(/** @type {number[]} */ ([]));

/** The width of a frame, and where the first one begins. */
function place() {
  const c = clip.value;
  const count = c ? c.last - c.first + 1 : 1;
  const a = axis.value;
  if (!a || !c) {
    const [from, to] = span.value ?? [c?.first ?? 0, (c?.first ?? 0) + count];
    const one = width.value / Math.max(1, to - from);
    return { one, start: -(from - (c?.first ?? 0)) * one };
  }
  const one = (a.right - a.left) / (a.to - a.from);
  return { one, start: a.left - (a.from - c.first + 0.5) * one };
}

/** Frame numbers for marks: about a mark every 70 pixels, at round numbers. @param {number} first @param {number} last
 * @param {number} pixels */
export function ticks(first, last, pixels) {
  const wish = ((last - first + 1) / Math.max(1, pixels)) * 70;
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, wish)));
  const step = Math.max(1, [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= wish) ?? 10 * ten);
  const list = [];
  for (let n = Math.ceil(first / step) * step; n <= last; n += step) list.push(n);
  return list;
}

function ruler() {
  const c = clip.value;
  if (!c) return nothing;
  const w = width.value;
  const at = place();
  const x = (/** @type {number} */ n) => at.start + (n - c.first) * at.one;
  const [from, to] = range();
  const first = Math.max(c.first, Math.floor(c.first - at.start / at.one));
  const last = Math.min(c.last, Math.ceil(c.first + (w - at.start) / at.one));
  const marks = ticks(first, last, (last - first + 1) * at.one);
  const one = Math.max(2, at.one);
  return svg`
    <rect class="track" x=${x(c.first)} y="14" width=${x(c.last + 1) - x(c.first)} height="18"/>
    ${ready.value.map(([a, b]) => svg`<rect class="ready" x=${x(a)} y="32" width=${Math.max(1, x(b + 1) - x(a))} height="3"/>`)}
    ${selection.value ? svg`<rect class="sel" x=${x(from)} y="14" width=${Math.max(2, x(to + 1) - x(from))} height="18"/>` : nothing}
    ${cuts.value.map(([a, b]) => svg`<rect class="cut" x=${x(a)} y="14" width=${Math.max(2, x(b + 1) - x(a))} height="18"><title>${a}–${b} are cut out</title></rect>`)}
    ${marks.map((n) => svg`<line class="tick" x1=${x(n)} x2=${x(n)} y1="9" y2="14"/><text x=${x(n) + 3} y="10">${n}</text>`)}
    ${markers.value.map((m) => svg`<path class="marker" d="M${x(m) + one / 2 - 4} 24h8l-4 8z"><title>marker ${m}</title></path>`)}
    ${keyMarks.value.map((n) => svg`<path class="keymark" d="M${x(n) + at.one / 2} 14l4 4-4 4-4-4z"/>`)}
    <rect class="head" x=${x(frame.value)} y="12" width=${one} height="22"/>`;
}

/** Frames whose pictures are there, in runs. @type {import('./vendor/signals-core.js').Signal<[number, number][]>} */
export const ready = signal([]);

/** Looks which frames are there, a few times a second. */
function watchKept() {
  let waiting = 0;
  effect(() => {
    void [changes.value, clip.value, key.value, view.layout.value, view.zoom.value, view.center.value];
    waiting ||= setTimeout(() => {
      waiting = 0;
      const wanted = shownSides(view.layout.value).map((side) => panes.get(side)?.want(123456789) ?? '');
      ready.value = wanted.length && wanted.every((url) => url.includes('123456789')) ? runs(wanted.map((url) => /** @type {[string, string]} */ (url.split('123456789')))) : [];
    }, 150);
  });
}

let resting = 0;
/** The hand moves along the timeline, until it rests. @param {PointerEvent} e */
function scrub(e) {
  scrubbing.value = true;
  clearTimeout(resting);
  resting = setTimeout(() => (scrubbing.value = false), 200);
  const { width: across } = /** @type {Element} */ (e.currentTarget).getBoundingClientRect();
  // Dragging with the right button is slow: a tenth of the distance.
  const slow = 0.1 * ((e.movementX / across) * width.value / place().one);
  seek(e.buttons === 2 ? frame.value + slow : Math.floor(under(e)));
}

/** The frame and the part of it that the pointer is on. @param {MouseEvent} e */
function under(e) {
  const box = /** @type {Element} */ (e.currentTarget).getBoundingClientRect();
  const { one, start } = place();
  return (clip.value?.first ?? 0) + (((e.clientX - box.left) / box.width) * width.value - start) / one;
}

/** What the wheel has turned since its last step, in notches. */
let turned = 0;
/** The wheel steps from frame to frame. With Ctrl it enlarges the time around the pointer; with Shift, or sideways, it moves
 * along. @param {WheelEvent} e */
function wheel(e) {
  const c = clip.value;
  if (!c) return;
  e.preventDefault();
  if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX)) {
    turned += e.deltaY / (e.deltaMode ? 3 : 100);
    const by = Math.trunc(turned);
    turned -= by;
    if (by && playing.value) play(0);
    return by && step(by);
  }
  const center = under(e);
  const all = c.last - c.first + 1;
  const [from, to] = span.value ?? [c.first, c.last + 1];
  const along = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
  const long = along ? to - from : Math.max(Math.min(8, all), (to - from) * (e.deltaY < 0 ? 0.8 : 1.25));
  const at = along ? from + Math.sign(e.deltaX || e.deltaY) * 0.1 * long : center - ((center - from) * long) / (to - from);
  const left = Math.max(c.first, Math.min(c.last + 1 - long, at));
  span.value = long >= all ? null : [left, left + long];
}

/** Frames a second, where the rate varies on average. */
const meanRate = () => (begins.value ? (begins.value.length - 1) / (begins.value[begins.value.length - 1] - begins.value[0]) : rate.value);

function template() {
  const c = clip.value;
  const [from, to] = range();
  const coded = timecode.value && !c?.variable;
  const shown = `frame ${frame.value}, ${timeText(frame.value)}`;
  return html`
    <div class="transport">
      <span class="group">
        ${tool('go.start')}${tool('go.scene.back')}${tool('step.back')}
        ${tool(playing.value ? 'play.stop' : 'play.result')}
        ${tool('step.forward')}${tool('go.scene.forward')}${tool('go.end')}${tool('marker.toggle')}${c?.sound ? tool('play.sound') : nothing}
      </span>
      <label class="now">Frame
        <input class="number" id="frame-number" type="text" inputmode="numeric" aria-label="Frame number" .value=${String(frame.value)}
          ?disabled=${!c}
          @change=${(/** @type {any} */ e) => {
            const n = frameOf(e.target.value);
            if (n !== null) seek(n);
            else toast(notTime, true);
            e.target.value = String(frame.value);
          }}></label>
      <button class="time digits" title="${coded ? 'Timecode, the clip’s own if it has one' : 'Time since the first frame'}; a click shows ${coded ? 'milliseconds' : 'timecode'} (${keyText('time.code')})" ?disabled=${!c || c.variable}
        @click=${() => (timecode.value = !timecode.value)}>${c ? (coded ? codeText : timeText)(frame.value) : ''}</button>
      <span class="group">
        ${tool('sel.in', 'In', 'small')}
        <span class="digits" title="Selection, both ends included">${c && selection.value ? `${from}–${to} (${to - from + 1})` : c ? 'all' : ''}</span>
        ${tool('sel.out', 'Out', 'small')}${tool('sel.none', 'Clear', 'small')}
        <button class="small" title="Cut out the selected frames (Delete)" ?disabled=${!selection.value} @click=${cutSelection}>Cut</button>
      </span>
      <label title="Play the selection again and again"><input type="checkbox" .checked=${loop.value}
        @change=${(/** @type {any} */ e) => (loop.value = e.target.checked)}>Loop</label>
      <label title="Show every frame, however long it takes"><input type="checkbox" .checked=${everyFrame.value}
        @change=${(/** @type {any} */ e) => (everyFrame.value = e.target.checked)}>No drops</label>
      <span class="dim digits">${!c ? '' : playing.value ? `${playing.value}×, ${shownRate.value} fps, ${dropped.value} dropped`
        : `${c.first}–${c.estimated ? 'about ' : ''}${c.last}, ${c.variable ? 'varying rate, about ' : ''}${Number(meanRate().toFixed(3))} fps${dropped.value ? `; ${dropped.value} dropped` : cuts.value.length ? `; ${keptRanges([c.first, c.last]).reduce((all, [a, b]) => all + b + 1 - a, 0)} without cuts` : ''}`}</span>
      ${isSearching.value ? html`<span role="status">looking for a cut (Esc stops)</span>` : nothing}
    </div>
    <svg class="ruler" role="slider" tabindex="0" aria-label="Frame" aria-valuemin=${c?.first ?? 0} aria-valuemax=${c?.last ?? 0}
      aria-valuenow=${frame.value} aria-valuetext=${shown} height="36"
      @wheel=${wheel} title="The wheel steps by a frame; with Ctrl it enlarges the time, with Shift it moves along"
      @contextmenu=${(/** @type {Event} */ e) => e.preventDefault()}
      @pointerdown=${(/** @type {PointerEvent} */ e) => {
        /** @type {Element} */ (e.currentTarget).setPointerCapture(e.pointerId);
        if (playing.value) play(0);
        scrub(e);
      }}
      @pointermove=${(/** @type {PointerEvent} */ e) => e.buttons && scrub(e)}
      @pointerup=${() => (scrubbing.value = false)}>${ruler()}</svg>`;
}

/** @param {HTMLElement} root */
export function startTimeline(root) {
  effect(() => render(template(), root));
  watchKept();
  // What is seen follows the playhead.
  effect(() => {
    const n = frame.value;
    const seen = span.peek();
    if (!seen || (n >= seen[0] && n < seen[1])) return;
    const long = seen[1] - seen[0];
    const left = n >= seen[1] ? n : n + 1 - long;
    span.value = [left, left + long];
  });
  new ResizeObserver(() => (width.value = Math.max(50, root.querySelector('.ruler')?.clientWidth ?? 600))).observe(root);
}

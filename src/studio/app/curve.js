// @ts-check The curve editor. The server provides the keys and the line; this module moves, adds and deletes keys, and
// converts them to text.

import { html, nothing, svg } from './vendor/lit-html.js';
import { begins, checked, clip, curveOf, doc, dock, dockOpen, effect, entry, frame, latest, post, range, seek, selected, selectedStep, selection, settingOf, setValue, signal, timeOf } from './state.js';
import { isSecond, openCurve, partsText, slider, stepped } from './controls.js';
import { curveText, isCurve, short, valueAt } from './moving.js';
import { effectCurves } from './effect.js';
import { axis, keyMarks, span, ticks } from './timeline.js';

/** @typedef {{at: string, frame: number, value: number[], shape: string, text?: string}} Key */
/** @typedef {{keys: Key[], before: string, after: string, samples: number[][]}} Drawn */

const shapes = ['linear', 'hold', 'smooth', 'bspline'];
const eases = ['sine', 'quad', 'cubic', 'quart', 'quint', 'expo', 'circ', 'back', 'elastic', 'bounce'].flatMap((e) =>
  ['in', 'out', 'in-out'].map((end) => `${e}-${end}`));
const rules = ['hold', 'repeat', 'mirror', 'extrapolate'];
const colours = ['#d9a441', '#5fb0d8', '#8ec46a', '#c98bd0'];
const partNames = { position: ['x', 'y'], colour: ['red', 'green', 'blue', 'alpha'] };

const size = signal([600, 160]);
/** Where the plot begins, in pixels of the ruler above it. */
const left = signal(0);
const chosen = signal(-1);
/** Which part of its value was taken by the mouse. */
let chosenPart = -1;
/** Curves as the server has drawn them last, by filter and setting. */
const drawn = signal(/** @type {Map<string, Drawn & {url: string}>} */ (new Map()));
/** `handle` is 1 or 2 where a handle of the stretch after the key is dragged.
 * `off` is how far beside the key it was taken.
 * @type {null | {index: number, part: number, from: number, value: number, level: boolean, handle: number, off: number}} */
let drag = null;
/** The values of a curve that the plot shows. @typedef {{name: string, low: number, high: number}} Axis */
/** Those at which a gesture began, until its second click. @type {Axis | null} */
let held = null;
/** Those that the user has enlarged. */
const enlarged = signal(/** @type {Axis | null} */ (null));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let releasing;
/** Whether a key is moved by the keyboard: presses that follow each other soon are undone in one step. */
let nudging = false;

/** @typedef {ReturnType<typeof moving>[0]} Moving */
/** All settings that move, and those of an effect that is edited. */
function moving() {
  return doc.value.steps.flatMap((step) => [...Object.entries(step.values)
    .filter(([id, text]) => isCurve(text) && settingOf(step, id)?.animatable)
    .map(([id, text]) => ({
      step, id, key: id, text, name: `${step.id}.${id}`, setting: settingOf(step, id), layer: false,
      set: (/** @type {string | null} */ value, dragged = true) => setValue(step.id, id, value, dragged),
    })), ...effectCurves(step)]);
}

/** The one that is edited: of the chosen filter the one asked for or the first, or else of another. */
function current() {
  const all = moving();
  const asked = all.find((m) => m.step.id === curveOf.value?.step && m.key === curveOf.value.setting);
  const here = selectedStep.value?.id;
  return asked?.step.id === here ? asked ?? null : all.find((m) => m.step.id === here) ?? asked ?? all[0] ?? null;
}

/** The one that is edited, as it is drawn; nothing until it is. @returns {[Moving, Drawn & {url: string}] | [undefined, undefined]} */
function edited() {
  const m = current();
  const d = m && drawn.value.get(m.name);
  return d ? [m, d] : [undefined, undefined];
}

/** Its value at the playhead. @param {Moving | null} m */
const valueNow = (m) => m && valueAt(m.step.name, m.id, m.text, frame.value, m.layer);

/** @returns {[number, number]} */
const seen = () => span.value ?? [clip.value?.first ?? 0, Math.max(clip.value?.last ?? 100, (clip.value?.first ?? 0) + 1)];

/** @type {Map<string, string>} */
const wanted = new Map();
/** Asks for what has changed, one curve after the other; of many changes the last one counts. */
const load = latest(async () => {
  for (;;) {
    const next = [...wanted].find(([name, url]) => drawn.value.get(name)?.url !== url);
    if (!next) break;
    const [name, url] = next;
    // An invalid text is reported at the setting.
    const got = await post('/curve', JSON.parse(url)).catch(() => wanted.delete(name) && null);
    if (got && wanted.get(name) === url) drawn.value = new Map(drawn.value).set(name, { ...got, url });
  }
});

/** @param {Key[]} keys @param {Partial<Drawn>} [more] */
function write(keys, more = {}) {
  const [m, d] = edited();
  if (!d) return;
  const next = { before: d.before, after: d.after, ...more, keys };
  m.set(keys.length ? curveText(next) : null, drag !== null || nudging);
  // Visible immediately; the server's line follows.
  drawn.value = new Map(drawn.value).set(m.name, { ...d, ...next, url: '' });
}

/** The time of a key at a frame, written as the curve writes its times. @param {number} at @param {Key[]} keys */
function timeAt(at, keys) {
  const c = clip.value;
  if (!c || !keys.some((k) => k.at.endsWith('s'))) return String(at);
  return begins.value ? `${Number(timeOf(at).toFixed(6))}s` : `${at * c.rate[1]}/${c.rate[0]}s`;
}

/** @param {number} at @param {number[] | null} value */
function addKey(at, value) {
  const [m, d] = edited();
  if (!d || !value) return;
  const before = d.keys.findLast((k) => k.frame <= at);
  if (before && Math.abs(before.frame - at) < 0.5) {
    chosen.value = d.keys.indexOf(before);
    write(d.keys.map((k) => (k === before ? { ...k, value, text: partsText(m.setting, value) } : k)));
    return;
  }
  const key = { at: timeAt(at, d.keys), frame: at, value, shape: before?.shape.split(' ')[0] === before?.shape ? before?.shape ?? 'linear' : 'linear', text: partsText(m.setting, value) };
  const keys = [...d.keys, key].sort((a, b) => a.frame - b.frame);
  chosen.value = keys.indexOf(key);
  write(keys);
}

/** Moves a key by frames and by steps of its value, as far as its neighbours and its range allow.
 * @param {number} index @param {number} frames @param {number} steps @param {number} part of the value; all when below 0 */
function nudge(index, frames, steps, part) {
  const [m, d] = edited();
  const key = d?.keys[index];
  if (!d || !key) return;
  const at = between(d, index, Math.round(key.frame) + frames);
  const { min = -Infinity, max = Infinity } = m.setting;
  const value = key.value.map((v, i) => (steps && (i === part || part < 0) ? Math.max(min, Math.min(max, v + steps * stepOf(m.setting, v))) : v));
  const text = steps ? partsText(m.setting, value) : key.text;
  nudging = true;
  write(d.keys.map((k, i) => (i === index ? { ...k, at: frames ? timeAt(at, d.keys) : k.at, frame: frames ? at : k.frame, value, text } : k)));
  nudging = false;
}

/** How much an arrow changes a value. @param {any} s @param {number} value */
function stepOf(s, value) {
  if (s.kind === 'colour') return 1 / 255;
  if (s.kind === 'position') return s.unit === 'pixels' ? 1 : 0.01;
  const { log, step } = slider(s);
  return s.step ?? (log ? Math.max(1e-4, Math.abs(value) * 0.05) : step);
}

/** The frame nearest to one where a key can stand: keys stay in order, a frame apart.
 * @param {Drawn} d @param {number} index @param {number} at */
function between(d, index, at) {
  const least = index > 0 ? Math.floor(d.keys[index - 1].frame) + 1 : clip.value?.first ?? 0;
  const most = index + 1 < d.keys.length ? Math.ceil(d.keys[index + 1].frame) - 1 : Infinity;
  return Math.max(least, Math.min(most, at));
}

/** Up and down in a field of the table, with Shift by ten. @param {number} index @param {boolean} isTime */
const nudgeField = (index, isTime) => (/** @type {KeyboardEvent} */ e) => {
  const by = stepped(e);
  if (by) nudge(index, isTime ? by : 0, isTime ? 0 : by, -1);
};

/** @param {number} index */
function removeKey(index) {
  const [m, d] = edited();
  if (!d?.keys[index]) return;
  if (d.keys.length === 1) m.set(partsText(m.setting, d.keys[0].value), false);
  else write(d.keys.filter((_, i) => i !== index));
  chosen.value = -1;
}

/** The handles of a stretch: their times, 0 to 1 of it, and how far their values are from the key on their side.
 * @param {string} shape */
function handlesOf(shape) {
  const found = /^bezier (\S+) (\S+) (\S+) (\S+)$/.exec(shape);
  return found && [1, 2].map((n) => ({ x: Number(found[2 * n - 1]), y: found[2 * n].split(',').map(Number) }));
}
/** @param {{x: number, y: number[]}[]} handles */
const bezier = (handles) => `bezier ${handles.map((h) => `${short(h.x, 0.001)} ${h.y.map((v) => short(Number(v.toPrecision(4)))).join(',')}`).join(' ')}`;

/** The usual range of a setting. @param {any} s @returns {[number, number]} */
const ends = (s) => (s.kind === 'colour' ? [0, 1] : [s.soft_min ?? s.min ?? -Infinity, s.soft_max ?? s.max ?? Infinity]);

/** The lowest and highest value that are seen: the whole range of a setting that has one. @param {Drawn} d @param {any} s */
function limits(d, s) {
  const all = [...d.samples.flat(), ...d.keys.flatMap((k) => k.value)];
  const chosenKey = d.keys[chosen.value];
  const next = chosenKey && d.keys[chosen.value + 1];
  handlesOf(next ? chosenKey.shape : '')?.forEach((h, n) => h.y.forEach((v, part) => all.push(v + (n ? next : chosenKey).value[part])));
  const [from, to] = ends(s);
  if (to > from && Number.isFinite(to - from)) return [Math.min(from, ...all), Math.max(to, ...all)];
  let low = Math.min(...all);
  let high = Math.max(...all);
  if (high - low < 1e-9) {
    const near = Math.abs(high) > 1e-9 ? Math.abs(high) * 0.5 : 1;
    [low, high] = [low - near, high + near];
  }
  const edge = (high - low) * 0.12;
  return [Math.max(s.min ?? -Infinity, low - edge), Math.min(s.max ?? Infinity, high + edge)];
}

/** @param {Moving} m */
const nameOf = (m) => `${entry(m.step.name)?.label}: ${m.setting.label}`;

/** Names where their curves end, from top to bottom, moved so far apart that each can be read; the last of those that have
 * no space are counted. @param {{name: string, at: number}[]} list @param {number} top @param {number} bottom @param {number} line */
function apart(list, top, bottom, line) {
  const room = Math.max(1, Math.floor((bottom - top) / line) + 1);
  const kept = list.length > room ? list.slice(0, room - 1) : list;
  const sorted = kept.map(({ name, at }) => ({ name, at: Math.max(top, Math.min(bottom, at)) })).sort((a, b) => a.at - b.at);
  if (kept.length < list.length) sorted.push({ name: `and ${list.length - kept.length} more`, at: bottom });
  sorted.forEach((one, i) => (one.at = Math.max(one.at, i ? sorted[i - 1].at + line : top)));
  let below = bottom + line;
  for (const one of sorted.reverse()) below = one.at = Math.min(one.at, below - line);
  return sorted;
}

function editor() {
  const [m, d] = edited();
  if (!d?.samples.length) return nothing;
  const [w, h] = size.value;
  const [from, to] = seen();
  const all = limits(d, m.setting);
  const { low, high } = [held, enlarged.value].find((a) => a?.name === m.name) ?? { low: all[0], high: all[1] };
  const x = (/** @type {number} */ n) => 44 + ((n - from) / (to - from)) * (w - 56);
  const y = (/** @type {number} */ v) => h - 18 - ((v - low) / (high - low || 1)) * (h - 28);
  const frameAt = (/** @type {number} */ px) => from + ((px - 44) / (w - 56)) * (to - from);
  const within = (/** @type {number} */ v) => Math.max(m.setting.min ?? -Infinity, Math.min(m.setting.max ?? Infinity, v));
  const valueOf = (/** @type {number} */ py) => within(low + ((h - 18 - py) / (h - 28)) * (high - low));
  const grain = (high - low) / (h - 28);
  // Near an end of the range it is the end.
  const rounded = (/** @type {number} */ v) => ends(m.setting).find((end) => Math.abs(end - v) < 4 * grain)
    ?? within(Number(short(v, m.setting.step ?? 10 ** Math.floor(Math.log10(grain)))));
  const place = (/** @type {MouseEvent} */ e) => {
    const box = /** @type {Element} */ (e.currentTarget).getBoundingClientRect();
    return [((e.clientX - box.left) * w) / box.width, ((e.clientY - box.top) * h) / box.height];
  };
  const path = (/** @type {number[]} */ list, /** @type {(v: number) => number} */ toY) =>
    list.map((v, i) => `${i ? 'L' : 'M'}${(x(from) + (i / (list.length - 1)) * (x(to) - x(from))).toFixed(1)} ${toY(v).toFixed(1)}`).join('');
  const others = moving().filter((o) => o.name !== m.name).flatMap((o) => {
    const other = drawn.value.get(o.name);
    if (!other?.samples.length) return [];
    const [l, t] = limits(other, o.setting);
    const toY = (/** @type {number} */ v) => h - 18 - ((v - l) / (t - l || 1)) * (h - 28);
    return [{ name: `${nameOf(o)}, own scale`, lines: other.samples.map((list) => path(list, toY)), at: toY(other.samples[0][other.samples[0].length - 1]) - 3 }];
  });
  const names = apart(others, 22, h - 22, 12);
  const nearest = (/** @type {number} */ px, /** @type {number} */ py, /** @type {number} */ reach) => {
    let best = { index: -1, part: 0, far: reach };
    d.keys.forEach((k, index) => k.value.forEach((v, part) => {
      const far = Math.hypot(x(k.frame) - px, y(v) - py);
      if (far < best.far) best = { index, part, far };
    }));
    return best;
  };
  // Handles of the chosen key, and those of the stretch that ends at it.
  const arms = [chosen.value - 1, chosen.value].flatMap((index) => {
    const [a, b] = [d.keys[index], d.keys[index + 1]];
    return (a && b && handlesOf(a.shape) || []).flatMap((handle, n) => handle.y.map((v, part) => {
      const key = n ? b : a;
      return {
        index, part, handle: n + 1, color: colours[part],
        key: [x(key.frame), y(key.value[part])], end: [x(a.frame + handle.x * (b.frame - a.frame)), y(key.value[part] + v)],
      };
    }));
  });
  const up = () => {
    drag = null;
    clearTimeout(releasing);
    // As long as a second click may follow.
    releasing = setTimeout(() => {
      held = null;
      drawn.value = new Map(drawn.value);
    }, 450);
  };
  const down = (/** @type {PointerEvent} */ e) => {
    clearTimeout(releasing);
    held = { name: m.name, low, high };
    /** @type {SVGSVGElement} */ (e.currentTarget).setPointerCapture(e.pointerId);
    const [px, py] = place(e);
    // A finger is wider than a key.
    const reach = e.pointerType === 'touch' ? 20 : 10;
    const arm = e.ctrlKey || e.shiftKey ? undefined : arms.find(({ end }) => Math.hypot(end[0] - px, end[1] - py) < 0.8 * reach);
    if (arm) return void (drag = { ...arm, from: py, value: 0, level: false, off: 0 });
    const hit = nearest(px, py, reach);
    /** @type {SVGSVGElement} */ (e.currentTarget).focus();
    if (e.ctrlKey && hit.index >= 0) return removeKey(hit.index);
    if (hit.index < 0 && (e.shiftKey || isSecond(e))) {
      const value = d.samples.length === 1 ? [rounded(valueOf(py))] : d.samples.map((s) => s[Math.round(((frameAt(px) - from) / (to - from)) * (s.length - 1))] ?? s[0]);
      return addKey(Math.round(frameAt(px)), value);
    }
    chosen.value = hit.index;
    chosenPart = d.samples.length > 1 ? hit.part : -1;
    const key = d.keys[hit.index];
    if (key) drag = { index: hit.index, part: hit.part, from: py, value: key.value[hit.part], level: true, handle: 0, off: e.pointerType === 'touch' ? x(key.frame) - px : 0 };
    else seek(frameAt(px));
  };
  const move = (/** @type {PointerEvent} */ e) => {
    if (!e.buttons) return;
    const [px, py] = place(e);
    if (!drag) return seek(frameAt(px));
    const { index, part } = drag;
    const key = d.keys[index];
    if (!key) return;
    if (drag.handle) {
      const handles = handlesOf(key.shape);
      const next = d.keys[index + 1];
      if (!handles || !next) return;
      const moved = handles[drag.handle - 1];
      moved.x = Math.max(0, Math.min(1, (frameAt(px) - key.frame) / (next.frame - key.frame)));
      moved.y[part] = valueOf(py) - (drag.handle === 1 ? key : next).value[part];
      return write(d.keys.map((k, i) => (i === index ? { ...k, shape: bezier(handles) } : k)));
    }
    const at = between(d, index, Math.round(frameAt(px + drag.off)));
    // The value follows the pointer relative to where the drag began. A horizontal drag does not change it.
    drag.level &&= Math.abs(py - drag.from) < 3;
    const dragged = drag.level ? drag.value : rounded(drag.value + (drag.from - py) * grain);
    const value = key.value.map((v, i) => (i === part ? dragged : v));
    const same = at === Math.round(key.frame);
    write(d.keys.map((k, i) => (i === index ? { ...k, at: same ? k.at : timeAt(at, d.keys), frame: same ? k.frame : at, value, text: partsText(m.setting, value) } : k)));
  };
  const onKey = (/** @type {KeyboardEvent} */ e) => {
    const key = d.keys[chosen.value];
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    const times = e.shiftKey ? 10 : 1;
    if (by && key && !e.ctrlKey && !e.altKey) nudge(chosen.value, by[0] * times, by[1] * times, chosenPart);
    else if (e.key === 'Escape' && key) chosen.value = -1;
    else if ((e.key === 'Delete' || e.key === 'Backspace') && key) removeKey(chosen.value);
    else if (e.key === 'Enter' && !e.ctrlKey) addKey(frame.value, valueNow(m));
    else return;
    e.preventDefault();
  };
  // A number stands to the right of its line, unless the plot ends there.
  const beside = (/** @type {number} */ n, /** @type {number} */ gap, /** @type {number} */ at, name = '') => {
    const isLast = x(n) + gap + 7 * String(n).length > w;
    return svg`<text class=${name} x=${x(n) + (isLast ? -gap : gap)} y=${at} text-anchor=${isLast ? 'end' : 'start'}>${n}</text>`;
  };
  const marks = ticks(Math.ceil(from), Math.floor(to), w - 56);
  const levels = [low, (low + high) / 2, high];
  return html`<svg class="curves" viewBox="0 0 ${w} ${h}" tabindex="0" role="application" data-own-keys
      aria-label="Curve of ${entry(m.step.name)?.label}: ${m.setting.label}. The table beside it has the same keys."
      @pointerdown=${down} @pointermove=${move} @pointerup=${up} @pointercancel=${up} @keydown=${onKey}
      @wheel=${(/** @type {WheelEvent} */ e) => {
        e.preventDefault();
        const [px, py] = place(e);
        const at = frameAt(px);
        const factor = e.deltaY < 0 ? 0.8 : 1.25;
        if (e.ctrlKey) {
          const v = low + ((h - 18 - py) / (h - 28)) * (high - low);
          const axis = { name: m.name, low: Math.max(all[0], v - (v - low) * factor), high: Math.min(all[1], v + (high - v) * factor) };
          enlarged.value = axis.low > all[0] || axis.high < all[1] ? axis : null;
          return;
        }
        const next = /** @type {[number, number]} */ ([at - (at - from) * factor, at + (to - at) * factor]);
        span.value = next[1] - next[0] < 4 ? [from, to] : next;
      }}>
      ${selection.value ? svg`<rect class="range" x=${x(selection.value[0])} y="10" width=${Math.max(1, x(selection.value[1]) - x(selection.value[0]))} height=${h - 28}/>` : nothing}
      ${marks.map((n) => svg`<line class="grid" x1=${x(n)} x2=${x(n)} y1="10" y2=${h - 18}/>${beside(n, 2, h - 6)}`)}
      ${levels.map((v) => svg`<line class="grid" x1="44" x2=${w - 12} y1=${y(v)} y2=${y(v)}/><text class="level" x="40" y=${y(v) + 4}>${short(Number(v.toPrecision(3)))}</text>`)}
      ${others.map(({ lines }) => lines.map((line) => svg`<path class="other" d=${line}/>`))}
      ${names.map(({ name, at }) => svg`<text class="level name" x=${w - 14} y=${at}>${name}</text>`)}
      ${d.samples.map((s, i) => svg`<path class="line" stroke=${colours[i]} d=${path(s, y)}/>`)}
      <line class="head" x1=${x(frame.value)} x2=${x(frame.value)} y1="4" y2=${h - 14}/>${beside(frame.value, 3, 10, 'now')}
      ${arms.map(({ key, end, color }) => svg`<line class="arm" x1=${key[0]} y1=${key[1]} x2=${end[0]} y2=${end[1]} stroke=${color}/><circle class="handle" cx=${end[0]} cy=${end[1]} r="4"/>`)}
      ${d.keys.map((k, i) => k.value.map((v, part) => svg`<rect class="key ${i === chosen.value ? 'chosen' : ''}" x=${x(k.frame) - 4} y=${y(v) - 4}
        width="8" height="8" fill=${colours[part]} transform="rotate(45 ${x(k.frame)} ${y(v)})"/>`))}
    </svg>`;
}

/** What is written for a shape: one with handles begins level at both ends. @param {Key} k @param {string} shape */
const shaped = (k, shape) => (shape !== 'bezier' ? shape : handlesOf(k.shape) ? k.shape : bezier([1, 2].map((n) => ({ x: n / 3, y: k.value.map(() => 0) }))));

/** @param {Drawn} d @param {Moving} m */
function table(d, m) {
  const change = (/** @type {number} */ i, /** @type {Partial<Key>} */ to) => write(d.keys.map((k, n) => (n === i ? { ...k, ...to } : k)));
  return html`<div class="keytable"><table aria-label="Keys">
    <thead><tr><th>Time</th><th>Value${m.setting.kind in partNames ? ` (${partNames[/** @type {'position'} */ (m.setting.kind)].join(', ')})` : ''}</th><th>Interpolation</th><td></td></tr></thead>
    <tbody>${d.keys.slice(0, 200).map((k, i) => html`<tr class=${i === chosen.value ? 'chosen' : ''} @focusin=${() => (chosen.value = i)}>
      <td><input class="number" aria-label="Time" title="A frame, or seconds as 1.5s" .value=${k.at} @keydown=${nudgeField(i, true)} @change=${(/** @type {any} */ e) => change(i, { at: e.target.value.trim() })}></td>
      <td><input class="text digits" aria-label="Value" .value=${k.text ?? partsText(m.setting, k.value)} @keydown=${nudgeField(i, false)} @change=${(/** @type {any} */ e) => change(i, { text: e.target.value.trim() })}></td>
      <td><select aria-label="Interpolation to the next key" ?disabled=${i === d.keys.length - 1 && d.after === 'hold'} title=${k.shape} @change=${(/** @type {any} */ e) => change(i, { shape: shaped(k, e.target.value) })}>
        ${[...shapes, 'bezier', ...eases, ...(shapes.includes(k.shape) || eases.includes(k.shape) || handlesOf(k.shape) ? [] : [k.shape])].map((s) => html`<option .selected=${s === k.shape || (s === 'bezier' && !!handlesOf(k.shape))}>${s}</option>`)}</select></td>
      <td><button class="icon small" aria-label="Delete the key" title="Delete the key" @click=${() => removeKey(i)}>×</button></td></tr>`)}
    </tbody></table></div>`;
}

export function curvesTemplate() {
  const all = moving();
  const m = current();
  const d = m && drawn.value.get(m.name);
  if (!all.length) return html`<p class="empty">Nothing is animated yet: press ◆ next to a setting, or type keys such as 0=0;48=12 into it.</p>`;
  const rule = (/** @type {'before' | 'after'} */ end) => html`<select aria-label=${end === 'before' ? 'Before the first key' : 'After the last key'}
    @change=${(/** @type {any} */ e) => d && write(d.keys, { [end]: e.target.value })}>${rules.map((r) => html`<option .selected=${r === d?.[end]}>${r}</option>`)}</select>`;
  const go = (/** @type {number} */ by) => {
    const keys = d?.keys ?? [];
    const next = by < 0 ? keys.findLast((k) => k.frame < frame.value) : keys.find((k) => k.frame > frame.value);
    if (next) seek(next.frame);
  };
  const now = valueNow(m);
  return html`<div class="curvebox">
    <ul class="curvelist" aria-label="Animated settings">${all.map((o) => html`<li><button class=${o.name === m?.name ? 'lit' : ''} aria-pressed=${o.name === m?.name}
      @click=${() => {
        selected.value = doc.value.steps.indexOf(o.step);
        openCurve(o.step, o.key);
      }}>${nameOf(o)}</button></li>`)}</ul>
    <div class="plot">${editor()}</div>
    ${m && d ? html`<div class="keys">
      <div class="keybar">
        <button title="The previous key" @click=${() => go(-1)}>◂◆</button>
        <button title="A key at the playhead" @click=${() => addKey(frame.value, now)}>+◆</button>
        <button title="The next key" @click=${() => go(1)}>◆▸</button>
        <button title="The frames that the plot shows" ?disabled=${!span.value && !enlarged.value && !selection.value} @click=${() => {
          const [a, b] = range();
          span.value = b > a && !span.value && !enlarged.value ? [a, b] : null;
          enlarged.value = null;
        }}>${span.value || enlarged.value ? 'See all' : 'See selection'}</button>
        <span class="digits" title="The value at the playhead">${now?.map((v) => short(Number(v.toPrecision(5)))).join(', ')}</span>
      </div>
      ${table(d, m)}
      <div class="keybar"><span>before</span>${rule('before')}<span>after</span>${rule('after')}</div>
      <input class="text digits" aria-label="The curve as text" title="The curve as text: copy it, or paste another" spellcheck="false" .value=${m.text}
        @change=${(/** @type {any} */ e) => m.set(e.target.value.trim() || null)}>
    </div>` : nothing}
  </div>`;
}

export function startCurves() {
  effect(() => {
    const [from, to] = seen();
    // A curve across the whole clip has a sample for each frame if there is space.
    const samples = Math.round(Math.max(2, Math.min(1600, (to - from) * 4 + 1)));
    void checked.value;
    wanted.clear();
    for (const { name, step, id: setting, text, layer } of moving()) {
      wanted.set(name, JSON.stringify({ clip: clip.value?.id ?? null, filter: step.name, setting, text, from, to, samples, layer }));
    }
    queueMicrotask(load);
  });
  effect(() => {
    const [, d] = edited();
    const isSeen = dock.value === 'curves' && dockOpen.value && !!d?.samples.length;
    const [from, to] = seen();
    const [w] = size.value;
    // Beside a plot that is much shorter the ruler would lose its frames: it keeps its own axis.
    const rules = document.querySelector('.ruler')?.clientWidth ?? 0;
    axis.value = isSeen && w > 0.5 * rules ? { from, to, left: left.value + 44, right: left.value + w - 12 } : null;
    keyMarks.value = d?.keys.map((k) => k.frame) ?? [];
  });
  effect(() => {
    void curveOf.value;
    chosen.value = -1;
  });
  effect(() => {
    void clip.value;
    span.value = enlarged.value = null;
  });
}

/** @param {number} width @param {number} height @param {number} at where it begins, in pixels of the ruler */
export function resizeCurves(width, height, at) {
  left.value = at;
  if (width > 0 && (size.value[0] !== width || size.value[1] !== height)) size.value = [width, height];
}

// @ts-check A control for each kind of setting, made from the catalog. Values are text, as in a recipe.

import { html, nothing, svg } from './vendor/lit-html.js';
import { has } from './api.js';
import { checked, clip, curveOf, doc, dock, dockOpen, editStep, entry, frame, offer, report, scale, setValue, settingOf, signal, sizes } from './state.js';
import { picking } from './viewer.js';
import { command, icon, keyText } from './keys.js';
import { fileDialog } from './files.js';
import { isCurve, short, valueAt, withKey } from './moving.js';

/** @typedef {import('./state.js').Step} Step */
/** @typedef {{id: string, label: string, help: string, kind: string, unit: string, animatable: boolean, default: any,
 *   min?: number, max?: number, soft_min?: number, soft_max?: number, step?: number, logarithmic?: boolean,
 *   choices?: {id: string, help: string, values?: Record<string, any>}[], group?: string,
 *   only_when?: {setting: string, values: string[]}}} Setting */

/** Values that were shown last, by filter of the recipe and setting. @type {Map<string, number[]>} */
const lastShown = new Map();

/** The value of a setting at the playhead; until a curve has been computed, the one before it. @param {Step} step @param {Setting} s @param {string} text */
function valueNow(step, s, text) {
  const id = `${step.id}.${s.id}`;
  const now = valueAt(step.name, s.id, text, frame.value) ?? lastShown.get(id) ?? null;
  if (now) lastShown.set(id, now);
  return now;
}

/** What a key means, which then does nothing else.
 * @template T @param {KeyboardEvent} e @param {Record<string, T>} keys @returns {T | undefined} */
export function arrowed(e, keys) {
  if (e.key in keys) e.preventDefault();
  return keys[e.key];
}

/** The steps of a number that a key makes, with Shift ten. @param {KeyboardEvent} e */
export const stepped = (e) => (arrowed(e, { ArrowUp: 1, ArrowDown: -1 }) ?? 0) * (e.shiftKey ? 10 : 1);

/** What is dragged, or moved by arrows, to make a panel larger. @param {'dock' | 'side'} which */
export function splitter(which) {
  const isDock = which === 'dock';
  const now = () => {
    const box = /** @type {HTMLElement} */ (document.getElementById(isDock ? 'dock' : 'filters'));
    return isDock ? box.offsetHeight : box.offsetWidth;
  };
  const set = (/** @type {number} */ to) => (sizes[which].value = Math.round(Math.max(isDock ? 90 : 240, Math.min(1200, to))));
  return html`<div class="splitter" role="separator" tabindex="0" aria-orientation=${isDock ? 'horizontal' : 'vertical'} aria-label=${isDock ? 'Height of the panel' : 'Width of the settings'}
    aria-valuenow=${sizes[which].value || 0} title="Drag, or use the arrow keys; a double click restores the size"
    @dblclick=${() => (sizes[which].value = 0)}
    @pointerdown=${(/** @type {any} */ e) => e.currentTarget.setPointerCapture(e.pointerId)}
    @pointerup=${(/** @type {any} */ e) => e.currentTarget.blur()}
    @pointermove=${(/** @type {PointerEvent} */ e) =>
      e.buttons && set(now() - (isDock ? e.movementY : e.movementX) / (scale.value / 100))}
    @keydown=${(/** @type {KeyboardEvent} */ e) => {
      const by = arrowed(e, { ArrowUp: 16, ArrowLeft: 16, ArrowDown: -16, ArrowRight: -16 });
      if (by) set(now() + by);
    }}></div>`;
}

/** A menu in a label: what its choices stand for, what they are called, and more of them.
 * @template T @param {string} name @param {string} title @param {[T, unknown, unknown?][]} list
 * @param {{value: T}} chosen @param {(to: T) => void} [set] @param {boolean} [disabled] */
export function menu(name, title, list, chosen, set = (to) => (chosen.value = to), disabled = false) {
  const change = (/** @type {any} */ e) => set(list[e.target.selectedIndex][0]);
  return html`<label title=${title}><select aria-label=${name} ?disabled=${disabled} @change=${change}>
    ${list.map(([value, text, more = nothing]) => html`<option value=${value} title=${more}
      .selected=${value === chosen.value}>${text}</option>`)}</select></label>`;
}

/** `1 frame`, `9 frames` @param {number} frames */
export const counted = (frames) => `${frames} frame${frames === 1 ? '' : 's'}`;

/** The range and step of a setting's slider. @param {Setting} s */
export function slider(s) {
  const min = s.soft_min ?? s.min ?? 0;
  const max = s.soft_max ?? s.max ?? 1;
  const whole = s.kind === 'whole';
  const step = s.step ?? (whole ? 1 : 10 ** Math.floor(Math.log10((max - min) / 200)));
  const log = !!s.logarithmic && min > 0;
  // A logarithmic slider goes from 0 to 1000.
  const to = (/** @type {number} */ v) => (log ? (Math.log(Math.max(min, v) / min) / Math.log(max / min)) * 1000 : v);
  const from = (/** @type {number} */ p) => (log ? min * (max / min) ** (p / 1000) : p);
  return { min, max, step, log, to, from };
}

/** The text of a colour from parts of 0 to 1. @param {number[]} parts */
export function colourText(parts) {
  const byte = (/** @type {number} */ v) => Math.round(Math.max(0, Math.min(1, v)) * 255).toString(16).padStart(2, '0');
  const [r, g, b, a = 1] = parts;
  return `#${byte(r)}${byte(g)}${byte(b)}${a < 1 ? byte(a) : ''}`;
}

/** The parts of a value as the text that stands for them. @param {Setting} s @param {number[]} parts */
export const partsText = (s, parts) =>
  s.kind === 'colour' ? colourText(parts) : parts.map((p) => short(p)).join(',');

/** A filter's values with a preset, whose settings go back to it; and those that are lost by that.
 * @param {Record<string, string>} values @param {Setting} s @param {string} preset @returns {[Record<string, string>, Record<string, string>]} */
export function withPreset(values, s, preset) {
  const own = s.choices?.find((c) => c.id === preset)?.values ?? {};
  const part = (/** @type {boolean} */ is) => Object.fromEntries(Object.entries(values).filter(([id]) => (id in own && id !== 'preset') === is));
  return [{ ...part(false), preset }, part(true)];
}

/** Chooses a preset: settings that it has go back to it, and can be kept on purpose.
 * @param {Step} step @param {Setting} s @param {string} preset @param {Record<string, string>} [more] further values */
export function usePreset(step, s, preset, more = {}) {
  const [values, lost] = withPreset(step.values, s, preset);
  editStep(step.id, (one) => ({ ...one, values: { ...values, ...more } }));
  const all = Object.entries(lost);
  if (!all.length) return;
  const labelOf = (/** @type {string} */ id) => settingOf(step, id)?.label.toLowerCase() ?? id;
  const names = all.map(([id, v]) => `its own ${labelOf(id)} (yours was ${v.length > 20 ? 'a curve' : v})`);
  const withdraw = offer(`${spoken(preset)} has ${names.join(', ')}.`,
    [['Keep mine', () => editStep(step.id, (one) => ({ ...one, values: { ...one.values, ...lost } }))]]);
  setTimeout(withdraw, 15000);
}

/** What a choice is called in a window: `fine 35mm`. @param {string} id */
export const spoken = (id) => id.replace(/(?<=\w)-(?=\w)/g, ' ');

/** Units as they stand behind a number. @type {Record<string, string>} */
const units = { pixels: 'px', degrees: '°', seconds: 's', frames: 'fr', '8-bit code values': '/255' };

/** Sets the value of now: of a curve a key at the playhead, in the place of one that is there.
 * @param {Step} step @param {Setting} s */
const setNow = (step, s) => (/** @type {string} */ value) => {
  const text = step.values[s.id];
  if (!isCurve(text) || text.startsWith('@')) setValue(step.id, s.id, value);
  else withKey(step.name, s.id, text, value).then((curve) => setValue(step.id, s.id, curve), report);
};

/** Shows the curve of a setting. @param {Step} step @param {string} setting */
export function openCurve(step, setting) {
  curveOf.value = { step: step.id, setting };
  dock.value = 'curves';
  dockOpen.value = true;
}

/** Makes a setting move, or stand still again at its value of now. @param {Step} step @param {Setting} s @param {string} effective */
function toggleCurve(step, s, effective) {
  const text = step.values[s.id];
  if (isCurve(text)) {
    const now = valueAt(step.name, s.id, text, frame.value);
    if (now) setValue(step.id, s.id, partsText(s, now));
    return;
  }
  const value = text ?? effective;
  if (!value) return;
  setValue(step.id, s.id, `${frame.value}=${value}`);
  openCurve(step, s.id);
}

/** The settings of a filter that stand still or move: a line for each.
 * @param {Step} step @param {number} place @param {Setting} s */
export function control(step, place, s) {
  const given = step.values[s.id];
  const effective = checked.value?.effective[place]?.[s.id] ?? (s.default === null ? '' : String(s.default));
  const fault = checked.value?.faults.find((f) => f.step === place && f.setting === s.id);
  const id = `s-${step.id}-${s.id}`;
  const moves = isCurve(given);
  return html`<div class="setting ${given === undefined ? '' : 'given'} ${fault ? 'faulty' : ''}" data-setting=${s.id}>
    <label for=${id} title=${`${s.help}${s.unit ? ` [${s.unit}]` : ''}`}>${s.label}</label>
    <div class="value">${body(step, s, given, effective, id, !!fault)}</div>
    <span class="tools">
      ${s.animatable && !given?.startsWith('@')
        ? html`<button class="icon ${moves ? 'lit' : ''}" title=${moves ? 'Animated: click to remove the curve' : 'Animate: set a key at this frame'}
            aria-label=${moves ? `${s.label}: remove the curve` : `${s.label}: animate`} aria-pressed=${moves}
            @click=${() => toggleCurve(step, s, effective)}>${icon('key')}</button>`
        : html`<i></i>`}
      ${given === undefined
        ? nothing
        : html`<button class="icon" title="Back to ${checked.value ? 'the value without this setting' : 'the default'}" aria-label="${s.label}: back to the default"
            @click=${() => setValue(step.id, s.id, null)}>${icon('reset')}</button>`}
    </span>
    ${fault ? html`<p class="fault" role="alert">${fault.text}</p>` : nothing}
  </div>`;
}

/** @param {Step} step @param {Setting} s @param {string | undefined} given @param {string} effective @param {string} id @param {boolean} faulty */
function body(step, s, given, effective, id, faulty) {
  const set = (/** @type {string | null} */ text) => setValue(step.id, s.id, text);
  const value = given ?? effective;
  const typed = (/** @type {any} */ e) => set(e.target.value.trim() === '' ? null : e.target.value.trim());
  // Where no server is there are no files to choose from.
  const file = (/** @type {string} */ title, /** @type {string} */ kind) => (!has('file.open') ? nothing
    : html`<button class="icon" title=${title} aria-label="${s.label}: choose a file"
      @click=${() => fileDialog(`${entry(step.name)?.label}: ${s.label}`, kind, set)}>${icon('file')}</button>`);
  // Of a text that cannot be read nothing can be kept: it stays in a plain field, until another takes its place.
  if (isCurve(given) && !given?.startsWith('@') && faulty) return text(id, value, typed);
  switch (s.kind) {
    case 'switch':
      return html`<input id=${id} type="checkbox" .checked=${/^(true|1|yes|on)$/i.test(value)}
        @change=${(/** @type {any} */ e) => set(String(e.target.checked))}>`;
    case 'choice':
      return html`<select id=${id} @change=${(/** @type {any} */ e) => (s.id === 'preset' && e.target.value ? usePreset(step, s, e.target.value) : set(e.target.value === '' ? null : e.target.value))}>
        ${given === undefined || s.default === null ? html`<option value="" .selected=${given === undefined}>${spoken(effective) || (s.id === 'preset' ? 'none' : 'as the preset says')}</option>` : nothing}
        ${s.choices?.filter((c) => given !== undefined || c.id !== effective).map((c) => html`<option value=${c.id} title=${c.help} .selected=${c.id === given}>${spoken(c.id)}</option>`)}</select>
        ${s.id === 'preset' && clip.value ? html`<button class="icon" title="Presets as pictures (${keyText('look.presets')})" aria-label="Presets as pictures" @click=${command('look.presets').run}>${icon('grid')}</button>` : nothing}`;
    case 'number':
    case 'whole':
      return s.min === undefined || s.max === undefined ? text(id, value, typed) : number(step, s, given, effective, id);
    case 'seed':
      return html`${text(id, given ?? '', typed, `the recipe’s: ${doc.value.seed || 0}`)}
        <button class="icon" title="Another seed" aria-label="${s.label}: another" @click=${() => set(randomSeed())}>${icon('dice')}</button>`;
    case 'colour':
      return colour(step, s, given, effective, id);
    case 'position':
      return position(step, s, given, effective, id);
    case 'clip':
    case 'image':
    case 'effect':
    case 'grain table':
    case 'grain plate':
    case 'track file':
    case 'font':
    case 'look-up table':
      return html`${text(id, given ?? '', typed, has('file.open') ? 'none' : 'not in this page')}${file('Choose a file', s.kind)}`;
    case 'mask':
      return html`${text(id, given ?? '', typed, 'everywhere', `${id}-words`)}<datalist id="${id}-words">${Object.entries({ ellipse: 'drawn in the picture', rectangle: 'drawn in the picture', luma: 'where it is as bright as Low to High', alpha: 'where it is opaque', color: 'where it has a colour' })
        .map(([word, more]) => html`<option value=${word}>${more}</option>`)}</datalist>
        ${file('Choose a picture, sequence or video', 'clip')}`;
    case 'source frame':
      return html`${text(id, given ?? '', typed, 'none')}
        <button class="small" title="The frame that is shown" @click=${() => set(String(frame.value))}>this</button>`;
    case 'points':
      return points(step, s, given, effective, id);
    default:
      return text(id, given ?? '', typed, s.kind === 'planes' ? 'the filter’s own' : s.kind === 'frames' ? 'the whole clip, or as 2s-5s' : effective);
  }
}

/** @param {string} id @param {string} value @param {(e: Event) => void} change @param {string} [hint] @param {string} [words] the list that is offered */
const text = (id, value, change, hint = '', words) =>
  html`<input id=${id} class="text" type="text" spellcheck="false" autocomplete="off" placeholder=${hint} list=${words ?? nothing} .value=${value} @change=${change}>`;

/** 64 random bits, as text: numbers of JavaScript hold 53. */
export function randomSeed() {
  return String(crypto.getRandomValues(new BigUint64Array(1))[0]);
}

/** What a text field does with what was typed: nothing takes the value away, keys are the whole curve, else it is the value
 * of now. @param {Step} step @param {Setting} s */
const typedInto = (step, s) => (/** @type {any} */ e) => {
  const typed = e.target.value.trim();
  if (typed === '' || isCurve(typed)) setValue(step.id, s.id, typed || null);
  else setNow(step, s)(typed);
};

/** @param {Step} step @param {Setting} s @param {string | undefined} given @param {string} effective @param {string} id */
function number(step, s, given, effective, id) {
  const range = slider(s);
  const moves = isCurve(given);
  const now = moves ? valueNow(step, s, /** @type {string} */ (given))?.[0] : Number(given ?? effective);
  const shown = Number.isFinite(now) ? /** @type {number} */ (now) : range.min;
  const set = setNow(step, s);
  return html`<input type="range" aria-label=${s.label} min=${range.log ? 0 : range.min} max=${range.log ? 1000 : range.max}
      step=${range.log ? 1 : range.step} .value=${String(range.to(shown))} ?disabled=${given?.startsWith('@')}
      @input=${(/** @type {any} */ e) => {
        const v = range.from(Number(e.target.value));
        set(range.log ? String(Number(v.toPrecision(3))) : short(v, range.step));
      }}>
    <input id=${id} class="number ${moves ? 'moving' : ''}" type="text" spellcheck="false" autocomplete="off"
      title=${moves ? /** @type {string} */ (given) : 'A number, or keys: 0=0;48=12'}
      placeholder="auto" .value=${moves ? short(shown) : (given ?? effective)}
      @keydown=${(/** @type {KeyboardEvent} */ e) => {
        const by = (range.log ? Math.max(1e-4, shown * 0.05) : range.step) * stepped(e);
        if (by) set(short(Math.max(s.min ?? -Infinity, Math.min(s.max ?? Infinity, shown + by)), range.log ? 0 : range.step));
      }}
      @change=${typedInto(step, s)}>${units[s.unit] ? html`<span class="unit" title=${s.unit}>${units[s.unit]}</span>` : nothing}`;
}

/** @param {Step} step @param {Setting} s @param {string | undefined} given @param {string} effective @param {string} id */
function colour(step, s, given, effective, id) {
  const moves = isCurve(given);
  const value = given ?? effective;
  const parts = value ? valueNow(step, s, value) : null;
  const set = setNow(step, s);
  return html`<input type="color" class=${parts ? '' : 'unset'} title=${parts ? nothing : 'The preset’s own colours'} aria-label=${s.label} .value=${parts ? colourText(parts.slice(0, 3)) : '#000000'}
      @input=${(/** @type {any} */ e) => set(e.target.value + (parts && parts[3] < 1 ? colourText(parts).slice(7) : ''))}>
    <input id=${id} class="text" type="text" spellcheck="false" placeholder="auto" title="#rrggbb, #rrggbbaa, a name, or keys"
      .value=${moves && parts ? colourText(parts) : value}
      @change=${typedInto(step, s)}>`;
}

/** @param {Step} step @param {Setting} s @param {string | undefined} given @param {string} effective @param {string} id */
function position(step, s, given, effective, id) {
  const moves = isCurve(given);
  const value = given ?? effective;
  const parts = moves ? valueNow(step, s, value) : null;
  // In pixels, or in fractions of the picture; a range symmetric about 0 is a displacement, not a position.
  const inPixels = s.unit === 'pixels';
  const isPlace = inPixels || s.min !== -(s.max ?? 0);
  const { width, height } = clip.value ?? { width: 1, height: 1 };
  const set = setNow(step, s);
  return html`<input id=${id} class="text digits" type="text" spellcheck="false" placeholder="x,y" title="x,y ${inPixels ? 'in pixels' : 'in fractions of the picture'}, or keys"
      .value=${parts ? partsText(s, parts) : value}
      @change=${typedInto(step, s)}>
    ${isPlace
      ? html`<button class="icon ${picking.value ? 'lit' : ''}" title="Choose in the picture" aria-label="${s.label}: choose in the picture"
          @click=${() => (picking.value = picking.value ? null : (x, y) => set(inPixels ? `${short(x)},${short(y)}` : `${short(x / width, 1e-4)},${short(y / height, 1e-4)}`))}>${icon('pick')}</button>`
      : nothing}`;
}

/** A function of 0..1. @param {Step} step @param {Setting} s @param {string | undefined} given @param {string} effective @param {string} id */
function points(step, s, given, effective, id) {
  const read = (/** @type {string} */ text) => text.split(';').map((p) => p.split('=').map(Number)).filter((p) => p.length === 2 && p.every(Number.isFinite));
  const list = read(given ?? '');
  // Without points, the line that the preset or the curve makes: a double click turns it into points.
  const line = given === undefined ? read(effective) : [];
  const high = Math.max(s.soft_max ?? Math.min(s.max ?? 1, 2), ...list.map((p) => p[1]));
  // A recipe gives points or a curve.
  const set = (/** @type {string | null} */ text) => editStep(step.id, (one) => {
    const { [s.id]: _, curve, ...values } = one.values;
    return { ...one, values: text === null ? { ...values, ...(curve && { curve }) } : { ...values, [s.id]: text } };
  }, `${step.id}.${s.id}`);
  const write = (/** @type {number[][]} */ all) => set(all.length ? all.map((p) => `${short(p[0], 0.001)}=${short(p[1], 0.001)}`).join(';') : null);
  return pointsField(list, { low: s.soft_min ?? s.min ?? 0, high, min: s.min ?? 0, max: s.max ?? 1 }, write,
    html`<input id=${id} class="text" type="text" spellcheck="false" placeholder=${line.length ? 'as drawn; double click to change it' : 'x=y;x=y'} .value=${given ?? ''}
      @change=${(/** @type {any} */ e) => set(e.target.value.trim() || null)}>`, line, ['black', 'white']);
}

let lastDown = { at: 0, x: 0, y: 0 };
/** Whether this is the second click of a double one: browsers do not count the clicks of pointers. @param {PointerEvent} e */
export function isSecond(e) {
  const is = e.timeStamp - lastDown.at < 400 && Math.hypot(e.clientX - lastDown.x, e.clientY - lastDown.y) < 5;
  lastDown = { at: is ? 0 : e.timeStamp, x: e.clientX, y: e.clientY };
  return is;
}

/** A function of 0..1 as a drawing with its text below: drag points, double-click or Shift+click adds one, Ctrl+click takes
 * it away.
 * @param {number[][]} list @param {{low: number, high: number, min: number, max: number}} range what is seen, and what may be
 * @param {(all: number[][]) => void} write @param {unknown} text
 * @param {number[][]} [line] what is there without points: a first click takes nine of it
 * @param {string[]} [ends] what 0 and 1 are */
export function pointsField(list, { low, high, min, max }, write, text, line = [], ends = ['0', '1']) {
  const [w, h] = [260, 116];
  const px = (/** @type {number} */ x) => 4 + x * (w - 8);
  const py = (/** @type {number} */ y) => h - 18 - ((y - low) / (high - low || 1)) * (h - 26);
  const place = (/** @type {MouseEvent} */ e) => {
    const box = /** @type {Element} */ (e.currentTarget).getBoundingClientRect();
    const x = ((e.clientX - box.left) * (w / box.width) - 4) / (w - 8);
    const y = low + ((h - 18 - (e.clientY - box.top) * (h / box.height)) / (h - 26)) * (high - low);
    return [Math.max(0, Math.min(1, x)), Math.max(min, Math.min(max, y))];
  };
  const near = (/** @type {number[]} */ at) =>
    list.findIndex((p) => Math.hypot(px(p[0]) - px(at[0]), py(p[1]) - py(at[1])) < 9);
  const path = (/** @type {number[][]} */ all) => all.length
    ? `M${px(0)} ${py(all[0][1])}${all.map((p) => `L${px(p[0])} ${py(p[1])}`).join('')}L${px(1)} ${py(all[all.length - 1][1])}`
    : '';
  return html`<div class="points">
    <svg viewBox="0 0 ${w} ${h}" aria-hidden="true" @pointerdown=${(/** @type {PointerEvent} */ e) => {
        const at = place(e);
        const hit = near(at);
        if (e.ctrlKey && hit >= 0) return write(list.filter((_, i) => i !== hit));
        const some = line.filter((_, i) => i % Math.ceil((line.length - 1) / 8) === 0);
        if (!list.length && some.length) return e.shiftKey || isSecond(e) ? write(some) : undefined;
        if (hit < 0 && (e.shiftKey || isSecond(e) || list.length === 0)) return write([...list, at].sort((a, b) => a[0] - b[0]));
        if (hit >= 0) {
          /** @type {any} */ (e.currentTarget).dragged = hit;
          /** @type {Element} */ (e.currentTarget).setPointerCapture(e.pointerId);
        }
      }}
      @pointermove=${(/** @type {PointerEvent} */ e) => {
        const i = /** @type {any} */ (e.currentTarget).dragged;
        if (!(i >= 0) || !e.buttons || !list[i]) return;
        const [x, y] = place(e);
        const least = i > 0 ? list[i - 1][0] + 0.002 : 0;
        const most = i + 1 < list.length ? list[i + 1][0] - 0.002 : 1;
        write(list.map((p, k) => (k === i ? [Math.max(least, Math.min(most, x)), y] : p)));
      }}
      @pointerup=${(/** @type {PointerEvent} */ e) => (/** @type {any} */ (e.currentTarget).dragged = -1)}>
      <rect x="4" y="4" width=${w - 8} height=${h - 18}/>
      ${[0.25, 0.5, 0.75].map((u) => svg`<line x1=${px(u)} x2=${px(u)} y1="4" y2=${h - 14}/>`)}
      <text class="from" x="5" y=${h - 3}>${ends[0]}</text><text class="to" x=${w - 5} y=${h - 3}>${ends[1]}</text>
      <text class="from" x="8" y="15">${short(high)}</text>
      <path class=${list.length ? '' : 'given'} d=${path(list.length ? list : line)}/>
      ${list.length || line.length ? nothing : svg`<text x=${w / 2} y=${h / 2 + 4}>click to draw</text>`}
      ${list.map((p) => svg`<circle cx=${px(p[0])} cy=${py(p[1])} r="3.5"/>`)}
    </svg>
    ${text}
  </div>`;
}

// @ts-check What the samples of a clip are: asked for where the file has no header, or where its tags are wrong.

import { html, nothing } from './vendor/lit-html.js';
import { clip, openClip, raws, retags } from './state.js';
import { dialog } from './dialogs.js';

/** Usual formats; any other name of FFmpeg's can be typed. */
const formats = ['yuv420p', 'yuv422p', 'yuv444p', 'yuv420p10', 'yuv422p10', 'yuv444p10', 'nv12', 'p010le', 'uyvy422', 'yuyv422', 'rgb24', 'bgra', 'rgb48le', 'gray', 'gray16'];
/** @type {[string, string, [string, string][]][]} */
const tags = [
  ['matrix', 'Matrix', [['smpte170m', 'BT.601'], ['bt709', 'BT.709'], ['bt2020nc', 'BT.2020']]],
  ['range', 'Range', [['limited', 'limited (16 to 235 in 8 bits)'], ['full', 'full (0 to 255)']]],
  ['transfer', 'Transfer', [['bt709', 'BT.709'], ['iec61966-2-1', 'sRGB'], ['linear', 'linear light'], ['smpte2084', 'PQ'], ['arib-std-b67', 'HLG']]],
];

/** Asks for what is kept for a clip, and opens it with that. `read` makes it of the fields, by their names.
 * @template T @param {string} title @param {unknown} about @param {string} path @param {{value: Record<string, T>}} of
 * @param {(fields: Record<string, string>) => T} read @param {unknown} fields */
const ask = (title, about, path, of, read, fields) => dialog(title, ({ close, submit, fault }) => html`<p class="dim">${about}</p>
  <form class="grid" @submit=${submit((form) => {
    const before = of.value;
    const given = [...form.elements].map((e) => [e.name, e.value?.trim()]).filter(([id, text]) => id && text);
    of.value = { ...before, [path]: read(Object.fromEntries(given)) };
    return openClip(path).catch((error) => {
      of.value = before;
      throw error;
    });
  })}>${fields}${fault()}<footer><button type="button" @click=${close}>Cancel</button><button class="main">Open</button></footer></form>`, 'narrow');

/** @param {string} path of a file of samples without a header */
export function describeDialog(path) {
  const [, size, format, rate] = raws.value[path]?.match(/^([^:]*):([^:]*):(.*)$/) ?? [];
  const [width, height] = (size ?? path.match(/(\d{2,5}x\d{2,5})(?!.*\dx\d)/)?.[1] ?? '1920x1080').split('x');
  ask('Samples without a header', html`${path} has no header that says what it contains. A wrong size or format shows as slanted or coloured noise: open <i>Describe the samples</i> again then.`,
    path, raws, (f) => `${f.width}x${f.height}:${f.format}:${f.rate}`, html`
    <label for="s-width">Width</label><input id="s-width" name="width" class="text" inputmode="numeric" required autofocus .value=${width}>
    <label for="s-height">Height</label><input id="s-height" name="height" class="text" inputmode="numeric" required .value=${height}>
    <label for="s-format">Format</label><input id="s-format" name="format" class="text" list="s-formats" required title="A name of FFmpeg’s: ffmpeg -pix_fmts lists them" .value=${format ?? formats[0]}>
    <datalist id="s-formats">${formats.map((name) => html`<option>${name}</option>`)}</datalist>
    <label for="s-rate">Frames a second</label><input id="s-rate" name="rate" class="text" required title="25, 23.976 or 30000/1001" .value=${rate ?? '25'}>`);
}

/** What replaces the tags of the clip. */
export function tagsDialog() {
  const c = clip.value;
  if (c) ask('Interpret the clip', 'Replaces tags that are wrong or missing. The samples stay; a render and the copied command line do the same.', c.path, retags, (given) => given, html`
    ${tags.filter(([id]) => id !== 'matrix' || c.planes.includes('U')).map(([id, label, list], i) => html`<label for="t-${id}">${label}</label><select id="t-${id}" name=${id} ?autofocus=${i === 0}>
      <option value="">as the file says</option>${list.map(([value, name]) => html`<option value=${value} .selected=${c.tags[id] === value}>${name}</option>`)}</select>`)}
    ${!c.kind.startsWith('image') ? nothing : html`<label for="t-rate">Frames a second</label><input id="t-rate" name="rate" class="text" placeholder="as the file says, else 24" title="25, 23.976 or 30000/1001" .value=${c.tags.rate ?? ''}>`}`);
}

// @ts-check Files of samples without a header: the user says their size, format and rate.

import { html } from './vendor/lit-html.js';
import { openClip, raws } from './state.js';
import { dialog } from './dialogs.js';

/** Usual formats; any other name of FFmpeg's can be typed. */
const formats = ['yuv420p', 'yuv422p', 'yuv444p', 'yuv420p10', 'yuv422p10', 'yuv444p10', 'nv12', 'p010le', 'uyvy422', 'yuyv422', 'rgb24', 'bgra', 'rgb48le', 'gray', 'gray16'];

/** Asks what the samples of a file are, and opens it. @param {string} path */
export function describeDialog(path) {
  const [, size, format, rate] = raws.value[path]?.match(/^([^:]*):([^:]*):(.*)$/) ?? [];
  const [width, height] = (size ?? path.match(/(\d{2,5}x\d{2,5})(?!.*\dx\d)/)?.[1] ?? '1920x1080').split('x');
  dialog('Samples without a header', ({ close, submit, fault }) => html`<p class="dim">${path} has no header that says what it contains. A wrong size or format shows as slanted or coloured noise: open <i>Describe the samples</i> again then.</p>
    <form class="grid" @submit=${submit((form) => {
      const part = (/** @type {string} */ name) => form.elements[name].value.trim();
      const before = raws.value;
      raws.value = { ...before, [path]: `${part('width')}x${part('height')}:${part('format')}:${part('rate')}` };
      return openClip(path).catch((error) => {
        raws.value = before;
        throw error;
      });
    })}>
    <label for="s-width">Width</label><input id="s-width" name="width" class="text" inputmode="numeric" required autofocus .value=${width}>
    <label for="s-height">Height</label><input id="s-height" name="height" class="text" inputmode="numeric" required .value=${height}>
    <label for="s-format">Format</label><input id="s-format" name="format" class="text" list="s-formats" required title="A name of FFmpeg’s: ffmpeg -pix_fmts lists them" .value=${format ?? formats[0]}>
    <datalist id="s-formats">${formats.map((name) => html`<option>${name}</option>`)}</datalist>
    <label for="s-rate">Frames a second</label><input id="s-rate" name="rate" class="text" required title="25, 23.976 or 30000/1001" .value=${rate ?? '25'}>
    ${fault()}<footer><button type="button" @click=${close}>Cancel</button><button class="main">Open</button></footer></form>`, 'narrow');
}

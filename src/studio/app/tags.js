// @ts-check What replaces the tags of the clip: its matrix, range and transfer, and the rate of images.

import { html, nothing } from './vendor/lit-html.js';
import { clip, openClip, retags } from './state.js';
import { dialog } from './dialogs.js';

/** @type {Record<string, [string, [string, string][]]>} */
const choices = {
  matrix: ['Matrix', [['smpte170m', 'BT.601'], ['bt709', 'BT.709'], ['bt2020nc', 'BT.2020']]],
  range: ['Range', [['limited', 'limited (16 to 235 in 8 bits)'], ['full', 'full (0 to 255)']]],
  transfer: ['Transfer', [['bt709', 'BT.709'], ['iec61966-2-1', 'sRGB'], ['linear', 'linear light'], ['smpte2084', 'PQ'], ['arib-std-b67', 'HLG']]],
};

/** Asks what the samples of the clip mean where its tags are wrong or missing, and opens it anew. */
export function tagsDialog() {
  const c = clip.value;
  if (!c) return;
  const shown = Object.entries(choices).filter(([id]) => id !== 'matrix' || c.planes.includes('U'));
  dialog('Interpret the clip', ({ close, submit, fault }) => html`<p class="dim">Replaces tags that are wrong or missing. The samples stay; a render and the copied command line do the same.</p>
    <form class="grid" @submit=${submit((form) => {
      const before = retags.value;
      const said = [...shown.map(([id]) => id), 'rate'].map((id) => [id, form.elements[id]?.value.trim()]).filter(([, text]) => text);
      retags.value = { ...before, [c.path]: Object.fromEntries(said) };
      return openClip(c.path).catch((error) => {
        retags.value = before;
        throw error;
      });
    })}>
    ${shown.map(([id, [label, list]], i) => html`<label for="t-${id}">${label}</label><select id="t-${id}" name=${id} ?autofocus=${i === 0}>
      <option value="">as the file says</option>${list.map(([value, name]) => html`<option value=${value} .selected=${c.tags[id] === value}>${name}</option>`)}</select>`)}
    ${!c.kind.startsWith('image') ? nothing : html`<label for="t-rate">Frames a second</label><input id="t-rate" name="rate" class="text" placeholder="as the file says, else 24" title="25, 23.976 or 30000/1001" .value=${c.tags.rate ?? ''}>`}
    ${fault()}<footer><button type="button" @click=${close}>Cancel</button><button class="main">Apply</button></footer></form>`, 'narrow');
}

// @ts-check The window that renders: what to deliver, what becomes of it, and what that does to grain.

import { html, nothing } from './vendor/lit-html.js';
import { post } from './api.js';
import { addStep, check, checked, clip, cuts, doc, dock, dockOpen, effect, folder, inPlace, isFine, framesText, key, keptRanges, plainDoc, range, rate, selected, selection, signal, timeOf, timeText, unsavedEffects } from './state.js';
import { counted } from './controls.js';
import { short } from './moving.js';
import { dialog } from './dialogs.js';
import { size as fileSize } from './files.js';

const images = /\.(png|tiff?|exr|dpx|jpe?g|webp|cin|jp2|j2[kc]|jxl|p[pgn]m|bmp|tga|qoi|gif|apng)$/i;
const videos = /\.(mp4|m4v|mov|mkv|webm|avi|mxf|ts|nut)$/i;

/** A name beside the input: `clip-grain.mp4`. */
function proposed() {
  const c = clip.value;
  const name = c?.path.startsWith('pattern:') ? 'pattern.mkv' : (c?.path.split('/').pop() ?? 'out.mkv').replace(/[#*?%]+\d*d?/g, '');
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '.mkv'];
  const look = plainDoc().steps.find((s) => !s.off)?.name ?? 'copy';
  const isImage = images.test(ending);
  const made = `${stem.replace(/[._-]+$/, '')}-${look}`;
  // A single picture stays one, and scans stay images.
  const still = /^\.(png|tiff?|exr|dpx|jpe?g)$/i.test(ending) ? ending : '.png';
  if (isImage && c?.first !== c?.last) return /^\.(tiff?|exr|dpx)$/i.test(ending) ? `${made}/%06d${ending}` : `${made}.mkv`;
  return `${made}${isImage ? still : (videos.test(ending) && ending !== '.nut') || /^\.y4m$/i.test(ending) ? ending : '.mkv'}`;
}

/** What is chosen for a render, by the options of the command line; '' leaves the choice to the program.
 * @typedef {{codec: string, crf: string, preset: string, 'pix-fmt': string, 'codec-opt': string}} Choice */
/** @type {Choice} */
const automatic = { codec: '', crf: '', preset: '', 'pix-fmt': '', 'codec-opt': '' };

/** Usual deliveries, of a clip with alpha in formats that keep it. @param {boolean} alpha
 * @returns {{id: string, name: string, ending: string, choice: Choice}[]} */
const deliveriesOf = (alpha) => [
  { id: 'auto', name: 'Automatic, by the output’s name', ending: '', choice: automatic },
  { id: 'h264', name: 'H.264, 8 bits 4:2:0, tuned for grain', ending: '.mp4', choice: { ...automatic, codec: 'libx264', crf: '16', 'pix-fmt': 'yuv420p', 'codec-opt': 'tune=grain' } },
  { id: 'h264-10', name: 'H.264 High 10, 10 bits 4:2:0, tuned for grain', ending: '.mp4', choice: { ...automatic, codec: 'libx264', crf: '16', 'pix-fmt': 'yuv420p10', 'codec-opt': 'tune=grain' } },
  { id: 'h265', name: 'H.265, 10 bits 4:2:0, tuned for grain', ending: '.mp4', choice: { ...automatic, codec: 'libx265', crf: '16', 'pix-fmt': 'yuv420p10', 'codec-opt': 'tune=grain' } },
  { id: 'prores', name: 'ProRes 422 HQ', ending: '.mov', choice: { ...automatic, codec: 'prores_ks', 'pix-fmt': 'yuv422p10', 'codec-opt': 'profile=hq' } },
  { id: 'prores4', name: 'ProRes 4444', ending: '.mov', choice: { ...automatic, codec: 'prores_ks', 'pix-fmt': alpha ? 'yuva444p10' : 'yuv444p10', 'codec-opt': 'profile=4444' } },
  { id: 'dnxhr', name: 'DNxHR HQX, 10 bits 4:2:2', ending: '.mov', choice: { ...automatic, codec: 'dnxhd', 'pix-fmt': 'yuv422p10', 'codec-opt': 'profile=dnxhr_hqx' } },
  { id: 'ffv1', name: 'FFV1, without loss', ending: '.mkv', choice: { ...automatic, codec: 'ffv1' } },
  { id: 'png', name: 'PNG images, 16 bits', ending: '/%06d.png', choice: { ...automatic, 'pix-fmt': alpha ? 'gbrap16' : 'gbrp16' } },
  { id: 'dpx', name: 'DPX images', ending: '/%06d.dpx', choice: automatic },
  { id: 'exr', name: 'EXR images', ending: '/%06d.exr', choice: automatic },
  { id: 'gif', name: 'GIF, for the web', ending: '.gif', choice: automatic },
];

/** @type {[string, string][]} */
const codecs = [
  ['libx264', 'H.264 (libx264)'], ['libx265', 'H.265 (libx265)'], ['libsvtav1', 'AV1 (libsvtav1)'], ['libaom-av1', 'AV1 (libaom)'],
  ['libvpx-vp9', 'VP9 (libvpx)'], ['prores_ks', 'ProRes'], ['dnxhd', 'DNxHR'], ['ffv1', 'FFV1, without loss'],
];
/** @type {[string, string][]} */
const formats = [
  ['yuv420p', '8 bits 4:2:0 (yuv420p)'], ['yuv422p', '8 bits 4:2:2 (yuv422p)'], ['yuv444p', '8 bits 4:4:4 (yuv444p)'], ['yuv420p10', '10 bits 4:2:0 (yuv420p10)'],
  ['yuv422p10', '10 bits 4:2:2 (yuv422p10)'], ['yuv444p10', '10 bits 4:4:4 (yuv444p10)'], ['gbrp', '8 bits RGB (gbrp)'], ['gbrp16', '16 bits RGB (gbrp16)'],
];
/** @type {[string, string][]} */
const withAlpha = [['yuva444p10', '10 bits 4:4:4 with alpha (yuva444p10)'], ['gbrap16', '16 bits RGB with alpha (gbrap16)']];
/** @type {Record<string, [string, string][]>} */
const tunings = {
  libx264: [['tune=grain', 'tuned for grain']],
  libx265: [['tune=grain', 'tuned for grain']],
  prores_ks: [['profile=hq', '422 HQ'], ['profile=4444', '4444']],
  dnxhd: [['profile=dnxhr_hqx', 'DNxHR HQX']],
};
/** Encoders with a quality, and that which they have by default. @type {Record<string, number>} */
const qualities = { libx264: 18, libx265: 20, libsvtav1: 28, 'libaom-av1': 28, 'libvpx-vp9': 24 };
/** Encoders that are known by another name. @type {Record<string, string>} */
const encoderNames = Object.fromEntries(codecs.map(([id, name]) => [id, name.split(' (')[0].split(',')[0]]));

/** What the render loses, in one sentence; '' where nothing is lost.
 * @param {any} made what the server says @param {Choice} choice @param {boolean} alpha whether the picture has alpha */
function warningOf(made, choice, alpha) {
  const { encoder } = made;
  const crf = choice.crf === '' ? 18 : Number(choice.crf);
  if (alpha && !/^(yuva|gbra|ya|rgba|bgra|argb|abgr)/.test(made.format)) return `${made.format} has no alpha, which is lost: ProRes 4444, FFV1, PNG and EXR keep it.`;
  if (made.lostBits) return `The result has more bits than ${made.format}: they are dithered to ${made.bits}.`;
  if (!isFine()) return '';
  if (/^lib(svtav1|aom|vpx)|^mpeg4|^librav1e/.test(encoder ?? '')) return `${encoderNames[encoder] ?? encoder} removes fine grain: H.265 tuned for grain, ProRes or DNxHR keep it.`;
  if (/^libx26[45]$/.test(encoder ?? '') && (choice['codec-opt'] !== 'tune=grain' || crf > 20)) {
    return `${encoderNames[encoder]} ${crf > 20 ? `at quality ${crf}` : 'as it is set by default'} smooths fine grain: choose “tuned for grain” and a quality of 16 or less.`;
  }
  return made.lostChroma ? `${made.format} has less colour resolution than the result: grain of colour becomes coarser.` : '';
}

/** What stands before the ending of an output, and the ending: that of images has the pattern of their names. @param {string} output */
const split = (output) => {
  const ending = output.match(/(\/[^/]*%\d*d[^/]*|\.[^./]+)$/)?.[0] ?? '';
  return [output.slice(0, output.length - ending.length), ending];
};

/** What the last render was, for the next one of such a clip. */
let last = { kind: '', choice: automatic, ending: '', audio: '', onError: '' };

export function renderDialog() {
  const c = clip.value;
  if (!c) return;
  const problem = signal('');
  const alpha = c.planes.includes('A');
  const kind = `${alpha} ${c.first === c.last}`;
  const before = last.kind === kind ? last : { ...last, choice: automatic, ending: '', audio: '', onError: '' };
  const output = signal(before.ending ? split(proposed())[0] + before.ending : proposed());
  const choice = signal(before.choice);
  const audio = signal(before.audio);
  const onError = signal(before.onError);
  const deliveries = deliveriesOf(alpha);
  const whole = signal(!selection.value);
  const made = signal(/** @type {any} */ (null));
  const [from, to] = range();
  /** An animation may have every second frame alone, and so on. */
  const every = signal(1);
  const isAnimation = () => /\.(gif|webp|apng)$/i.test(output.value.trim()) && c.first !== c.last;
  const step = () => (isAnimation() ? every.value : 1);
  const framesIn = (/** @type {[number, number]} */ of) => keptRanges(of).reduce((sum, [a, b]) => sum + Math.floor((b - a) / step()) + 1, 0);
  const secondsIn = (/** @type {[number, number]} */ of) => keptRanges(of).reduce((sum, [a, b]) => sum + timeOf(b + 1) - timeOf(a), 0);
  const long = (/** @type {[number, number]} */ of) => (c.first === c.last ? 'one picture' : `${counted(framesIn(of))}, ${Number(secondsIn(of).toFixed(3))} s`);
  const sounds = c.details.filter(([id, text]) => id.startsWith('stream') && text.startsWith('audio')).map(([, text]) => text.slice(6).split(',')[0].replace(/[()]/g, ''));
  const given = () => Object.fromEntries(Object.entries(choice.value).filter(([, v]) => v));
  const isVideo = () => videos.test(output.value);
  const isImages = () => !isAnimation() && !isVideo() && images.test(output.value.trim());
  /** Sound cannot stand in images and y4m. */
  const options = () => ({ ...given(), ...(audio.value && isVideo() ? { audio: audio.value } : {}), ...(onError.value ? { 'on-error': onError.value } : {}), ...(c.lavfi ? { lavfi: c.lavfi } : {}), ...(c.raw ? { raw: c.raw } : {}) });

  // What becomes of it: the last answer counts.
  let asked = 0;
  const stop = effect(() => {
    const body = { clip: c.id, key: key.value, output: output.value.trim(), options: given() };
    const mine = ++asked;
    if (!body.output || !body.key) return;
    setTimeout(async () => {
      if (mine !== asked) return;
      const answer = await post('/output', body).catch((error) => ({ error: error instanceof Error ? error.message : String(error) }));
      if (mine === asked) made.value = answer;
    }, 120);
  });

  /** The frames of the whole clip or of the selection. @returns {[number, number]} */
  const chosen = () => (whole.value ? [c.first, c.last] : [from, to]);
  // Its size, from a few frames, when nothing has changed for a moment.
  const guess = signal(/** @type {null | {bytes: number, frames: number, of: number}} */ (null));
  const cannotGuess = signal(false);
  let guessing = new AbortController();
  let waiting = 0;
  const stopGuessing = effect(() => {
    const m = made.value;
    const body = { clip: c.id, key: key.value, output: output.value.trim(), options: given(), first: chosen()[0], count: framesIn(chosen()) };
    guessing.abort();
    clearTimeout(waiting);
    guess.value = null;
    cannotGuess.value = false;
    if (!m || m.error || !body.count) return;
    const { signal } = (guessing = new AbortController());
    waiting = setTimeout(() => post('/estimate', body, 'POST', signal).then((told) => {
      if (!signal.aborted) guess.value = { ...told, of: body.count };
    }, () => (cannotGuess.value = !signal.aborted)), 600);
  });
  /** What the estimate says. */
  const sizeText = () => {
    const g = guess.value;
    if (cannotGuess.value) return 'Size: unknown, the frames that would tell cannot be rendered';
    if (!g) return 'Size: rendering a few frames to estimate it…';
    const rate = (g.bytes * 8) / secondsIn(chosen());
    const each = isImages() ? (g.of > 1 ? `, ${fileSize(g.bytes / g.of)} per image` : '') : `, ${short(rate / 1e6, 0.1)} Mbit/s${isVideo() ? ' without sound' : ''}`;
    return `Size: about ${fileSize(g.bytes)}${each}, estimated from ${counted(g.frames)}`;
  };

  const deliver = (/** @type {string} */ id) => {
    const one = deliveries.find((d) => d.id === id);
    if (!one) return;
    choice.value = one.choice;
    const stem = split(output.value)[0];
    if (one.ending) output.value = stem + one.ending;
    else if (delivered() !== id) output.value = stem + split(proposed())[1];
  };
  const same = (/** @type {typeof deliveries[0]} */ d) => JSON.stringify(d.choice) === JSON.stringify(choice.value) && (!d.ending || output.value.endsWith(d.ending) || (d.choice !== automatic && d.ending.startsWith('.') && isVideo()));
  const delivered = () => [...deliveries].reverse().find(same)?.id ?? '';
  const set = (/** @type {keyof Choice} */ id) => (/** @type {any} */ e) => {
    const next = { ...choice.value, [id]: e.target.value.trim() };
    if (id === 'codec') next['codec-opt'] = next.preset = '';
    if (id === 'codec' && !(next.codec in qualities)) next.crf = '';
    choice.value = next;
  };
  /** @param {keyof Choice} id @param {string} label @param {[string, string][]} list @param {string} first */
  const menu = (id, label, list, first) => html`<label for="r-${id}">${label}</label><select id="r-${id}" @change=${set(id)}>
    <option value="" .selected=${choice.value[id] === ''}>${first}</option>${list.map(([v, name]) => html`<option value=${v} .selected=${choice.value[id] === v}>${name}</option>`)}</select>`;

  const add = async (/** @type {boolean} */ start, /** @type {boolean} */ overwrite, /** @type {() => void} */ close) => {
    try {
      await check();
      if (checked.value?.faults.length) throw new Error(checked.value.faults[0].text);
      if (unsavedEffects.value.length) throw new Error(`${unsavedEffects.value[0]}: save the effect first, a render reads the file`);
      const all = framesText(chosen());
      const frames = step() === 1 ? all : (all ?? `${c.first}-`).split(',').map((part) => `${part}x${step()}`).join(',');
      const { id } = await post('/jobs', { input: c.path, output: output.value.trim(), filters: checked.value?.chain ?? '', frames, options: options(), overwrite });
      last = { kind, choice: choice.value, ending: delivered() === 'auto' ? '' : split(output.value)[1], audio: audio.value, onError: onError.value };
      if (start) await post('/jobs/start', { id });
      dock.value = 'jobs';
      dockOpen.value = true;
      close();
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };

  const { element } = dialog('Render', (close) => {
    const m = made.value;
    const known = m && !m.error;
    const cut = whole.value ? '' : `, cut to ${timeText(from)} – ${timeText(to + 1)}`;
    const sound = !sounds.length || !isVideo() || audio.value === 'none' ? 'no sound' : `sound: ${sounds.join(', ')} ${audio.value === 'encode' ? 'encoded' : 'copied, or encoded where the file cannot hold it'}${cut}`;
    const tuning = tunings[choice.value.codec] ?? [];
    const encoder = choice.value.codec || (known && m.encoder) || '';
    const warning = known ? warningOf(m, choice.value, alpha) : '';
    const smaller = () => {
      selected.value = doc.value.steps.length - 1;
      addStep('scale', { width: '480' });
    };
    return html`<form class="grid" @submit=${(/** @type {any} */ e) => {
        e.preventDefault();
        add(true, e.target.elements.overwrite?.checked ?? false, close);
      }}>
      <label for="r-deliver">Deliver</label><select id="r-deliver" autofocus @change=${(/** @type {any} */ e) => deliver(e.target.value)}>
        ${deliveries.map((d) => html`<option value=${d.id} .selected=${delivered() === d.id}>${d.name}</option>`)}
        <option value="" disabled .selected=${delivered() === ''}>Custom</option></select>
      <label for="r-output">Output</label><input id="r-output" name="output" class="text" .value=${output.value} title="A file (.mp4 .mov .mkv .webm .y4m) or numbered images (out/%06d.png)"
        @input=${(/** @type {any} */ e) => (output.value = e.target.value)}>
      <span></span><span class="dim">in <code>${folder.value}</code></span>
      <span>Frames</span><span class="choices"><label><input type="radio" name="what" .checked=${whole.value} @change=${() => (whole.value = true)}>all${cuts.value.length ? ' but what is cut out' : ''}: ${long([c.first, c.last])}</label>
        <label><input type="radio" name="what" .checked=${!whole.value} ?disabled=${!selection.value} @change=${() => (whole.value = false)}>selection${selection.value ? ` ${from}–${to}: ${long([from, to])}` : ''}</label></span>
      ${menu('codec', 'Codec', codecs, known && m.encoder && !choice.value.codec ? `Automatic: ${encoderNames[m.encoder] ?? m.encoder}` : 'Automatic')}
      ${tuning.length ? menu('codec-opt', /^lib/.test(choice.value.codec) ? 'Tuning' : 'Profile', tuning, 'the encoder’s own') : nothing}
      ${menu('pix-fmt', 'Samples', alpha ? [...formats, ...withAlpha] : formats, known && !choice.value['pix-fmt'] ? `Automatic: ${m.format}` : 'Automatic')}
      ${isAnimation() ? html`<label for="r-every">Frame rate</label><select id="r-every" @change=${(/** @type {any} */ e) => (every.value = Number(e.target.value))}>${['all frames', 'every second frame', 'every third', 'every fourth', 'every fifth', 'every sixth'].map((name, i) =>
        html`<option value=${i + 1} .selected=${every.value === i + 1}>${short(rate.value / (i + 1), 0.1)} a second: ${name}</option>`)}</select>
        ${known && m.width > 640 ? html`<span></span><span class="dim">${m.width}×${m.height} makes a large file. <button type="button" class="small" title="Adds the filter Scale at the end" @click=${smaller}>Make it 480 wide</button></span>` : nothing}` : nothing}
      ${encoder in qualities ? html`<label for="r-crf">Quality (crf)</label><input id="r-crf" class="text" inputmode="decimal" .value=${choice.value.crf} placeholder="automatic: ${qualities[encoder]}; lower is better" @input=${set('crf')}>` : nothing}
      ${!/^libx26/.test(encoder) ? nothing : menu('preset', 'Speed', [['veryfast', 'veryfast'], ['fast', 'fast'], ['medium', 'medium'], ['slow', 'slow'], ['veryslow', 'veryslow']], 'Automatic: the encoder’s own')}
      <label for="r-audio">Sound</label>${sounds.length ? html`<select id="r-audio" ?disabled=${!isVideo()} @change=${(/** @type {any} */ e) => (audio.value = e.target.value)}>${[['', 'copied where the output can hold it'], ['encode', 'encoded'], ['none', 'none']].map(([v, name]) => html`<option value=${v} .selected=${audio.value === v}>${name}</option>`)}</select>` : html`<span class="dim">the clip has none</span>`}
      <label for="r-damaged">Damaged frames</label><select id="r-damaged" @change=${(/** @type {any} */ e) => (onError.value = e.target.value)}>${[['', 'end the render'], ['hold', 'show the last intact frame'], ['skip', 'are left out']].map(([v, name]) => html`<option value=${v} .selected=${onError.value === v}>${name}</option>`)}</select>
      <p class="outcome" role="status">${m?.error ? html`<span class="bad">${m.error}</span>` : known
        ? html`${m.encoder ? `${encoderNames[m.encoder] ?? m.encoder}, ` : ''}${m.format}, ${m.width}×${m.height}, ${long(chosen())}, ${sound}<br>${sizeText()}<br><span class="dim">${m.path}</span>` : 'Checking output…'}</p>
      ${warning ? html`<p class="warning" role="note">${warning}</p>` : nothing}
      ${m?.exists ? html`<span></span><label><input type="checkbox" name="overwrite">Replace the existing file, or segments of another render</label>` : nothing}
      ${problem.value || inPlace() ? html`<p class="fault" role="alert">${problem.value || `Nothing can be rendered: ${inPlace()}. ${checked.value?.faults[0].text}`}</p>` : nothing}
      <footer><button type="button" @click=${(/** @type {any} */ e) => add(false, e.target.form.elements.overwrite?.checked ?? false, close)}>Add to the queue</button><button class="main" ?disabled=${!!m?.error}>Render now</button></footer></form>`;
  }, 'render');
  element.addEventListener('close', () => {
    stop();
    stopGuessing();
    guessing.abort();
    clearTimeout(waiting);
  });
}

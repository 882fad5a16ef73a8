// @ts-check The window that renders: what to deliver, what becomes of it, and what that does to grain.

import { html, nothing } from './vendor/lit-html.js';
import { post } from './api.js';
import {
  addStep, check, checked, clip, doc, dock, dockOpen, folder, inPlace, isFine, key, messageOf, openAs, ownPath, range, recipePath, rested, selected,
  selection, signal, timeOf, timeText, toast, unsavedEffects,
} from './state.js';
import { cutsOf, framesText, keptRanges } from './cutting.js';
import { automatic, codecs, deliveriesOf, encoderNames, formats, images, qualities, split, transfers, tunings, videos, warningOf, withAlpha } from './deliveries.js';
import { counted } from './controls.js';
import { short } from './moving.js';
import { copy, dialog } from './dialogs.js';
import { size as fileSize } from './files.js';

/** A name beside the input, with that of the recipe or look, else of the first filter: `clip-grain.mp4`. */
function proposed() {
  const c = clip.value;
  const name = c?.path.startsWith('pattern:') ? 'pattern.mkv' : (c?.path.split('/').pop() ?? 'out.mkv').replace(/[#*?%]+\d*d?/g, '');
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '.mkv'];
  const first = doc.value.steps.find((s) => !s.off)?.name;
  const named = (recipePath.value.split('/').pop()?.replace(/\.toml$/i, '') || doc.value.look || '').replace(/[#*?%]+/g, '');
  const look = first ? named || first : 'copy';
  const isImage = images.test(ending);
  const made = `${stem.replace(/[._-]+$/, '')}-${look}`;
  // A single picture stays one, and scans stay images.
  const still = /^\.(png|tiff?|exr|dpx|jpe?g)$/i.test(ending) ? ending : '.png';
  if (isImage && c?.first !== c?.last) return made + (/^\.(tiff?|exr|dpx)$/i.test(ending) ? completed(made, `/${ending}`) : '.mkv');
  return `${made}${isImage ? still : (videos.test(ending) && ending !== '.nut') || /^\.y4m$/i.test(ending) ? ending : '.mkv'}`;
}

/** An ending of an output; that of images gets the pattern of their names, with the digits of a numbered clip's.
 * @param {string} stem @param {string} ending such as `/.png` */
function completed(stem, ending) {
  const digits = /%0\dd|#+/.exec(clip.value?.path.split('/').pop() ?? '');
  return ending.replace(/^\/.*(?=\.)/, digits ? `/${stem.split('/').pop()}.${digits[0]}` : '/%06d');
}

/** @param {{name: string, off: boolean}[]} steps */
const named = (steps) => steps.filter((s) => !s.off).map((s) => s.name).join(', ') || 'none';

/** @typedef {import('./deliveries.js').Choice} Choice */
/** @typedef {import('./state.js').Clip} Clip */

/** Files that hold what is proposed for grain. */
const common = /\.(mp4|m4v|mov|mkv)$/i;

/** What the last render was, for the next one of such a clip. */
let last = { kind: '', choice: automatic, ending: '', audio: '', onError: '' };

/** What a render of a clip begins with: what the last one was, if that was of such a clip; else what keeps grain, if there is
 * some. @param {Clip} c */
function initial(c) {
  const alpha = c.planes.includes('A');
  const kind = `${alpha} ${c.first === c.last}`;
  const id = !isFine() || alpha || c.first === c.last || !videos.test(proposed()) ? 'auto' : c.bits === 8 ? 'h264' : 'h265';
  const { choice = automatic, ending = '' } = deliveriesOf(alpha).find((d) => d.id === id) ?? {};
  const before = last.kind === kind ? last : { kind, choice, ending: common.test(proposed()) ? '' : ending, audio: '', onError: '' };
  const [stem] = split(proposed());
  return { ...before, output: before.ending ? stem + completed(stem, before.ending) : proposed() };
}

/** Encoders of sound, beside the words of the option `--audio`. */
const codecsOfSound = ['aac'];

/** The options that are given. Sound cannot stand in images and y4m.
 * @param {Clip} c @param {{output: string, choice: Choice, audio: string, onError: string}} chosen @returns {Record<string, string>} */
const optionsFor = (c, { output, choice, audio, onError }) => Object.fromEntries(
  Object.entries({ ...choice, [codecsOfSound.includes(audio) ? 'audio-codec' : 'audio']: videos.test(output) ? audio : '', 'on-error': onError, lavfi: c.lavfi, raw: c.raw ?? '', ...c.tags, transfer: c.tags.transfer ? `${c.tags.transfer}:${choice.transfer || 'auto'}` : choice.transfer }).filter(([, value]) => value),
);

/** A word for a POSIX shell. @param {string} word */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** Copies a render as a command line. @param {string} input @param {string} output @param {Record<string, string>} options
 * @param {string} chain @param {string | null} frames @param {boolean} [overwrite] */
const copyLine = (input, output, options, chain, frames, overwrite = false) => {
  const words = ['grainfield', 'render', input, output, ...(overwrite ? ['-y'] : []), ...Object.entries(options).flatMap(([id, value]) => [`--${id}`, value]), ...(chain ? ['-f', chain] : []), ...(frames ? ['--frames', frames] : [])];
  return copy(words.map(quoted).join(' '), 'the command line');
};

/** Copies what the render window would begin with. */
export async function copyCommand() {
  await check();
  const c = clip.value;
  const { chain = '', faults } = checked.value ?? {};
  if (!c) return;
  if (faults?.length) return toast(`not copied: ${faults[0].text}`, true);
  if (unsavedEffects.value.length) toast(`${unsavedEffects.value[0]} is not saved: the command uses the file`, true);
  const begun = initial(c);
  const { free } = await post('/output', { clip: c.id, key: key.value, output: begun.output, options: {} }).catch(() => ({}));
  return copyLine(c.path, free ?? begun.output, optionsFor(c, begun), chain, framesText());
}

/** A job that waits, as the window that renders has it: its clip, its recipe as the server has checked it, and its options.
 * @typedef {{id: string, output: string, options: Record<string, string>, clip: Clip, recipe: any}} Waiting */

/** The options that this window has. */
const known = ['audio', 'audio-codec', 'codec', 'codec-opt', 'crf', 'filters', 'frames', 'lavfi', 'matrix', 'on-error', 'overwrite', 'pix-fmt', 'preset', 'range', 'rate', 'raw', 'transfer'];

/** The options of a job by their names; null if this window has not all of them. @param {string[]} list as `crf=18` */
export function optionsOf(list) {
  const pairs = list.map((option) => [option.split('=')[0], option.includes('=') ? option.slice(option.indexOf('=') + 1) : '']);
  return new Set(pairs.map(([id]) => id)).size === pairs.length && pairs.every(([id, value]) => known.includes(id) && (id !== 'audio-codec' || codecsOfSound.includes(value))) ? Object.fromEntries(pairs) : null;
}

/** Opens the window with what a job that waits has; it stays as it is until that is confirmed.
 * @param {import('./panels.js').Job} job */
export async function changeJob(job) {
  const options = optionsOf(job.options) ?? {};
  // The list has full paths.
  const path = ownPath(job.input);
  const { lavfi = '', raw, matrix, range, rate } = options;
  const [to = '', transfer] = (options.transfer ?? '').split(':').reverse();
  const tags = Object.fromEntries(Object.entries({ matrix, range, rate, transfer }).filter(([, text]) => text));
  options.transfer = to === 'auto' ? '' : to;
  const same = (/** @type {Record<string, string>} */ of) => JSON.stringify(Object.entries(of).sort());
  const isOpen = clip.value?.path === path && clip.value.lavfi === lavfi && clip.value.raw === (raw ?? null) && same(clip.value.tags) === same(tags);
  const opened = isOpen && clip.value ? clip.value : await openAs(path, { lavfi, raw, tags });
  const recipe = await post('/recipe', { clip: opened.id, chain: options.filters ?? '' });
  if (recipe.faults.length) throw new Error(recipe.faults[0].text);
  renderDialog({ id: job.id, output: job.output, options, clip: opened, recipe });
}

/** The frames that the option `--frames` names, in ranges with their steps; null for what is not a list of numbers.
 * @param {string | undefined} text @param {Clip} c @returns {[number, number, number][] | null} */
function rangesOf(text, c) {
  if (!text) return [[c.first, c.last, 1]];
  const parts = text.split(',').map((part) => /^(-?\d+)(?:(-)(-?\d+)?)?(?:x(\d+))?$/.exec(part));
  return parts.some((p) => !p) ? null : parts.map((p) => [Number(p?.[1]), Number(p?.[2] ? p[3] ?? c.last : p?.[1]), Number(p?.[4] ?? 1)]);
}

/** @template {string | number} T @param {string} id @param {string} label @param {[T, string][]} list @param {T} chosen
 * @param {(e: any) => unknown} change @param {boolean} [disabled] */
const select = (id, label, list, chosen, change, disabled = false) => html`<label for="r-${id}">${label}</label>
  <select id="r-${id}" ?disabled=${disabled} @change=${change}>${list.map(([value, name]) => html`<option value=${value}
    .selected=${value === chosen}>${name}</option>`)}</select>`;

/** @param {Waiting | null} [job] what is changed, in the place of a new render */
export function renderDialog(job = null) {
  const c = job?.clip ?? clip.value;
  if (!c) return;
  const alpha = c.planes.includes('A');
  const begun = initial(c);
  const before = !job ? begun : {
    ...begun,
    output: job.output,
    choice: /** @type {Choice} */ (Object.fromEntries(Object.keys(automatic).map((id) => [id, job.options[id] ?? '']))),
    audio: job.options['audio-codec'] ?? job.options.audio ?? '',
    onError: job.options['on-error'] ?? '',
  };
  /** Whether the clip is the one that the page shows, whose selection may be rendered. */
  const isOpen = c === clip.value;
  const selects = isOpen ? selection.value : null;
  /** Whether the filters are the job's own, not those of the page. */
  const own = signal(!!job);
  const recipe = () => (own.value ? job?.recipe : checked.value);
  const keyNow = () => (own.value ? job?.recipe.key : key.value);
  /** Why nothing can be rendered; '' without a reason. */
  const refused = () => (!own.value && inPlace() ? `Nothing can be rendered: ${inPlace()}. ${checked.value?.faults[0].text}` : '');
  const output = signal(before.output);
  /** Whether the output's name is the user's; a proposed one gives way to what is there. */
  let typed = !!job;
  const choice = signal(before.choice);
  const byName = { ...automatic };
  const audio = signal(before.audio);
  const onError = signal(before.onError);
  const deliveries = deliveriesOf(alpha);
  const what = signal(job ? 'job' : selects ? 'selection' : 'all');
  const made = signal(/** @type {any} */ (null));
  const [from, to] = range();
  /** An animation may have every second frame alone, and so on. */
  const every = signal(1);
  const rates = ['all frames', 'every second frame', 'every third', 'every fourth', 'every fifth', 'every sixth']
    .map((name, i) => /** @type {[number, string]} */ ([i + 1, `${short(c.rate[0] / c.rate[1] / (i + 1), 0.1)} a second: ${name}`]));
  const isAnimation = () => /\.(gif|webp|apng)$/i.test(output.value.trim()) && c.first !== c.last;
  const step = () => (isAnimation() && what.value !== 'job' ? every.value : 1);
  /** The frames of the whole clip, of the selection or of the job. @param {string} of @returns {[number, number, number][]} */
  const ranges = (of) => (of === 'job' ? rangesOf(job?.options.frames, c) ?? [] : keptRanges(of === 'all' ? [c.first, c.last] : [from, to], cutsOf(c)).map(([a, b]) => [a, b, step()]));
  const framesIn = (/** @type {string} */ of) => ranges(of).reduce((sum, [a, b, by]) => sum + Math.floor((b - a) / by) + 1, 0);
  const secondsIn = (/** @type {string} */ of) => ranges(of).reduce((sum, [a, b]) => sum + (isOpen ? timeOf(b + 1) - timeOf(a) : ((b + 1 - a) * c.rate[1]) / c.rate[0]), 0);
  const long = (/** @type {string} */ of) => (c.first === c.last ? 'one picture' : !ranges(of).length ? 'as written' : `${counted(framesIn(of))}, ${Number(secondsIn(of).toFixed(3))} s`);
  const sounds = c.details.filter(([id, text]) => id.startsWith('stream') && text.startsWith('audio')).map(([, text]) => text.slice(6).split(',')[0].replace(/[()]/g, ''));
  const given = () => Object.fromEntries(Object.entries(choice.value).filter(([, v]) => v));
  const isVideo = () => videos.test(output.value);
  const isImages = () => !isAnimation() && !isVideo() && images.test(output.value.trim());
  const options = () => optionsFor(c, { output: output.value, choice: choice.value, audio: audio.value, onError: onError.value });

  const asked = () => ({ clip: c.id, key: keyNow(), output: output.value.trim(), options: given() });
  // What becomes of it.
  const stopAsking = rested(120, asked, async (body, stop) => {
    if (!body.output) made.value = { error: 'the file name is missing' };
    if (!body.output || !body.key) return;
    const answer = await post('/output', body).catch((error) => ({ error: messageOf(error) }));
    if (stop.aborted) return;
    const isOne = images.test(body.output) && !isAnimation() && !/[%#]/.test(body.output) && framesIn(what.value) > 1;
    if (answer.free && !typed) output.value = answer.free;
    else made.value = isOne ? { error: `${body.output} is one picture, but ${counted(framesIn(what.value))} are rendered: name it ${split(body.output)[0]}/%06d${split(body.output)[1]}` } : answer;
  });

  // Its size, from a few frames, when nothing has changed for a moment.
  const guess = signal(/** @type {null | {bytes: number, frames: number, of: number, losses: string[]}} */ (null));
  const cannotGuess = signal('');
  const stopGuessing = rested(600, () => {
    const count = framesIn(what.value);
    const body = { ...asked(), first: ranges(what.value)[0]?.[0] ?? 0, count };
    [guess.value, cannotGuess.value] = [null, ''];
    return made.value && !made.value.error && count ? body : null;
  }, (body, stop) => post('/estimate', body, 'POST', stop).then((told) => {
    if (!stop.aborted) guess.value = { ...told, of: body.count };
  }, (error) => (cannotGuess.value = stop.aborted ? '' : messageOf(error))));
  /** What the estimate says. */
  const sizeText = () => {
    const g = guess.value;
    if (!framesIn(what.value)) return 'Size: unknown';
    if (cannotGuess.value) return `Size: unknown, since a part cannot be rendered: ${cannotGuess.value}`;
    if (!g) return 'Size: rendering a few frames to estimate it…';
    const rate = (g.bytes * 8) / secondsIn(what.value);
    const each = isImages() ? (g.of > 1 ? `, ${fileSize(g.bytes / g.of)} per image` : '') : `, ${short(rate / 1e6, 0.1)} Mbit/s${isVideo() ? ' without sound' : ''}`;
    return `Size: about ${fileSize(g.bytes)}${each}, estimated from ${counted(g.frames)}`;
  };

  const deliver = (/** @type {string} */ id) => {
    const one = deliveries.find((d) => d.id === id);
    if (!one) return;
    choice.value = one.choice;
    // What the sound was given for another delivery is not meant for this one.
    if (one.sound || codecsOfSound.includes(audio.value)) audio.value = one.sound && sounds.some((s) => s.split(' ')[0] !== one.sound) ? one.sound : '';
    const stem = split(typed ? output.value : proposed())[0];
    if (one.ending) output.value = stem + completed(stem, one.ending);
    else if (delivered() !== id) output.value = stem + split(proposed())[1];
  };
  const same = (/** @type {typeof deliveries[0]} */ d) => JSON.stringify(d.choice) === JSON.stringify(choice.value) && (!d.ending || output.value.endsWith(d.ending.replace('/', '')) || (d.choice !== automatic && d.ending.startsWith('.') && isVideo()));
  const delivered = () => [...deliveries].reverse().find(same)?.id ?? '';
  const set = (/** @type {keyof Choice} */ id) => (/** @type {any} */ e) => {
    const next = { ...choice.value, [id]: e.target.value.trim() };
    if (id === 'codec') next['codec-opt'] = next.preset = '';
    if (id === 'codec' && !(next.codec in qualities)) next.crf = '';
    choice.value = next;
  };
  /** With what was chosen elsewhere. @param {keyof Choice} id @param {[string, string][]} list @returns {[string, string][]} */
  const all = (id, list) => (choice.value[id] && list.every(([v]) => v !== choice.value[id]) ? [...list, [choice.value[id], choice.value[id]]] : list);
  /** @param {keyof Choice} id @param {string} label @param {[string, string][]} list @param {string} first */
  const menu = (id, label, list, first) => select(id, label, [['', first], ...all(id, list)], choice.value[id], set(id));

  /** The frames as an option; null is all of them. */
  const frames = () => {
    if (what.value === 'job') return job?.options.frames ?? null;
    const text = framesText(what.value === 'all' ? [c.first, c.last] : [from, to], c);
    return step() === 1 ? text : (text ?? `${c.first}-`).split(',').map((part) => `${part}x${step()}`).join(',');
  };
  /** @param {boolean} start @param {any} form */
  const add = async (start, form) => {
    if (!own.value) {
      await check();
      if (checked.value?.faults.length) throw new Error(checked.value.faults[0].text);
      if (unsavedEffects.value.length) throw new Error(`${unsavedEffects.value[0]}: save the effect first, a render reads the file`);
    }
    const { id } = await post('/jobs', {
      input: c.path, output: output.value.trim(), filters: recipe()?.chain ?? '', frames: frames(), options: options(),
      overwrite: form.elements.overwrite?.checked ?? false, replaces: job?.id,
    });
    if (!job) last = { kind: begun.kind, choice: choice.value, ending: delivered() === 'auto' ? '' : split(output.value)[1], audio: audio.value, onError: onError.value };
    if (start) await post('/jobs/start', { id });
    [dock.value, dockOpen.value] = ['jobs', true];
  };

  const { element } = dialog(job ? `Change ${job.output}` : 'Render', ({ attempt, fault, problem, submit }) => {
    const m = made.value;
    const isKnown = m && !m.error;
    const parts = ranges(what.value).length;
    const cut = parts > 1 || (what.value === 'job' && job?.options.frames) ? ', cut as the frames' : what.value === 'selection' ? `, cut to ${timeText(from)} – ${timeText(to + 1)}` : '';
    const sound = !sounds.length || !isVideo() || audio.value === 'none' ? 'no sound' : `sound: ${sounds.join(', ')} ${audio.value ? `encoded${codecsOfSound.includes(audio.value) ? ` as ${audio.value.toUpperCase()}` : ''}` : 'copied, or encoded where the file cannot hold it'}${cut}`;
    const tuning = tunings[choice.value.codec] ?? [];
    const encoder = choice.value.codec || (isKnown && m.encoder) || '';
    const warning = isKnown ? warningOf(m, choice.value, alpha, isFine(own.value ? job?.recipe.recipe.steps : undefined)) : '';
    const copies = () => isOpen && c.kind === 'video' && !c.lavfi && isVideo() && !recipe()?.recipe.steps.some((/** @type {any} */ s) => !s.off);
    const copyStream = () => {
      const [[a, b]] = ranges(what.value);
      const part = what.value === 'selection' ? ['-ss', timeOf(a).toFixed(3), '-to', timeOf(b + 1).toFixed(3)] : [];
      copy(['ffmpeg', ...part, '-i', c.path, '-map', '0', '-c', 'copy', output.value.trim()].map(quoted).join(' '), 'FFmpeg’s command line');
    };
    const smaller = () => {
      selected.value = doc.value.steps.length - 1;
      addStep('scale', { width: '480' });
      toast('Scale is the last filter of the recipe now: switch it off for other renders');
    };
    return html`<form class="grid" @submit=${submit((form) => add(!job, form))}>
      <label for="r-deliver">Deliver</label><select id="r-deliver" autofocus @change=${(/** @type {any} */ e) => deliver(e.target.value)}>
        ${deliveries.map((d) => html`<option value=${d.id} .selected=${delivered() === d.id}>${d.name}</option>`)}
        <option value="" disabled .selected=${delivered() === ''}>Custom</option></select>
      <label for="r-output">Output</label><input id="r-output" name="output" class="text" .value=${output.value} title="A file (.mp4 .mov .mkv .webm .y4m) or numbered images (out/%06d.png)"
        @input=${(/** @type {any} */ e) => {
          typed = true;
          output.value = e.target.value;
          problem.value = '';
          // What was only proposed gives way to what the name says.
          if (!job && begun.choice !== last.choice && (choice.value === begun.choice || choice.value === byName)) choice.value = common.test(output.value) ? begun.choice : byName;
        }}>
      <span></span><span class="dim">in <code>${folder.value}</code></span>
      ${job ? html`<label for="r-filters">Filters</label><select id="r-filters" @change=${(/** @type {any} */ e) => (own.value = e.target.value === 'job')}>
        <option value="job" .selected=${own.value}>of the job: ${named(job.recipe.recipe.steps)}</option>
        ${checked.value && checked.value.chain !== job.recipe.chain ? html`<option value="page" .selected=${!own.value}>of the page now: ${named(doc.value.steps)}</option>` : nothing}</select>` : nothing}
      <span>Frames</span><span class="choices">
        ${job ? html`<label><input type="radio" name="what" .checked=${what.value === 'job'} @change=${() => (what.value = 'job')}>of the job${job.options.frames ? ` ${job.options.frames}` : ''}: ${long('job')}</label>` : nothing}
        <label><input type="radio" name="what" .checked=${what.value === 'all'} @change=${() => (what.value = 'all')}>all${cutsOf(c).length ? ' but what is cut out' : ''}: ${long('all')}</label>
        ${isOpen ? html`<label><input type="radio" name="what" .checked=${what.value === 'selection'} ?disabled=${!selects} @change=${() => (what.value = 'selection')}>selection${selects ? ` ${from}–${to}: ${long('selection')}` : ''}</label>` : nothing}</span>
      ${menu('codec', 'Codec', codecs, isKnown && m.encoder && !choice.value.codec ? `Automatic: ${encoderNames[m.encoder] ?? m.encoder}` : 'Automatic')}
      ${tuning.length ? (/^lib/.test(choice.value.codec) ? menu('codec-opt', 'Tuning', tuning, 'none') : menu('codec-opt', 'Profile', tuning, 'the encoder’s own')) : nothing}
      ${menu('pix-fmt', 'Samples', alpha ? [...formats, ...withAlpha] : formats, isKnown && !choice.value['pix-fmt'] ? `Automatic: ${m.format}` : 'Automatic')}
      ${isAnimation() && what.value !== 'job' ? html`${select('every', 'Frame rate', rates, every.value, (e) => (every.value = Number(e.target.value)))}
        ${isKnown && m.width > 640 && !own.value ? html`<span></span><span class="dim">${m.width}×${m.height} makes a large file. <button type="button" class="small" title="Adds the filter Scale at the end" @click=${smaller}>Make it 480 wide</button></span>` : nothing}` : nothing}
      ${encoder in qualities ? html`<label for="r-crf">Quality (crf)</label><input id="r-crf" class="text" inputmode="decimal" .value=${choice.value.crf} placeholder="automatic: ${qualities[encoder]}; lower is better" @input=${set('crf')}>` : nothing}
      ${!/^libx26/.test(encoder) ? nothing : menu('preset', 'Speed', [['veryfast', 'veryfast'], ['fast', 'fast'], ['medium', 'medium'], ['slow', 'slow'], ['veryslow', 'veryslow']], 'Automatic: the encoder’s own')}
      ${menu('transfer', 'Transfer', transfers, 'Automatic: as the input, or as the format has it')}
      ${sounds.length ? select('audio', 'Sound',
        [['', 'copied where the output can hold it'], ['encode', 'encoded'], ['aac', 'encoded as AAC'], ['none', 'none']],
        audio.value, (e) => (audio.value = e.target.value), !isVideo()) : html`<span>Sound</span><span class="dim">the clip has none</span>`}
      ${select('damaged', 'Damaged or missing', [['', 'end the render'], ['hold', 'show the last intact frame'], ['skip', 'are left out']],
        onError.value, (e) => (onError.value = e.target.value))}
      <p class="outcome" role="status">${m?.error ? html`<span class="bad">${m.error}</span>` : isKnown
        ? html`${m.encoder ? `${encoderNames[m.encoder] ?? m.encoder}, ` : ''}${m.format}, ${m.width}×${m.height}, ${long(what.value)}, ${sound}<br>Tags: ${m.colour}<br>${sizeText()}<br><span class="dim">${m.path}</span>` : 'Checking output…'}</p>
      ${[warning, ...(guess.value?.losses ?? [])].map((text) => (text ? html`<p class="warning" role="note">${text}</p>` : nothing))}
      ${!copies() ? nothing : parts > 1 ? html`<span></span><span class="dim">No filter is on, but without encoding FFmpeg copies one range only: select one without cuts.</span>` : html`<span></span><span class="dim">No filter is on: FFmpeg can copy these frames without encoding, from the key frame before the first. <button type="button" class="small" @click=${copyStream}>Copy its command line</button></span>`}
      ${m?.exists ? html`<span></span><label><input type="checkbox" name="overwrite" .checked=${'overwrite' in (job?.options ?? {})}>Replace the existing file, or segments of another render</label>` : nothing}
      ${refused() && !problem.value ? html`<p class="fault" role="alert">${refused()}</p>` : fault()}
      <footer><button type="button" ?disabled=${!!refused()} @click=${(/** @type {any} */ e) => attempt(async () => {
        await copyLine(c.path, output.value.trim(), options(), recipe()?.chain ?? '', frames(), e.target.form.elements.overwrite?.checked);
        return false;
      })}>Copy as command line</button><span class="space"></span>
        <button type="button" ?disabled=${!!m?.error} @click=${(/** @type {any} */ e) => attempt(() => add(!!job, e.target.form))}>${job ? 'Change and render now' : 'Add to the queue'}</button><button class="main" ?disabled=${!!m?.error}>${job ? 'Change the job' : 'Render now'}</button></footer></form>`;
  }, 'render');
  for (const stop of [stopAsking, stopGuessing]) element.addEventListener('close', stop);
}

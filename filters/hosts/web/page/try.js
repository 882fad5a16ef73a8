// @ts-check The page without an install: the studio's filters, settings, curves and panes, with pictures of the visitor's own.
// Nothing is sent anywhere.

import { html, nothing, render } from './vendor/lit-html.js';
import { get, post } from './api.js';
import { batch, beginHistory, canUndo, catalog, check, checked, clip, curveOf, doc, effect, frame, offers, openClip, plainDoc, replaceRecipe, report, seek, signal, toast, toasts, view } from './state.js';
import { curvesTemplate, resizeCurves, startCurves } from './curve.js';
import { startFilters } from './filters.js';
import { command, icon, keyText, onKey, tool } from './keys.js';
import { isCurve } from './moving.js';
import { play, playing, png, scrubbing, shownRate, startViewer } from './viewer.js';
import { copy, download } from './dialogs.js';
import { videos } from './deliveries.js';
import { startTouch } from './touch.js';
import { closeOthers, drawn, ofClip, ofPicture, sourceOf } from './sources.js';

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const opening = signal('');
/** Whether a clip of the browser plays. */
const running = signal(false);
/** Frames that such a clip has shown in the last second. @type {import('./vendor/signals-core.js').Signal<number[]>} */
const seen = signal([]);

/** The name of a file of the visitor's own, if one is shown: an address holds none. */
let own = '';
/** The offer to open the file again that was shown before the page was loaded. */
const again = { text: '', answers: /** @type {[string, () => unknown][]} */ ([]) };

/** @param {Promise<import('./sources.js').Source> | import('./sources.js').Source} made @param {string} name @param {boolean} [isOwn] */
async function open(made, name, isOwn = false) {
  stop();
  opening.value = name;
  try {
    const { id } = await made;
    const first = clip.value === null;
    own = isOwn ? name : '';
    await openClip(String(id));
    closeOthers(id);
    offers.value = offers.peek().filter((o) => o !== again);
    batch(() => {
      // The player makes frames ahead when nothing moves: a clip would be sought for each.
      scrubbing.value = !!sourceOf(id).video;
      view.zoom.value = 1;
      frame.value = first ? frame.value : 0;
    });
  } catch (error) {
    report(error);
  } finally {
    opening.value = '';
  }
}

/** @param {File | undefined} file */
const openFile = (file) => file && open(file.type.startsWith('video/') || videos.test(file.name) ? ofClip(file, file.name) : ofPicture(file, file.name), file.name, true);
const openFlower = async () => ofPicture(await (await fetch(new URL('./flower.jpg', import.meta.url))).blob(), 'flower.jpg');

const sourceNow = () => (clip.value ? sourceOf(clip.value.id) : null);

// ---- the address has the chain after its #, and the history's entry all that a chain leaves out ----

/** The text of an address for a chain: as it is read, but for what ends an address in other texts. @param {string} chain */
const hashOf = (chain) => `#${encodeURI(chain).replace(/[#'()]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`;

/** What it was written with last. */
let written = '';
/** Whether it cannot be read: it stays until the visitor changes something. */
let broken = false;

/** Keeps the recipe in the address. */
function keep() {
  if (broken && !canUndo.peek()) return;
  const { chain, faults } = checked.peek() ?? {};
  if (chain !== undefined && !faults?.length) written = hashOf(chain || 'recipe=seed=0');
  history.replaceState({ recipe: plainDoc(), file: own }, '', written || undefined);
}

/** The recipe of the address: that of the history's entry is whole. Without either it is some grain. @returns {Promise<any>} */
async function ofAddress() {
  const { recipe } = history.state ?? {};
  if (recipe) return recipe;
  let chain = location.hash.slice(1);
  try {
    chain = decodeURIComponent(chain);
  } catch {
    // A % that begins no byte stands for itself.
  }
  return (await post('/recipe', { clip: null, chain: chain || 'grain=preset=35mm' })).recipe;
}

async function copyLink() {
  await check();
  const fault = checked.value?.faults[0];
  if (fault) return toast(`not copied: ${fault.text}`, true);
  keep();
  await copy(location.href, own ? 'a link with the filters, without your file,' : 'a link with the filters');
}

function startAddress() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  effect(() => {
    void [checked.value, clip.value];
    clearTimeout(soon);
    // Browsers refuse addresses that change as fast as a slider.
    soon = setTimeout(keep, 300);
  });
  addEventListener('pagehide', keep);
  // Another chain was typed there, or an entry with one was gone back to.
  addEventListener('hashchange', () => {
    clearTimeout(soon);
    ofAddress().then(replaceRecipe, report);
  });
  addEventListener('beforeunload', (e) => {
    if (own && canUndo.value) e.preventDefault();
  });
}

function stop() {
  sourceNow()?.video?.pause();
  running.value = false;
  if (playing.value) play(0);
}

/** A clip is played by the browser, and filtered as it goes; a picture by the studio's player. */
function toggle() {
  const source = sourceNow();
  if (running.value || playing.value) return stop();
  if (!source?.last) return;
  const { video } = source;
  if (!video) return play(1);
  running.value = true;
  video.loop = true;
  video.currentTime = ((frame.value + 0.5) * source.rate[1]) / source.rate[0];
  video.play().then(() => /** @type {any} */ (source).follow((/** @type {number} */ n) => {
    if (clip.value?.id === source.id) frame.value = n;
  }), report);
}

// The player's own would seek for each frame of a clip.
Object.assign(command('play.result'), { run: toggle });
Object.assign(command('play.stop'), { run: stop });

/** How the program is installed. */
const INSTALL = 'first-steps.html#install';

/** What a command line makes otherwise than the page, of clips. */
const differs = () => (clip.value?.kind === 'video' ? `The page filters RGB of 8 bits. Grainfield’s program filters ${clip.value.name} in its own format, most often YUV: the look is the same, single samples are not.` : '');
const copyCommand = command('recipe.command').run;
Object.assign(command('recipe.command'), { run: async () => {
  await copyCommand();
  if (checked.value?.faults.length) return;
  toast(html`Paste it into a terminal where <a href=${INSTALL} target="_blank" rel="noopener">Grainfield is installed</a>.
    ${clip.value?.path === 'INPUT' ? 'INPUT stands for your picture or clip: write its name there.' : nothing} ${differs()}`, false, 15000);
} });
for (const side of /** @type {const} */ (['in', 'out'])) {
  Object.assign(command(`frame.save.${side}`), { run: async () => {
    const { name = '', first = 0, last = 0 } = clip.value ?? {};
    const number = first === last ? '' : `-${frame.value}`;
    await png(side).then((made) => download(made, `${name.replace(/\.\w+$/, '')}${number}-${side === 'in' ? 'source' : 'result'}.png`), report);
  } });
}

const bar = () => html`<a class="brand" href="index.html" target="_blank" rel="noopener" title="The handbook">Grainfield</a>
  <label class="button main" title="It stays on this machine: the filters run in this page">Open a picture or clip
    <input type="file" accept="image/*,video/*" @change=${(/** @type {any} */ e) => {
      openFile(e.target.files[0]);
      e.target.value = '';
    }}></label>
  <span class="dim">or drop it here. Examples:</span>
  <button title="A landscape that is drawn here" @click=${() => open(drawn(), 'dusk')}>Dusk</button>
  <button title="A small photo" @click=${() => open(openFlower(), 'flower')}>Flower</button>
  <span class="group">${tool('edit.undo')}${tool('edit.redo')}</span>
  <span class="group">${['wipe', 'out', 'side', 'diff'].map((layout) => tool(`view.${layout}`))}</span>
  <span class="group">${tool('view.one', '1:1')}${tool('view.fit', 'Fit')}</span>
  <span class="space"></span>
  <button ?disabled=${!checked.value} title="${command('recipe.command').label} (${keyText('recipe.command')}). ${differs()}" @click=${() => command('recipe.command').run()}>Copy command line</button>
  <button ?disabled=${!checked.value} title="The address of this page with these filters; a file of your own is not in it" @click=${() => copyLink().catch(report)}>Copy link</button>
  ${tool('recipe.text', 'Recipe')}
  ${tool('frame.save.out', 'Save PNG')}`;

function transport() {
  const c = clip.value;
  if (!c) return nothing;
  const moves = running.value || playing.value !== 0;
  const fps = running.value ? seen.value.length : shownRate.value;
  const moving = html`<button class="icon" title="${moves ? 'Stop' : 'Play'} (Space)" aria-label=${moves ? 'Stop' : 'Play'} @click=${toggle}>${icon(moves ? 'stop' : 'play')}</button>
    <input type="range" class="frames" aria-label="Frame" min=${c.first} max=${c.last} .value=${String(frame.value)} @input=${(/** @type {any} */ e) => {
      stop();
      seek(Number(e.target.value));
    }}>
    <label class="now">Frame <input class="number" type="text" inputmode="numeric" aria-label="Frame number" .value=${String(frame.value)} @change=${(/** @type {any} */ e) => {
      stop();
      if (/^\d+$/.test(e.target.value)) seek(Number(e.target.value));
      e.target.value = String(frame.value);
    }}></label>`;
  return html`<div class="transport">
    ${c.first === c.last ? nothing : moving}
    <span class="dim digits" data-fps>${c.name}, ${c.width}×${c.height}${c.first === c.last ? '' : `, ${Number((c.rate[0] / c.rate[1]).toFixed(3))} fps`}${moves ? `; ${fps} shown` : ''}</span>
    ${opening.value ? html`<span role="status">opening ${opening.value}…</span>` : nothing}
  </div>`;
}

/** Whether a setting moves: the curves are shown then. */
const moves = () => doc.value.steps.some((step) => Object.values(step.values).some(isCurve));

function startDock() {
  const dock = byId('dock');
  const measure = () => {
    const plot = dock.querySelector('.plot');
    if (plot) resizeCurves(Math.floor(plot.clientWidth), Math.floor(plot.clientHeight), 0);
  };
  new ResizeObserver(measure).observe(dock);
  effect(() => {
    const open = moves();
    void curveOf.value;
    dock.classList.toggle('shut', !open);
    render(open ? curvesTemplate() : nothing, dock);
    queueMicrotask(measure);
  });
}

function startMessages() {
  effect(() => render(toasts.value.map((t) => html`<p class=${t.bad ? 'bad' : ''} @click=${() => (toasts.value = toasts.value.filter((o) => o !== t))}>${t.text}</p>`), byId('toasts')));
  effect(() => render(offers.value.map((o) => html`<p>${o.text} ${o.answers.map(([name, run]) => html`<button class="small" @click=${() => {
    offers.value = offers.value.filter((other) => other !== o);
    run();
  }}>${name}</button>`)}</p>`), byId('notice')));
}

document.addEventListener('keydown', onKey);
document.addEventListener('dragover', (e) => e.preventDefault());
document.addEventListener('drop', (e) => {
  e.preventDefault();
  openFile(e.dataTransfer?.files[0]);
});
document.addEventListener('paste', (e) => openFile(e.clipboardData?.files[0]));

async function begin() {
  startMessages();
  catalog.value = await get('/catalog');
  view.layout.value = 'wipe';
  const { file } = history.state ?? {};
  await open(drawn(), 'dusk');
  replaceRecipe(await ofAddress().catch((error) => {
    broken = true;
    offers.value = [{ text: `The filters in the address cannot be read: ${error.message}`, answers: [['Close', () => {}]] }];
    return { steps: [], seed: null };
  }));
  beginHistory();
  startAddress();
  if (file) {
    const choose = () => /** @type {HTMLElement | null} */ (document.querySelector('#bar input[type=file]'))?.click();
    again.text = `The filters are as they were; ${file} is not: a page keeps no files of yours.`;
    again.answers = [['Open it again', choose], ['Close', () => {}]];
    offers.value = [...offers.value, again];
  }
  byId('view').replaceChildren();
  startViewer(byId('view'));
  startTouch(byId('view'));
  startFilters(byId('filters'));
  startCurves();
  startDock();
  effect(() => render(bar(), byId('bar')));
  effect(() => render(transport(), byId('timeline')));
  effect(() => {
    void frame.value;
    const now = performance.now();
    if (running.value) seen.value = [...seen.peek().filter((t) => now - t < 1000), now];
  });
  document.body.dataset.ready = 'true';
}

begin().catch((error) => {
  byId('view').replaceChildren();
  render(html`<div class="failed" role="alert"><h1>The filters could not be loaded</h1><p class="bad">${error.message}</p>
    <p>Load the page again. If that does not help: it needs a browser with SIMD in WebAssembly (Chrome or Edge 91, Firefox 89, Safari 16.4, or later), and its server must send the file
      try/grainfield.wasm as it was built.</p><button class="main" @click=${() => location.reload()}>Load again</button></div>`, byId('view'));
  document.body.dataset.ready = 'failed';
});

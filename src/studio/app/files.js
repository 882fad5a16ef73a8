// @ts-check The window that chooses a file: the way to its folder, what is in it, and what was opened last.

import { html, nothing } from './vendor/lit-html.js';
import { get } from './api.js';
import { latest, recent, signal } from './state.js';
import { clockText } from './timecode.js';
import { dialog } from './dialogs.js';

/** @typedef {{name: string, bytes: number | null, images: [number, number, number] | null}} Listed */
/** @typedef {{folder: string, above: string | null, trail: [string, string][], roots: [string, string][], folders: string[], files: Listed[]}} Listing */

/** The endings of clips: of others the name can be typed. */
const isClip = /\.(y4m|mp4|m4v|mov|qt|mkv|webm|avi|divx|mxf|gxf|ts|m2ts|mts|mpe?g|mpe|mpv|m1v|m2v|vob|ogv|ogm|wmv|asf|flv|f4v|3gp|3g2|dv|nut|ivf|obu|av1|h?26[3-5]|avc|hevc|vvc|rm|rmvb|mjpe?g|mj2|amv|nsv|roq|bik|smk|avs|vpy|raw|yuv|rgb|gif|apng|png|tiff?|exr|dpx|cin|jpe?g|jp2|j2[kc]|jxl|webp|avif|hei[cf]|hdr|pic|p[bgpnaf]m|pfm|bmp|tga|qoi|sgi)$/i;

/** Recipes and effects; the list of jobs is neither. */
const isToml = /^(?!(.*\/)?grainfield-jobs\.).*\.toml$/i;

/** The files that are shown, by the kind of setting that reads them. @type {Record<string, RegExp>} */
const readable = {
  clip: isClip, 'grain plate': isClip, image: /\.(png|jpe?g|jxl|tiff?|exr|webp|bmp|gif|tga|qoi|hdr|p[bgpna]m|pfm|dpx|cin)$/i, recipe: isToml, effect: isToml,
  'look-up table': /\.cube$/i, 'grain table': /\.(tbl|txt)$/i, 'track file': /\.gfa$/i, font: /\.(ttf|otf)$/i,
};

/** The folder that was looked at last. */
let lastFolder = '';
/** @param {string} name */
const folderOf = (name) => name.slice(0, Math.max(0, name.lastIndexOf('/')));
/** @param {string} name of a file that is new */
export const inLastFolder = (name) => (lastFolder ? `${lastFolder}/${name}` : name);

/** Test signals, as inputs are named. */
const signals = ['bars', 'ramp', 'grey', 'zoneplate', 'checker'];

/** @param {number} bytes */
export const size = (bytes) => {
  const step = bytes < 1e3 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
  return `${Number((bytes / 1000 ** step).toPrecision(3))} ${['B', 'kB', 'MB', 'GB'][step]}`;
};

/** Lets a file be chosen, or a name be typed.
 * @param {string} title @param {string} kind of the files that are shown @param {(path: string) => unknown} done
 * @param {{name?: string, action?: string, clips?: boolean}} [options] a name begins in its own folder; `clips`: with their sizes and
 *   lengths, those opened last, and test signals */
export function fileDialog(title, kind, done, { name = '', action = 'Open', clips = false } = {}) {
  const listing = signal(/** @type {Listing | null} */ (null));
  const typed = signal(name);
  /** What the arrows have chosen: the name of a file, or of a folder with a slash. */
  const at = signal('');
  /** The properties of clips, by their paths. */
  const known = signal(/** @type {Record<string, string>} */ ({}));
  let reading = new AbortController();
  const join = (/** @type {string} */ file) => (listing.value?.folder ? `${listing.value.folder}/${file}` : file);
  /** A name is of the folder that is shown, unless it has one of its own. @param {string} name */
  const named = (name) => (/[/:]/.test(name) ? name : join(name));
  /** Rows in sight whose properties are not known. */
  const waiting = new Set();
  const read = latest(async () => {
    const { signal: mine } = reading;
    for (const path of waiting) {
      const told = await get(`/probe?${new URLSearchParams({ path })}`, mine)
        .then((p) => `${p.width}×${p.height}${p.seconds > 0.05 ? `, ${clockText(p.seconds, true)}` : ''}`, () => '');
      if (mine.aborted) return;
      waiting.delete(path);
      known.value = { ...known.value, [path]: told };
    }
  });
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const { path } = /** @type {HTMLElement} */ (target).dataset;
      if (isIntersecting && path !== undefined && !(path in known.value)) waiting.add(path);
      else waiting.delete(path);
    }
    read();
  });
  /** What is chosen by the mouse goes on by the keyboard. */
  const typing = () => /** @type {HTMLElement | null} */ (element.querySelector('#file-name'))?.focus();
  const go = async (/** @type {string} */ to) => {
    try {
      listing.value = /** @type {Listing} */ (await get(`/files?${new URLSearchParams({ folder: to })}`));
      lastFolder = to;
      // A name that is written goes where one looks.
      if (action !== 'Open') typed.value = typed.value.slice(typed.value.lastIndexOf('/') + 1);
      problem.value = '';
      typing();
      reading.abort();
      reading = new AbortController();
      waiting.clear();
      seen.disconnect();
      if (clips) requestAnimationFrame(() => element.querySelectorAll('[data-path]').forEach((row) => seen.observe(row)));
    } catch (error) {
      if (to) return go('');
      problem.value = String(error);
    }
  };
  const { element, problem } = dialog(title, ({ attempt, fault, submit }) => {
    const use = (/** @type {string} */ path) => attempt(() => done(path));
    const l = listing.value;
    // What is typed narrows the list, until it is the name of something in it.
    const text = action === 'Open' ? typed.value.trim().toLowerCase() : '';
    const isNamed = l?.files.some((f) => join(f.name).toLowerCase() === named(text).toLowerCase());
    const fits = (/** @type {string} */ name) => !text || isNamed || text.includes('/') || text.includes(':') || name.toLowerCase().includes(text);
    const folders = l?.folders.filter(fits) ?? [];
    const files = l?.files.filter((f) => readable[kind].test(f.name) && fits(f.name)) ?? [];
    const rows = [...folders.map((f) => `${f}/`), ...files.map((f) => f.name)];
    const places = l?.roots.filter(([, to]) => to !== l.trail[0]?.[1]) ?? [];
    return html`<form @submit=${submit(() => {
        const isOnly = text && !isNamed && !/[/:]/.test(text) && rows.length === 1;
        const chosen = at.value || (isOnly ? rows[0] : '');
        if (chosen.endsWith('/')) {
          [at.value, typed.value] = ['', ''];
          go(join(chosen.slice(0, -1)));
          return false;
        }
        if (chosen) return done(join(chosen));
        if (text && !rows.length && !/[/:%#*]/.test(text)) throw new Error(`nothing here has ${typed.value.trim()} in its name`);
        return typed.value.trim() ? done(named(typed.value.trim())) : false;
      })}>
      <nav class="path" aria-label="Folder">
        <button type="button" title="The folder above" aria-label="The folder above" ?disabled=${!l || l.above === null} @click=${() => go(l?.above ?? '')}>↑</button>
        ${l?.trail.map(([part, to], i) => html`${i ? html`<span>/</span>` : nothing}<button type="button" class="crumb" aria-current=${i === l.trail.length - 1 ? 'true' : nothing} @click=${() => go(to)}>${part}</button>`)}
        ${places.length ? html`<span class="space"></span><select aria-label="Other folders" @change=${(/** @type {any} */ e) => go(e.target.value)}>
          <option selected disabled>Other folders</option>${places.map(([part, to]) => html`<option value=${to}>${part}</option>`)}</select>` : nothing}
      </nav>
      ${clips && recent.value.length ? html`<p class="recent"><span class="dim">Recent</span> ${recent.value.map((path) => html`<button type="button" title=${path} @click=${() => use(path)}>${path.split('/').pop()}</button>`)}</p>` : nothing}
      <div class="filelist" role="group" aria-label="Files">
        ${folders.map((f) => html`<div><button type="button" class=${at.value === `${f}/` ? 'lit' : ''} @click=${() => go(join(f))}>${f}/</button></div>`)}
        ${files.map((f) => html`<div data-path=${isClip.test(f.name) ? join(f.name) : nothing}><button type="button" class=${typed.value === join(f.name) || at.value === f.name ? 'lit' : ''} @click=${() => {
          typed.value = join(f.name);
          typing();
        }} @dblclick=${() => use(join(f.name))}>${f.name}</button>
          <span>${f.images ? `${f.images[0]}–${f.images[1]}: ${f.images[2]} images` : f.bytes === null ? '' : size(f.bytes)}</span>${clips ? html`<span>${known.value[join(f.name)] ?? ''}</span>` : nothing}</div>`)}
        ${l && !files.length && !l.folders.length ? html`<p class="empty">Nothing here.</p>` : nothing}
      </div>
      ${clips ? html`<p class="dim">The studio opens files in ${(l?.roots.length ?? 1) > 1 ? 'these folders' : 'the folder in which it was started'} and in the folders inside. For a clip that is elsewhere, move or copy it here, or start the studio again with <code>grainfield studio --allow-folder FOLDER</code>.</p>` : nothing}
      ${fault()}
      <footer>${clips ? html`<select aria-label="Test signal" @change=${(/** @type {any} */ e) => (typed.value = `pattern:${e.target.value}`)}>
          <option selected disabled>Test signal</option>${signals.map((s) => html`<option>${s}</option>`)}</select>` : nothing}
        <label for="file-name">Name</label><input class="text" id="file-name" autofocus aria-label="File name" .value=${typed.value} @focus=${(/** @type {any} */ e) => e.target.setSelectionRange(e.target.value.lastIndexOf('/') + 1, -1)} @input=${(/** @type {any} */ e) => {
          typed.value = e.target.value;
          at.value = '';
        }} @keydown=${(/** @type {KeyboardEvent} */ e) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
          if (!by || !rows.length) return;
          e.preventDefault();
          at.value = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(at.value) + by))];
          queueMicrotask(() => element.querySelector('.filelist .lit')?.scrollIntoView({ block: 'nearest' }));
        }}>
        <button class="main" ?disabled=${!typed.value.trim() && !at.value}>${action}</button></footer></form>`;
  }, 'files');
  element.addEventListener('close', () => {
    reading.abort();
    seen.disconnect();
  });
  go(name ? folderOf(name) : lastFolder);
}

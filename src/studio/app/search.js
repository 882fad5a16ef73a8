// @ts-check How well typed words suit an entry of a list.

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** From 6, a whole name, to 0, letters inside a word of the text; below 0 the entry is not found.
 * @param {string} typed
 * @param {string[]} names what it is called, each of which may be typed whole
 * @param {string} title what it is called among others
 * @param {string} text what else is said of it */
export function rank(typed, names, title, text) {
  const words = wordsOf(typed);
  if (!words.length) return -1;
  const whole = words.join(' ');
  const said = names.map((name) => wordsOf(name).join(' '));
  if (said.includes(whole)) return 6;
  if (said.some((name) => name.startsWith(whole))) return 5;
  const [near, all] = [wordsOf(`${names.join(' ')} ${title}`), wordsOf(text)];
  return Math.min(...words.map((word) => {
    if (near.includes(word)) return 4;
    if (near.some((w) => w.startsWith(word))) return 3;
    if (all.some((w) => w.startsWith(word))) return 2;
    if (near.some((w) => w.includes(word))) return 1;
    return all.some((w) => w.includes(word)) ? 0 : -1;
  }));
}

/** Words for filters and presets that their names and helps do not have, by their place in the list of filters. @type {Record<string, string>} */
export const synonyms = {
  'grain-super8': '8mm', 'grain-light': 'subtle', 'grain-heavy': 'strong', noise: 'static', unsharp: 'sharpen', weave: 'shake jitter', analog: 'tape crt scanlines', lut: 'cube 3dl grading match',
  transform: 'zoom rotate pan', scale: 'resize', pad: 'letterbox bars', text: 'title subtitle caption watermark date timecode', overlay: 'logo watermark', color: 'saturation grading brightness brighter darker warm warmer cold exposure contrast hue temperature tint white balance match', levels: 'gamma contrast brightness exposure lift gain curve tint white balance match', vignette: 'dark darker edges corners', blur: 'soft hide face pixelate censor', invert: 'negative', glow: 'bloom',
  'render-now': 'export gif save video', 'filter-delete': 'trim cut out split', 'sel-in': 'trim cut split', 'sel-out': 'trim cut split', 'view-out': 'full', 'view-fill': 'full', 'file-start': 'example start home',
};

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
  /** @param {string} word */
  const of = (word) => {
    if (near.includes(word)) return 4;
    if (near.some((w) => w.startsWith(word))) return 3;
    if (all.some((w) => w.startsWith(word))) return 2;
    if (near.some((w) => w.includes(word))) return 1;
    return all.some((w) => w.includes(word)) ? 0 : -1;
  };
  // Who types `sharpening` or `dropouts` means the word without its ending, too.
  return Math.min(...words.map((word) => Math.max(of(word), /^.{4,}?(s|ed|ing)$/.test(word) ? of(word.replace(/(s|ed|ing)$/, '')) : -1)));
}

/** Words for filters and presets that their names and helps do not have, by their place in the list of filters. @type {Record<string, string>} */
export const synonyms = {
  grain: 'kodak fuji iso', 'grain-super8': '8mm', 'grain-light': 'subtle', 'grain-heavy': 'strong', noise: 'static gaussian', dither: 'banding', denoise: 'degrain noise reduction nr smooth clean',
  dust: 'dirt specks hairs damage', scratches: 'damage', weave: 'shake jitter jump unsteady', flicker: 'strobe', analog: 'tape vhs ntsc crt scanlines dropout tracking damage glitch', flock: 'birds', fluid: 'water waves', sprites: 'png logo',
  unsharp: 'sharpen sharpness clarity', blur: 'soft smooth defocus hide face pixelate mosaic censor gaussian motion', lut: 'cube 3dl grading match curves', transform: 'zoom rotate pan move position stabilise stabilize stabilization steady deshake', scale: 'resize upscale downscale resample',
  crop: 'trim cut', pad: 'letterbox pillarbox bars border canvas', text: 'title subtitle caption watermark date timecode burn burnin', overlay: 'logo watermark composite blend layer', fade: 'transition dissolve',
  color: 'saturation desaturate monochrome black white bw grayscale greyscale grading brightness brighter darker warm warmer cold exposure contrast hue temperature tint white balance match',
  levels: 'gamma contrast brightness exposure lift gain curves shadows highlights tint white balance match', vignette: 'dark darker edges corners', invert: 'negative', glow: 'bloom flare',
  lavfi: 'ffmpeg libav mirror flip hflip vflip sepia vibrance distortion lenscorrection chromatic aberration delogo', deinterlace: 'interlaced fields bwdif yadif combing',
  'render-now': 'export gif mp4 save video', 'recipe-new': 'reset clear delete remove all filters', 'filter-delete': 'trim cut out split', 'sel-in': 'trim cut split', 'sel-out': 'trim cut split', 'view-out': 'full', 'view-fill': 'full', 'help-match': 'degrain regrain measure plate', 'file-start': 'example start home',
};

// @ts-check What a render can be delivered as, and what that loses.

export const images = /\.(png|tiff?|exr|dpx|jpe?g|webp|cin|jp2|j2[kc]|jxl|p[pgn]m|bmp|tga|qoi|gif|apng)$/i;
export const videos = /\.(mp4|m4v|mov|mkv|webm|avi|mxf|ts|nut)$/i;

/** What is chosen for a render, by the options of the command line; '' leaves the choice to the program.
 * @typedef {{codec: string, crf: string, preset: string, 'pix-fmt': string, 'codec-opt': string, transfer: string}} Choice */
/** @type {Choice} */
export const automatic = { codec: '', crf: '', preset: '', 'pix-fmt': '', 'codec-opt': '', transfer: '' };

/** At most 12 Mbit a second, which phones play and chats take. */
const small = 'x264-params=vbv-maxrate=12000:vbv-bufsize=12000';

/** Usual deliveries, of a clip with alpha in formats that keep it; `sound` is the only codec of sound that it may have.
 * @param {boolean} alpha @returns {{id: string, name: string, ending: string, choice: Choice, sound?: string}[]} */
export const deliveriesOf = (alpha) => [
  { id: 'auto', name: 'Automatic, by the output’s name', ending: '', choice: automatic },
  { id: 'everywhere', name: 'Plays everywhere (phones, chats): H.264, 8 bits 4:2:0', ending: '.mp4', choice: { ...automatic, codec: 'libx264', crf: '23', 'pix-fmt': 'yuv420p', 'codec-opt': small }, sound: 'aac' },
  { id: 'h264', name: 'H.264, 8 bits 4:2:0, tuned for grain', ending: '.mp4', choice: { ...automatic, codec: 'libx264', crf: '16', 'pix-fmt': 'yuv420p', 'codec-opt': 'tune=grain' } },
  { id: 'h264-10', name: 'H.264 High 10, 10 bits 4:2:0, tuned for grain', ending: '.mp4', choice: { ...automatic, codec: 'libx264', crf: '16', 'pix-fmt': 'yuv420p10', 'codec-opt': 'tune=grain' } },
  { id: 'h265', name: 'H.265, 10 bits 4:2:0, tuned for grain', ending: '.mp4', choice: { ...automatic, codec: 'libx265', crf: '16', 'pix-fmt': 'yuv420p10', 'codec-opt': 'tune=grain' } },
  { id: 'prores', name: 'ProRes 422 HQ', ending: '.mov', choice: { ...automatic, codec: 'prores_ks', 'pix-fmt': 'yuv422p10', 'codec-opt': 'profile=hq' } },
  { id: 'prores4', name: 'ProRes 4444', ending: '.mov', choice: { ...automatic, codec: 'prores_ks', 'pix-fmt': alpha ? 'yuva444p10' : 'yuv444p10', 'codec-opt': 'profile=4444' } },
  { id: 'dnxhr', name: 'DNxHR HQX, 10 bits 4:2:2', ending: '.mov', choice: { ...automatic, codec: 'dnxhd', 'pix-fmt': 'yuv422p10', 'codec-opt': 'profile=dnxhr_hqx' } },
  { id: 'ffv1', name: 'FFV1, without loss', ending: '.mkv', choice: { ...automatic, codec: 'ffv1' } },
  { id: 'png', name: 'PNG images, 16 bits', ending: '/.png', choice: { ...automatic, 'pix-fmt': alpha ? 'gbrap16' : 'gbrp16' } },
  { id: 'dpx', name: 'DPX images', ending: '/.dpx', choice: automatic },
  { id: 'exr', name: 'EXR images', ending: '/.exr', choice: automatic },
  { id: 'gif', name: 'GIF, for the web', ending: '.gif', choice: automatic },
];

/** @type {[string, string][]} */
export const codecs = [
  ['libx264', 'H.264 (libx264)'], ['libx265', 'H.265 (libx265)'], ['libsvtav1', 'AV1 (libsvtav1)'], ['libaom-av1', 'AV1 (libaom)'],
  ['libvpx-vp9', 'VP9 (libvpx)'], ['prores_ks', 'ProRes'], ['dnxhd', 'DNxHR'], ['ffv1', 'FFV1, without loss'],
];
/** @type {[string, string][]} */
export const formats = [
  ['yuv420p', '8 bits 4:2:0 (yuv420p)'], ['yuv422p', '8 bits 4:2:2 (yuv422p)'], ['yuv444p', '8 bits 4:4:4 (yuv444p)'], ['yuv420p10', '10 bits 4:2:0 (yuv420p10)'],
  ['yuv422p10', '10 bits 4:2:2 (yuv422p10)'], ['yuv444p10', '10 bits 4:4:4 (yuv444p10)'], ['gbrp', '8 bits RGB (gbrp)'], ['gbrp16', '16 bits RGB (gbrp16)'],
];
/** @type {[string, string][]} */
export const withAlpha = [['yuva444p10', '10 bits 4:4:4 with alpha (yuva444p10)'], ['gbrap16', '16 bits RGB with alpha (gbrap16)']];
/** Transfers of the output, to which the samples are converted. @type {[string, string][]} */
export const transfers = [
  ['keep', 'as the input, nothing is converted'], ['bt709', 'BT.709'], ['iec61966-2-1', 'sRGB'], ['linear', 'linear light'], ['smpte2084', 'PQ'], ['arib-std-b67', 'HLG'],
];
/** @type {Record<string, [string, string][]>} */
export const tunings = {
  libx264: [[small, 'at most 12 Mbit/s'], ['tune=grain', 'tuned for grain'], ['tune=film', 'tuned for film'], ['tune=animation', 'tuned for animation']],
  libx265: [['tune=grain', 'tuned for grain'], ['tune=animation', 'tuned for animation']],
  prores_ks: [['profile=hq', '422 HQ'], ['profile=4444', '4444']],
  dnxhd: [['profile=dnxhr_hqx', 'DNxHR HQX']],
};
/** Encoders with a quality, and that which they have by default. @type {Record<string, number>} */
export const qualities = { libx264: 18, libx265: 20, libsvtav1: 28, 'libaom-av1': 28, 'libvpx-vp9': 24 };
/** Encoders that are known by another name. @type {Record<string, string>} */
export const encoderNames = Object.fromEntries(codecs.map(([id, name]) => [id, name.split(' (')[0].split(',')[0]]));

/** What the render loses, in a sentence or two; '' where nothing is lost.
 * @param {any} made what the server says @param {Choice} choice @param {boolean} alpha whether the picture has alpha
 * @param {boolean} fine whether the filters make grain */
export function warningOf(made, choice, alpha, fine) {
  const { encoder } = made;
  const crf = choice.crf === '' ? 18 : Number(choice.crf);
  const bits = made.lostBits ? `The result has more bits than ${made.format}: they are dithered to ${made.bits}.` : '';
  if (alpha && !/^(yuva|gbra|ya|rgba|bgra|argb|abgr)/.test(made.format)) return `${made.format} has no alpha, which is lost: ProRes 4444, FFV1, PNG and EXR keep it. ${bits}`.trim();
  if (bits) return bits;
  if (!fine) return '';
  if (/^lib(svtav1|aom|vpx)|^mpeg4|^librav1e/.test(encoder ?? '')) return `${encoderNames[encoder] ?? encoder} removes fine grain: H.265 tuned for grain, ProRes or DNxHR keep it.`;
  if (choice['codec-opt'] === small) return 'Fine grain is smoothed, so that the file stays small: H.264 tuned for grain keeps it.';
  if (/^libx26[45]$/.test(encoder ?? '') && (choice['codec-opt'] !== 'tune=grain' || crf > 20)) {
    return `${encoderNames[encoder]} ${crf > 20 ? `at quality ${crf}` : 'as it is set by default'} smooths fine grain: choose ${choice['codec-opt'] === 'tune=grain' ? '' : '“tuned for grain” and '}a quality of 16 or less.`;
  }
  return made.lostChroma ? `${made.format} has less colour resolution than the result: grain of colour becomes coarser.` : '';
}

/** What stands before the ending of an output, and the ending: that of images has the pattern of their names. @param {string} output */
export const split = (output) => {
  const ending = output.match(/(\/[^/]*%\d*d[^/]*|\.[^./]+)$/)?.[0] ?? '';
  return [output.slice(0, output.length - ending.length), ending];
};

// @ts-check What is seen of a picture: a part, a smaller size, or a difference, as the studio's server makes them.

/** @typedef {{width: number, height: number, data: Uint8ClampedArray<ArrayBuffer>}} Pixels */

/** @param {Pixels} of @param {number[]} region */
function cut(of, [x, y, w, h]) {
  x = Math.min(x, of.width - 1);
  y = Math.min(y, of.height - 1);
  const width = Math.max(1, Math.min(w, of.width - x));
  const height = Math.max(1, Math.min(h, of.height - y));
  const data = new Uint8ClampedArray(4 * width * height);
  for (let row = 0; row < height; row++) {
    const at = 4 * ((y + row) * of.width + x);
    data.set(of.data.subarray(at, at + 4 * width), 4 * row * width);
  }
  return { width, height, data };
}

/** The mean of the area that each pixel covers. @param {Pixels} of @param {number[]} size */
function shrunk(of, [width, height]) {
  const data = new Uint8ClampedArray(4 * width * height);
  const edge = (/** @type {number} */ i, /** @type {number} */ to, /** @type {number} */ from) => Math.floor((i * from) / to);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [edge(y, height, of.height), Math.max(edge(y, height, of.height) + 1, edge(y + 1, height, of.height))];
    for (let x = 0; x < width; x++) {
      const [left, right] = [edge(x, width, of.width), Math.max(edge(x, width, of.width) + 1, edge(x + 1, width, of.width))];
      let [r, g, b] = [0, 0, 0];
      for (let v = top; v < bottom; v++) {
        for (let at = 4 * (v * of.width + left); at < 4 * (v * of.width + right); at += 4) {
          r += of.data[at];
          g += of.data[at + 1];
          b += of.data[at + 2];
        }
      }
      const count = (right - left) * (bottom - top);
      data.set([r / count, g / count, b / count, 255], 4 * (y * width + x));
    }
  }
  return { width, height, data };
}

/** @param {Pixels} made the result @param {Pixels} before the source @param {URLSearchParams} view @returns {Pixels} */
export function shown(made, before, view) {
  const numbers = (/** @type {string} */ name) => view.get(name)?.split(',').map(Number);
  const [region, size] = [numbers('region'), numbers('size')];
  const part = (/** @type {Pixels} */ of) => (region ? cut(of, region) : size && (size[0] < of.width || size[1] < of.height) ? shrunk(of, size) : cut(of, [0, 0, of.width, of.height]));
  const out = part(view.get('side') === 'in' ? before : made);
  const gain = Number(view.get('gain') ?? 1);
  if (view.get('side') !== 'diff') return out;
  if (made.width !== before.width || made.height !== before.height) throw new Error(`no difference to show: the source has ${before.width}×${before.height} pixels, the result ${made.width}×${made.height}`);
  const under = part(before);
  for (let i = 0; i < out.data.length; i++) out.data[i] = i % 4 === 3 ? 255 : 128 + gain * (out.data[i] - under.data[i]);
  return out;
}

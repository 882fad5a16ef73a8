// @ts-check Timecode: the numbers of frames as hours, minutes, seconds and frames.

/** How many frames a second timecode counts (where the rate is not whole, the next whole number), and how many numbers it
 * leaves out in nine of ten minutes if it drops any. @param {number} rate @returns {[number, number]} */
function counting(rate) {
  const whole = Math.max(1, Math.round(rate));
  return [whole, Math.round(whole / 15)];
}

/** Two digits of a number's whole part. @param {number} n */
export const two = (n) => String(Math.floor(n)).padStart(2, '0');

/** `1:02:03`, `2:03`; with tenths `0:04.2` below a minute. @param {number} seconds @param {boolean} [tenths] */
export function clockText(seconds, tenths = false) {
  const s = tenths ? Math.round(seconds * 10) / 10 : seconds;
  const rest = tenths && s < 60 ? s.toFixed(1).padStart(4, '0') : two(s % 60);
  const minutes = Math.floor(s / 60);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

/** The frames before a timecode. @param {string} code @param {number} rate @param {boolean} [drops] */
export function framesOf(code, rate, drops = code.includes(';')) {
  const [h, m, s, f] = code.split(/[:;.]/).map(Number);
  const [whole, dropped] = counting(rate);
  const minutes = h * 60 + m;
  return (minutes * 60 + s) * whole + f - (drops ? dropped * (minutes - Math.floor(minutes / 10)) : 0);
}

/** The timecode after so many frames. @param {number} frames @param {number} rate @param {boolean} drops */
export function codeAt(frames, rate, drops) {
  const [whole, dropped] = counting(rate);
  let at = frames;
  if (drops) {
    const tens = Math.floor(at / (600 * whole - 9 * dropped));
    const rest = at % (600 * whole - 9 * dropped);
    at += dropped * (9 * tens + Math.max(0, Math.floor((rest - dropped) / (60 * whole - dropped))));
  }
  const seconds = Math.floor(at / whole);
  const parts = [(seconds / 3600) % 24, (seconds / 60) % 60, seconds % 60, at % whole].map(two);
  return `${parts.slice(0, 3).join(':')}${drops ? ';' : ':'}${parts[3]}`;
}

// @ts-check Steps to cuts and key frames, which the server looks for, and to markers.

import { get } from './api.js';
import { clip, frame, markers, reported, seek, signal, toast } from './state.js';
import { cutAt } from './cutting.js';

/** @type {AbortController | null} */
let searching = null;
export const isSearching = signal(false);

/** Goes to where the next scene begins, or the one before. Of a scene whose beginning is cut out, the first frame that is not
 * stands for it. A second search ends the first. */
export const seekScene = reported(async (/** @type {boolean} */ back) => {
  const c = clip.value;
  searching?.abort();
  const mine = (searching = new AbortController());
  if (!c) return;
  isSearching.value = true;
  try {
    const begin = frame.value;
    let found = null;
    for (let at = begin; ;) {
      found = (await get(`/scene/${c.id}/${at}?back=${back}`, mine.signal)).frame;
      const cut = found !== null && cutAt(found);
      if (!cut) break;
      at = cut[0];
      if (back && cut[1] + 1 >= begin) continue;
      found = cut[1] < c.last ? cut[1] + 1 : null;
      break;
    }
    if (found === null) toast(back ? 'this is the first frame' : 'no further cut');
    else seek(found);
  } finally {
    if (searching === mine) isSearching.value = false;
  }
});

/** Goes to the next frame at which decoding begins anew, or to the one before. */
export const seekKeyFrame = reported(async (/** @type {boolean} */ back) => {
  const c = clip.value;
  if (!c) return;
  let found = frame.value;
  do {
    const cut = cutAt(found);
    found = (await get(`/keyframe/${c.id}/${cut ? cut[back ? 0 : 1] : found}?back=${back}`)).frame;
  } while (found !== null && cutAt(found));
  if (found === null) toast(back ? 'no key frame before this one is known' : 'no further key frame is known');
  else seek(found);
});

export const stopSearch = () => searching?.abort();

/** Marks the frame, or takes its mark away. */
export function toggleMarker() {
  const n = frame.value;
  const others = markers.value.filter((m) => m !== n);
  markers.value = others.length < markers.value.length ? others : [...others, n].sort((a, b) => a - b);
}

/** @param {boolean} back */
export function seekMarker(back) {
  const found = back ? markers.value.findLast((m) => m < frame.value) : markers.value.find((m) => m > frame.value);
  if (found !== undefined) seek(found);
}

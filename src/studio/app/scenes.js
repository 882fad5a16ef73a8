// @ts-check Steps to cuts and key frames, which the server looks for.

import { get } from './api.js';
import { clip, frame, report, seek, signal, toast } from './state.js';

/** @type {AbortController | null} */
let searching = null;
export const isSearching = signal(false);

/** Goes to where the next scene begins, or the one before. A second search ends the first. @param {boolean} back */
export async function seekScene(back) {
  const c = clip.value;
  searching?.abort();
  const mine = (searching = new AbortController());
  if (!c) return;
  isSearching.value = true;
  try {
    const { frame: found } = await get(`/scene/${c.id}/${frame.value}?back=${back}`, mine.signal);
    if (found === null) toast(back ? 'this is the first frame' : 'no further cut');
    else seek(found);
  } catch (error) {
    report(error);
  } finally {
    if (searching === mine) isSearching.value = false;
  }
}

/** Goes to the next frame at which decoding begins anew, or to the one before. @param {boolean} back */
export async function seekKeyFrame(back) {
  const c = clip.value;
  if (!c) return;
  try {
    const { frame: found } = await get(`/keyframe/${c.id}/${frame.value}?back=${back}`);
    if (found === null) toast(back ? 'no key frame before this one is known' : 'no further key frame is known');
    else seek(found);
  } catch (error) {
    report(error);
  }
}

export function stopSearch() {
  searching?.abort();
}

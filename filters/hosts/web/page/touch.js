// @ts-check Fingers: two on a picture zoom it, and one that scrolls the page moves neither the slider nor the playhead that it
// began on.

import { doc, frame, seek, undo } from './state.js';
import { panes, zoomTo } from './viewer.js';

/** @param {HTMLElement} view */
export function startTouch(view) {
  /** Where fingers are on the pictures. @type {Map<number, PointerEvent>} */
  const fingers = new Map();
  /** The distance between two and the zoom when the second one came. */
  let began = { distance: 0, zoom: 0 };
  const distance = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  };
  const paneOf = (/** @type {PointerEvent} */ e) => [...panes.values()].find((p) => p.canvas === e.target);
  view.addEventListener('pointerdown', (e) => {
    const pane = paneOf(e);
    if (e.pointerType !== 'touch' || !pane) return;
    fingers.set(e.pointerId, e);
    if (fingers.size !== 2) return;
    began = { distance: distance(), zoom: pane.zoom() };
    e.stopPropagation();
  }, true);
  view.addEventListener('pointermove', (e) => {
    const pane = paneOf(e);
    if (!fingers.has(e.pointerId) || !pane) return;
    fingers.set(e.pointerId, e);
    if (fingers.size < 2) return;
    e.stopPropagation();
    const [a, b] = [...fingers.values()];
    const box = pane.canvas.getBoundingClientRect();
    const scale = pane.canvas.width / box.width;
    zoomTo((began.zoom * distance()) / began.distance, pane, [
      ((a.clientX + b.clientX) / 2 - box.left) * scale - pane.canvas.width / 2, ((a.clientY + b.clientY) / 2 - box.top) * scale - pane.canvas.height / 2,
    ]);
  }, true);
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, (e) => fingers.delete(/** @type {PointerEvent} */ (e).pointerId), true);

  /** @type {{slider: HTMLInputElement, value: string, doc: unknown} | null} */
  let held = null;
  /** The frame that was shown before a finger came on a curve. @type {number | null} */
  let before = null;
  const onCurve = (/** @type {Event} */ e) => /** @type {Element} */ (e.target).closest('.curves') !== null;
  addEventListener('pointerdown', (e) => {
    const slider = /** @type {HTMLInputElement} */ (e.target);
    const isTouch = e.pointerType === 'touch';
    held = isTouch && slider.type === 'range' ? { slider, value: slider.value, doc: doc.value } : null;
    before = isTouch && onCurve(e) ? frame.value : null;
  }, true);
  // Beside a key or a handle, which `pointerdown` has chosen by now, a finger on a curve may scroll.
  addEventListener('touchstart', (e) => {
    if (onCurve(e) && document.querySelector('.curves .key.chosen')) e.preventDefault();
  }, { passive: false });
  // The browser takes the finger to scroll with.
  addEventListener('pointercancel', () => {
    if (before !== null) seek(before);
    before = null;
    if (!held) return;
    const { slider, value, doc: was } = held;
    held = null;
    if (doc.value !== was) undo();
    else if (slider.value !== value) {
      slider.value = value;
      slider.dispatchEvent(new Event('input'));
    }
  });
}

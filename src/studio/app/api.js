// @ts-check Communicates with the server: the token, JSON, frames as raw pixels, and the socket for events.

/** The unsaved work that this page was opened for. */
const work = new URLSearchParams(location.search).get('work') ?? '';

/** The key of this page, from the address; it is kept for this tab alone and taken out of sight. */
const token = (() => {
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(given)) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem('token') ?? '';
})();

/** Whether this page has a command: all of them; one without a server has fewer. @param {string} _id */
export const has = (_id) => true;

/** An error that the server reports. */
export class ApiError extends Error {
  /** @param {number} status @param {{text: string, line?: number, step?: number, setting?: string}} error */
  constructor(status, error) {
    super(error.text);
    this.status = status;
    this.error = error;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...options.headers };
  const response = await fetch(`/api${path}`, { ...options, headers });
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new ApiError(response.status, body.error ?? { text: `the studio answers ${response.status}` });
  }
  return response;
}

/** @param {string} path @param {AbortSignal} [signal] */
export async function get(path, signal) {
  return (await ask(path, { signal })).json();
}

/** The name of this tab for its unsaved work. */
export const tab = () => sessionStorage.getItem('tab') ?? '';

/** What the page begins with. */
export async function begin() {
  const told = await get(`/session?${new URLSearchParams({ tab: tab(), work })}`);
  sessionStorage.setItem('tab', told.tab);
  return told;
}

/** Opens unsaved work in a new tab, which does not share the storage of this one. @param {string} id */
export const openWork = (id) => window.open(`/?work=${id}#${token}`, '_blank', 'noopener');

/** A file's bytes. @param {string} path @param {AbortSignal} [signal] */
export async function blob(path, signal) {
  return (await ask(path, { signal })).blob();
}

/** @param {string} path @param {unknown} body @param {'POST' | 'PUT'} [method] @param {AbortSignal} [signal]
 * @param {boolean} [keepalive] whether it is sent even if the page ends meanwhile */
export async function post(path, body, method = 'POST', signal, keepalive = false) {
  const headers = { 'Content-Type': 'application/json' };
  return (await ask(path, { method, headers, body: JSON.stringify(body), signal, keepalive })).json();
}

/** `exact` where no key frame ever stands for another frame. @typedef {{image: ImageData, number: number, exact?: true}} Picture */

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<Picture>} */
export async function picture(path, signal) {
  const response = await ask(path, { signal });
  const width = Number(response.headers.get('X-Width'));
  const bytes = new Uint8ClampedArray(await response.arrayBuffer());
  return { image: new ImageData(bytes, width), number: Number(response.headers.get('X-Number')) };
}

/**
 * Listens to what happens, for as long as the page is open.
 * @param {(told: any) => void} each
 * @param {(connected: boolean) => void} changed
 */
export function listen(each, changed) {
  const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/events`);
  socket.onopen = () => socket.send(`${token} ${tab()}`);
  socket.onmessage = ({ data }) => {
    const told = JSON.parse(data);
    if (told.type === 'hello') changed(true);
    else each(told);
  };
  socket.onclose = () => {
    changed(false);
    setTimeout(() => listen(each, changed), 1500);
  };
}

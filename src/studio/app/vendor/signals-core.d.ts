export interface ReadonlySignal<T> {
  readonly value: T;
  peek(): T;
}
export interface Signal<T> extends ReadonlySignal<T> {
  value: T;
}
export function signal<T>(value: T): Signal<T>;
export function computed<T>(work: () => T): ReadonlySignal<T>;
/** Runs `work` now and whenever a signal that it has read changes, until the function that is returned is called. */
export function effect(work: () => unknown): () => void;
export function batch<T>(work: () => T): T;
export function untracked<T>(work: () => T): T;

/** What `html` and `svg` make; `render` puts it on the page. */
export interface TemplateResult {
  strings: TemplateStringsArray;
  values: unknown[];
}
export function html(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export function svg(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export const nothing: unique symbol;
export function render(value: unknown, container: HTMLElement): unknown;

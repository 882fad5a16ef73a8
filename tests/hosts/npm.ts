// The types of the package for pages and Node, used rightly and wrongly: a wrong line that compiles is an error.
import { Grainfield, GrainfieldError, load } from 'grainfield';
import type { Picture, Recipe } from 'grainfield';
import * as code from './index.js';

// The code has what the types say.
const _code: typeof import('grainfield') = code;

const grainfield: Grainfield = await load(new Uint8Array(8));
const image: ImageData = grainfield.apply(new ImageData(2, 2), 'grain', { frame: 3, seed: 7n, rate: [25, 1] });
const picture: Picture = grainfield.apply({ width: 1, height: 1, data: new Uint8Array(4) }, 'noise');
const recipe: Recipe = { steps: [{ name: 'grain', values: { preset: '35mm' } }], seed: '0x10' };
const size: number | undefined = grainfield.check(recipe, { width: 8, height: 8 }).made?.width;
const least: number | undefined = grainfield.catalog()[0].settings[0].min;
const looks: string[] = grainfield.looks().map((look) => look.recipe.steps[0].name);
const place = (error: unknown) => (error instanceof GrainfieldError ? error.fault.span?.start : undefined);
export { _code, image, least, looks, picture, place, size };

// @ts-expect-error a picture has a height
grainfield.apply({ width: 1, data: new Uint8Array(4) }, 'noise');
// @ts-expect-error samples have 8 bits
grainfield.apply({ width: 1, height: 1, data: new Uint16Array(4) }, 'noise');
// @ts-expect-error a chain is text
grainfield.apply(image, recipe);
// @ts-expect-error a frame has a number
grainfield.apply(image, 'noise', { frame: '3' });
// @ts-expect-error there is no such option
grainfield.apply(image, 'noise', { sead: 7 });
// @ts-expect-error a rate is a fraction
grainfield.check('noise', { width: 8, height: 8, rate: 25 });
// @ts-expect-error the values of settings are text
grainfield.check({ steps: [{ name: 'noise', values: { strength: 8 } }] });
// @ts-expect-error pictures of a size need both
grainfield.check('noise', { width: 8 });
// @ts-expect-error there must be a module
load(null);

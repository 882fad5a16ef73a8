// Filters frames with the package for pages: `node web.mjs PACKAGE`, jobs as JSON on standard input, hashes on standard output.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { GrainfieldError, load } = await import(pathToFileURL(`${process.argv[2]}/index.js`));
const grainfield = await load();

/** As the command line's hash: planes G, B, R and A. */
function md5({ data }, alpha) {
  const hash = createHash('md5');
  for (const channel of alpha ? [1, 2, 0, 3] : [1, 2, 0]) hash.update(data.filter((_, i) => i % 4 === channel));
  return hash.digest('hex');
}

const error = (run) => {
  try {
    return run();
  } catch (e) {
    if (!(e instanceof GrainfieldError)) throw e;
    return { error: e.fault };
  }
};
const { jobs, asks } = JSON.parse(readFileSync(0, 'utf8'));
const hashes = jobs.map(({ frames, width, height, alpha, chain, seed }) => error(() => frames.map((file, frame) => {
  const data = new Uint8Array(readFileSync(file));
  return md5(grainfield.apply({ width, height, data }, chain, { frame, seed, alpha, last: frames.length - 1 }), alpha);
})));
const answers = asks.map(([name, ...given]) => error(() => grainfield[name](...given)));
process.stdout.write(JSON.stringify({ hashes, answers }));

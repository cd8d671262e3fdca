// What lets a bundle contain several services, each of which reads files of its own folder at run time.
import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';

const OWN_URL = /\bimport\.meta\.url\b/g;

/**
 * A plugin for esbuild that lets a service in the bundle of another package find its files, such as migrations, as from
 * its own `dist/main.js`: all modules of a bundle have the bundle's URL.
 */
export function filesOfServices(outdir) {
  return {
    name: 'files of services',
    setup(build) {
      build.onLoad({ filter: /\/services\/[^/]+\/src\/.*\.ts$/ }, async ({ path }) => {
        const [service] = /^.*\/services\/[^/]+(?=\/src\/)/.exec(path);
        if (service === process.cwd()) return null;
        const text = await readFile(path, 'utf8');
        const main = JSON.stringify(relative(resolve(outdir), `${service}/dist/main.js`));
        return { contents: text.replace(OWN_URL, `new URL(${main}, import.meta.url).href`), loader: 'ts' };
      });
    },
  };
}

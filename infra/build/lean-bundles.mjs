// What keeps a bundle small in memory, for as long as its process runs: V8 holds the whole source text.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * A plugin for esbuild that leaves Prisma's compiler of queries in a file of its own, as bytes: it comes as a module of
 * 4.6 MB with their base64, which would be held twice, in the bundle's text and as its value.
 */
export function compilersInFiles(outdir) {
  return {
    name: 'compilers in files',
    setup(build) {
      build.onLoad({ filter: /\.wasm-base64\.m?js$/ }, async ({ path }) => {
        const [, text] = /^const wasm = "([\w+/=]+)"/m.exec(await readFile(path, 'utf8')) ?? [];
        if (text === undefined) return { errors: [{ text: `${path} does not have the form of Prisma's modules.` }] };
        const name = `${basename(path).split('.wasm')[0]}.wasm`;
        const read = `readFileSync(new URL(${JSON.stringify(`./${name}`)}, import.meta.url))`;
        await mkdir(outdir, { recursive: true });
        await writeFile(join(outdir, name), Buffer.from(text, 'base64'));
        return { contents: `import { readFileSync } from 'node:fs';\nexport const wasm = ${read};\n` };
      });
    },
  };
}

/**
 * Writes characters beyond Latin-1 as escapes: a single one doubles the memory of the whole text. esbuild escapes those
 * in strings; what it leaves is in comments and in templates with a tag.
 */
export async function escapeWideCharacters(file) {
  const text = await readFile(file, 'utf8');
  const escaped = text.replace(/[\u0100-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped !== text) await writeFile(file, escaped);
}

// What keeps a bundle small in memory, for as long as its process runs: V8 holds the whole source text.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { transform } from 'esbuild';

const WIDE = /[\u0100-\uffff]/;
const WIDE_ALL = new RegExp(WIDE, 'g');

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
 * in strings and names; what it leaves is in comments, in regular expressions and in templates with a
 * tag.
 */
export async function escapeWideCharacters(file) {
  const text = await readFile(file, 'utf8');
  const escaped = text.replace(/\\*[\u0100-\uffff]/g, (found) => {
    const [slashes, code] = [found.slice(0, -1), found.charCodeAt(found.length - 1)];
    // A regular expression may escape the character itself: that backslash would become a part of what it matches.
    const before = slashes.slice(slashes.length % 2);
    return `${before}\\u${code.toString(16).padStart(4, '0')}`;
  });
  if (escaped !== text) await writeFile(file, escaped);
}

/**
 * Finds templates with a tag that have characters beyond Latin-1: the tag may see how they are written, as `String.raw`
 * does, and escaped they would be something else.
 *
 * @param files that a bundle is made of
 * @returns a sentence for each file with one
 */
export async function findWideTemplates(files) {
  const faults = [];
  for (const file of files) {
    const loader = /^[^(].*\.[cm]?([jt]sx?)$/.exec(file)?.[1];
    const text = loader && (await readFile(file, 'utf8'));
    if (!text || !WIDE.test(text)) continue;
    const options = { loader, target: 'node20', minifyWhitespace: true, legalComments: 'none', logLevel: 'silent' };
    const { code } = await transform(text, options);
    if (!WIDE.test(code)) continue;
    // Without templates, what is left is in regular expressions alone.
    const { code: other } = await transform(text, { ...options, supported: { 'template-literal': false } });
    if (other.match(WIDE_ALL)?.length === code.match(WIDE_ALL)?.length) continue;
    faults.push(`${file} has a character beyond Latin-1 in a template with a tag: insert it as a string literal.`);
  }
  return faults;
}

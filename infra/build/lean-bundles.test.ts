import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { compilersInFiles, escapeWideCharacters, findWideTemplates } from './lean-bundles.mjs';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'runyard-bundle-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

it('a bundle has no character that would double its memory, and says what it said', async () => {
  const file = join(await folder(), 'bundle.mjs');
  await writeFile(
    file,
    '// ’ \\’\nexport const texts = ["ü", "😀", "a\\\\–"];\nexport const expressions = [/^\\–$/, /^[\\’–]$/, /^\\\\–$/, /^[😀]$/u];\n',
  );
  await escapeWideCharacters(file);
  expect(await readFile(file, 'utf8')).not.toMatch(/[\u0100-\uffff]/);
  const { texts, expressions } = await import(pathToFileURL(file).href);
  expect(texts).toEqual(['ü', '😀', 'a\\–']);
  const matched = ['–', '’', '\\–', '😀'].map((text, index) => expressions[index].test(text));
  expect(matched).toEqual([true, true, true, true]);
});

it('a template is refused whose tag could see how a character beyond Latin-1 is written', async () => {
  const made = await folder();
  const files = {
    'raw.mjs': 'export const raw = String.raw`a – b`;',
    'tagged.ts': 'const tag = ([text]: TemplateStringsArray): string => text!;\nexport const tagged = tag`–` + /–/;',
    'elsewhere.mjs': 'export const texts = ["–", `a –`, /–/, String.raw`ü`]; // String.raw`–`',
    'data.json': '{"text": "–"}',
  };
  const paths = Object.keys(files).map((name) => join(made, name));
  for (const [name, text] of Object.entries(files)) await writeFile(join(made, name), text);
  expect(await findWideTemplates(['(disabled):fs', ...paths])).toEqual([
    expect.stringMatching(/raw\.mjs has a character beyond Latin-1 in a template with a tag/),
    expect.stringMatching(/tagged\.ts has/),
  ]);
});

it('a compiler of queries is read from a file beside the bundle, byte by byte', async () => {
  const [source, outdir] = [await folder(), join(await folder(), 'dist')];
  const bytes = Buffer.from('\0asm compiler');
  await writeFile(
    join(source, 'main.mjs'),
    'export const { wasm } = await import("./compiler_bg.postgresql.wasm-base64.mjs");',
  );
  await writeFile(
    join(source, 'compiler_bg.postgresql.wasm-base64.mjs'),
    `const wasm = "${bytes.toString('base64')}";\nexport { wasm }`,
  );
  const entryPoints = [join(source, 'main.mjs')];
  await build({
    ...{ entryPoints, outdir, bundle: true, platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' } },
    plugins: [compilersInFiles(outdir)],
  });
  expect(await readFile(join(outdir, 'main.mjs'), 'utf8')).not.toContain(bytes.toString('base64'));
  expect(Buffer.from((await import(pathToFileURL(join(outdir, 'main.mjs')).href)).wasm)).toEqual(bytes);
});

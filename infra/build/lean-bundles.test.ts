import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { compilersInFiles, escapeWideCharacters } from './lean-bundles.mjs';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'runyard-bundle-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

it('a bundle has no character that would double its memory, and says what it said', async () => {
  const file = join(await folder(), 'bundle.mjs');
  await writeFile(file, '// ’\nconst tag = ([text]) => text;\nexport const texts = [tag`a – b`, "ü", "😀"];\n');
  await escapeWideCharacters(file);
  expect(await readFile(file, 'utf8')).not.toMatch(/[\u0100-\uffff]/);
  expect((await import(pathToFileURL(file).href)).texts).toEqual(['a – b', 'ü', '😀']);
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

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const entry = fileURLToPath(new URL('./main.ts', import.meta.url));

it('the process that runs a project loads no database driver, web framework or logger of a service', async () => {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    external: ['@langchain/*'],
  });
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  expect([...new Set(packages)].sort()).toEqual(['@hono/node-server', 'hono']);
});

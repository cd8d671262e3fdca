import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type BuiltImage, buildWithoutEngine } from './build-without-engine.ts';
import { parseDockerfile } from './dockerfile.ts';

const repository = join(import.meta.dirname, '../..');
const images: BuiltImage[] = [];
afterEach(async () => {
  for (const { root } of images.splice(0)) await rm(dirname(root), { recursive: true, force: true });
});

async function runIn(folder: string, image: BuiltImage): Promise<{ code: number | null; output: string }> {
  const [program = '', ...args] = image.command;
  const child = spawn(program, args, { cwd: folder, env: { PATH: process.env.PATH, ...image.environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

describe('the Dockerfile of', () => {
  it.each([
    ['gateway', 'CONTROL_PLANE_URL'],
    ['org-access', 'DATABASE_URI'],
    ['control-plane', 'DATA_POSTGRES_URI'],
    ['agent-api', 'PROJECT_DIR'],
    ['run-worker', 'PROJECT_DIR'],
  ])(
    '%s builds from a clean folder into something that starts, and asks for its configuration',
    async (service, variable) => {
      const image = await buildWithoutEngine(repository, `services/${service}/Dockerfile`);
      images.push(image);
      const { code, output } = await runIn(image.workingDirectory, image);
      expect(output).toContain(`${service}: ${variable}`);
      expect(code).toBe(78);
      for (const path of Object.entries(image.environment).filter(([name]) => name.endsWith('_COMMAND'))) {
        const bundled = dirname(dirname(join(image.root, path[1])));
        expect((await runIn(bundled, image)).code).toBe(78);
      }
    },
  );
});

describe('parseDockerfile', () => {
  it('gives the stages by name, with continued lines joined and comments left out', () => {
    const text = '# one\nFROM a:1 AS build\nRUN x \\\n  y\n\nFROM b\n# two\nCOPY --from=build /out .\n';
    expect(parseDockerfile(text)).toEqual([
      { name: 'build', instructions: [{ name: 'RUN', text: 'x    y' }] },
      { name: '1', instructions: [{ name: 'COPY', text: '--from=build /out .' }] },
    ]);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { type DockerfileOptions, generateDockerfile } from '../src/docker/dockerfile.ts';
import { openProject } from '../src/project/project.ts';
import { projectFolder, removeFolders } from './support/command.ts';

afterAll(removeFolders);

/** Returns the RUN lines of the project's Dockerfile. */
async function runLines(files: Record<string, string>, options: Partial<DockerfileOptions> = {}): Promise<string[]> {
  const folder = projectFolder('agent', files);
  const commands = { baseImage: 'base', installCommand: undefined, buildCommand: undefined };
  const text = await generateDockerfile(await openProject(folder), { folder, ...commands, ...options });
  return text.split('\n').filter((line) => line.startsWith('RUN '));
}

const fetching = (name: string, release: string, more = '') =>
  `RUN mkdir -p /tmp/package-managers/${name} && cd /tmp/package-managers/${name} && echo '{ "private": true }' > package.json && ` +
  `npm install --no-audit --no-fund --no-save --ignore-scripts ${release}${more}`;
const at = (name: string) => `export PATH="/tmp/package-managers/${name}/node_modules/.bin:$PATH"`;

describe('an image', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['npm', { 'package-lock.json': '{}' }, ['RUN npm ci --no-audit --no-fund']],
    ['npm, unlocked', {}, ['RUN npm i --no-audit --no-fund']],
    [
      'pnpm of its time',
      { 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" },
      [fetching('pnpm', 'pnpm@8.15.9'), `RUN ${at('pnpm')} && pnpm i --frozen-lockfile`],
    ],
    [
      'the first yarn',
      { 'yarn.lock': '# yarn lockfile v1\n' },
      [fetching('yarn', 'yarn@1.22.22'), `RUN ${at('yarn')} && yarn install --frozen-lockfile`],
    ],
    [
      'yarn of today',
      { 'yarn.lock': '__metadata:\n  version: 8\n' },
      [
        fetching('yarn', '@yarnpkg/cli-dist@4.12.0'),
        `RUN ${at('yarn')} YARN_NODE_LINKER=node-modules YARN_ENABLE_TELEMETRY=0 && yarn install --immutable`,
      ],
    ],
    [
      'bun',
      { 'bun.lock': '{}' },
      [
        fetching('bun', 'bun@1.4.5', ' && node node_modules/bun/install.js'),
        `RUN ${at('bun')} && bun install --frozen-lockfile`,
      ],
    ],
    [
      'what packageManager names',
      { 'package.json': '{"packageManager":"pnpm@9.15.0"}' },
      [fetching('pnpm', 'pnpm@9.15.0'), `RUN ${at('pnpm')} && pnpm i`],
    ],
  ])('is installed by %s', async (_, files, expected) => {
    expect(await runLines(files)).toEqual(expected);
  });

  it('installs the package managers of its own commands, once', async () => {
    expect(await runLines({}, { installCommand: 'pnpm install --prod', buildCommand: 'pnpm build' })).toEqual([
      fetching('pnpm', 'pnpm@10.34.8'),
      `RUN unset NODE_ENV && ${at('pnpm')} && pnpm install --prod`,
      `RUN unset NODE_ENV && ${at('pnpm')} && pnpm build`,
    ]);
  });

  it('is built with the package manager that installed it', async () => {
    const lines = await runLines({ 'pnpm-lock.yaml': '' }, { buildCommand: 'npm run build' });
    expect(lines.at(-1)).toBe(`RUN unset NODE_ENV && ${at('pnpm')} && npm run build`);
  });
});

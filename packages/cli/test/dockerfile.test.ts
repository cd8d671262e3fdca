import { afterAll, describe, expect, it } from 'vitest';
import { type DockerfileOptions, generateDockerfile } from '../src/docker/dockerfile.ts';
import { openProject } from '../src/project/project.ts';
import { projectFolder, removeFolders } from './support/command.ts';

afterAll(removeFolders);

async function dockerfileOf(files: Record<string, string>, options: Partial<DockerfileOptions> = {}): Promise<string> {
  const folder = projectFolder('agent', files);
  const commands = { baseImage: 'base', installCommand: undefined, buildCommand: undefined };
  return generateDockerfile(await openProject(folder), { folder, ...commands, ...options });
}

async function runLines(...of: Parameters<typeof dockerfileOf>): Promise<string[]> {
  return (await dockerfileOf(...of)).split('\n').filter((line) => line.startsWith('RUN '));
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

  it('has the lines of langgraph.json before anything of the project', async () => {
    const config = { graphs: { agent: './a.ts:graph' }, dockerfile_lines: ['ARG TOKEN', 'RUN apt-get update'] };
    const text = await dockerfileOf({ 'langgraph.json': JSON.stringify(config) });
    expect(text).toMatch(/^FROM base\nARG TOKEN\nRUN apt-get update\nCOPY --chown=node:node \. /);
    const wrong = dockerfileOf({ 'langgraph.json': JSON.stringify({ ...config, dockerfile_lines: 'RUN x' }) });
    await expect(wrong).rejects.toThrow('"dockerfile_lines" of langgraph.json is a list of lines.');
  });

  describe('of a project in Python', () => {
    const config = { graphs: { agent: { path: './agent.py:graph' } } };
    const files = {
      'langgraph.json': JSON.stringify(config),
      'requirements-dev.txt': '',
      'setup.py': '',
      'uv.toml': '',
      'libs/my tools/pyproject.toml': '',
      'libs/other/module.py': '',
      // COPY would expand these.
      "Tom's/requirements.txt": '',
      'libs/[ab]/requirements.txt': '',
      'libs/$x/requirements.txt': '',
    };

    it('is installed by the base image, first what needs no code, in a layer of its own', async () => {
      const text = await dockerfileOf(files);
      expect(text.split('\n')).toEqual([
        'FROM base',
        'COPY --chown=node:node ["langgraph.json","requirements-dev.txt","setup.py","uv.toml","/deps/project/"]',
        'COPY --chown=node:node ["libs/my tools/pyproject.toml","/deps/project/libs/my tools/"]',
        'RUN cd /deps/project && LANGGRAPH_CONFIG_PATH=langgraph.json runyard-agent install --ahead',
        'COPY --chown=node:node . /deps/project',
        'WORKDIR /deps/project',
        expect.stringMatching(/^ENV LANGSERVE_GRAPHS=/),
        'ENV PROJECT_DIR=/deps/project LANGGRAPH_CONFIG_PATH="langgraph.json"',
        'RUN runyard-agent install',
        '',
      ]);
    });

    it.each([{ pip_config_file: './pip.conf' }, { pip_installer: 'pip' }])(
      'has no such layer with %j',
      async (more) => {
        const lines = await runLines({ ...files, 'langgraph.json': JSON.stringify({ ...config, ...more }) });
        expect(lines).toEqual(['RUN runyard-agent install']);
      },
    );

    it('is installed by the commands of its author in the environment that it runs in', async () => {
      const lines = await runLines(files, { installCommand: 'pip install .', buildCommand: 'echo "built" > done' });
      expect(lines).toEqual([
        `RUN runyard-agent install --install-command 'pip install .' --build-command 'echo "built" > done'`,
      ]);
    });
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../project/project.ts';

/** By lock file: what installs just what it says. Of pnpm the major version that reads today's lock files, whatever is newest. */
const INSTALLS = [
  { lockFile: 'pnpm-lock.yaml', command: 'npx --yes pnpm@10 install --frozen-lockfile' },
  { lockFile: 'yarn.lock', command: 'npx --yes yarn install --frozen-lockfile' },
  { lockFile: 'bun.lock', command: 'npx --yes bun install --frozen-lockfile' },
  { lockFile: 'bun.lockb', command: 'npx --yes bun install --frozen-lockfile' },
  { lockFile: 'package-lock.json', command: 'npm ci --no-audit --no-fund' },
];
const WITHOUT_LOCK_FILE = 'npm install --no-audit --no-fund';

/** Where the project lies in its image. */
const PROJECT = '/deps/project';

/**
 * The Dockerfile of a project's image. Graphs and the handler of `auth` stand in variables too, as in images that other
 * commands build: whoever runs the image need not look inside.
 */
export function dockerfileOf(
  project: Project,
  options: { baseImage: string; installCommand: string | undefined; buildCommand: string | undefined },
): string {
  const { config, folder } = project;
  const sections = { LANGSERVE_GRAPHS: config.graphs, LANGGRAPH_AUTH: config.auth };
  const variables = Object.entries(sections).filter(([, section]) => section !== undefined);
  return [
    `FROM ${options.baseImage}`,
    // Before WORKDIR, which would make the folder for root alone: it is installed and run by another.
    `COPY --chown=node:node . ${PROJECT}`,
    `WORKDIR ${PROJECT}`,
    ...variables.map(([name, section]) => `ENV ${name}=${quoted(JSON.stringify(section))}`),
    `ENV PROJECT_DIR=${PROJECT} LANGGRAPH_CONFIG_PATH=${quoted(project.configPath)}`,
    `RUN ${options.installCommand ?? installCommandOf(folder)}`,
    ...(options.buildCommand === undefined ? [] : [`RUN ${options.buildCommand}`]),
    '',
  ].join('\n');
}

function installCommandOf(folder: string): string {
  return INSTALLS.find(({ lockFile }) => existsSync(join(folder, lockFile)))?.command ?? WITHOUT_LOCK_FILE;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\$]/g, '\\$&')}"`;
}

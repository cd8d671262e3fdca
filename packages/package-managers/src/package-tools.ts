import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentName } from 'package-manager-detector';
import type { Manifest } from './manifest.ts';

export type PackageAgent = 'npm' | 'pnpm' | 'yarn' | 'yarn@berry' | 'bun';

/** A package manager as it is had from the registry. */
export interface PackageTool {
  name: AgentName;
  /** Yarn is two programs: the first major version, and what came after it. */
  agent: Exclude<PackageAgent, 'npm'>;
  /** What npm installs: `pnpm@10.34.8`. */
  package: string;
}

/** Yarn's Plug'n'Play is overruled: what loads the graphs looks for packages where Node.js does. */
export const YARN_VARIABLES = { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_TELEMETRY: '0' } as const;

/** What a package manager has to be told by its environment. */
export function variablesOf(tool: PackageTool | null): Record<string, string> {
  return tool?.agent === 'yarn@berry' ? YARN_VARIABLES : {};
}

/** A file that says which release of each package is installed. */
export interface Lock {
  /** The version of the format; null where all releases of the manager read it. */
  format: number | null;
}

const LOCK_FILES: Record<PackageAgent, string[]> = {
  npm: ['package-lock.json', 'npm-shrinkwrap.json'],
  pnpm: ['pnpm-lock.yaml'],
  yarn: ['yarn.lock'],
  'yarn@berry': ['yarn.lock'],
  bun: ['bun.lock', 'bun.lockb'],
};
const PNPM_FORMAT = /^lockfileVersion: *'?(\d+)/m;
const BERRY_FORMAT = /^__metadata:\s+version: *"?(\d+)/m;

/** Yarn calls what follows its first major version by another name in the registry. */
const PACKAGES = { pnpm: 'pnpm', yarn: 'yarn', 'yarn@berry': '@yarnpkg/cli-dist', bun: 'bun' } as const;

/**
 * Fetched where a project names a package manager and no release of it: exact ones, so that a build does not depend on the
 * day it is made on. Newer ones refuse lock files of older formats, so each goes with those below the number before it.
 */
const RELEASES: Record<PackageTool['agent'], [belowFormat: number, release: string][]> = {
  pnpm: [
    [6, '7.33.7'],
    [9, '8.15.9'],
    [Number.POSITIVE_INFINITY, '10.34.8'],
  ],
  yarn: [[Number.POSITIVE_INFINITY, '1.22.22']],
  'yarn@berry': [
    [5, '2.4.2'],
    [8, '3.8.7'],
    [9, '4.12.0'],
    [10, '4.14.1'],
    [Number.POSITIVE_INFINITY, '4.18.1'],
  ],
  bun: [[Number.POSITIVE_INFINITY, '1.4.5']],
};

/** The lock file of a package manager in the folder; null when there is none. */
export async function lockOf(folder: string, agent: PackageAgent): Promise<Lock | null> {
  for (const file of LOCK_FILES[agent]) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => null);
    if (text === null) continue;
    const [, format] = (agent === 'pnpm' ? PNPM_FORMAT : BERRY_FORMAT).exec(text) ?? [];
    return { format: format === undefined ? null : Number(format) };
  }
  return null;
}

/**
 * The release of a package manager that a project is installed with: the one that its `package.json` names (`packageManager`, or
 * `devEngines` with an exact version), else the one that goes with its lock file. Null for npm, which comes with Node.js.
 */
export function toolOf(agent: PackageAgent, manifest: Manifest | null, lock: Lock | null): PackageTool | null {
  if (agent === 'npm') return null;
  const name = agent === 'yarn@berry' ? 'yarn' : agent;
  const named = releaseNamed(manifest, name);
  const isBerry =
    name === 'yarn' && (named ? Number.parseInt(named, 10) > 1 : agent !== 'yarn' || lock?.format != null);
  const known = isBerry ? 'yarn@berry' : name;
  return { name, agent: known, package: `${PACKAGES[known]}@${named ?? usualRelease(known, lock)}` };
}

function usualRelease(agent: PackageTool['agent'], lock: Lock | null): string {
  const format = lock?.format ?? Number.MAX_SAFE_INTEGER;
  return RELEASES[agent].find(([below]) => format < below)?.[1] as string;
}

const RELEASE = /^\d+(?:\.\d+){0,2}(?:-[\w.]+)?$/;

function releaseNamed(manifest: Manifest | null, name: AgentName): string | undefined {
  const [field, version] = fieldOf(manifest?.packageManager) ?? engineOf(manifest?.devEngines) ?? [];
  return field === name && version !== undefined && RELEASE.test(version) ? version : undefined;
}

/** `<name>@<version>`, with a digest behind `+` at will: the registry's own is checked by npm. */
function fieldOf(packageManager: unknown): [name: string, version: string | undefined] | undefined {
  if (typeof packageManager !== 'string') return undefined;
  const [name = '', version] = packageManager.replace(/\+.*$/, '').split('@');
  return [name, version];
}

/** Mostly a range there: then it says which package manager, and no release of it. */
function engineOf(devEngines: unknown): [name: string, version: string | undefined] | undefined {
  const { name, version } =
    (devEngines as { packageManager?: Record<string, unknown> } | undefined)?.packageManager ?? {};
  return typeof name === 'string' ? [name, typeof version === 'string' ? version : undefined] : undefined;
}

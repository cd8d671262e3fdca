import { join } from 'node:path';
import { readRegularFile } from '@runyard/regular-files';
import type { AgentName } from 'package-manager-detector';
import type { Manifest } from './manifest.ts';

export type PackageAgent = 'npm' | 'pnpm' | 'yarn' | 'yarn@berry' | 'bun';

/** A package manager with its package in the registry. */
export interface PackageTool {
  name: AgentName;
  /** The program: the first major version of Yarn and the later ones differ. */
  agent: Exclude<PackageAgent, 'npm'>;
  /** The package for npm: `pnpm@10.34.8`. */
  package: string;
}

/** Disables Yarn's Plug'n'Play: the loader of graphs finds packages where Node.js does. */
export const YARN_VARIABLES = { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_TELEMETRY: '0' } as const;

/** Returns the environment variables that a package manager needs. */
export function toolEnvironment(tool: PackageTool | null): Record<string, string> {
  return tool?.agent === 'yarn@berry' ? YARN_VARIABLES : {};
}

/** A file with the installed release of each package. */
export interface LockFile {
  /** The version of the format; null where all releases of the manager read it. */
  format: number | null;
  text: string;
}

/** Each package manager reads the first that is there. */
const LOCK_FILES: Record<PackageAgent, string[]> = {
  npm: ['npm-shrinkwrap.json', 'package-lock.json'],
  pnpm: ['pnpm-lock.yaml'],
  yarn: ['yarn.lock'],
  'yarn@berry': ['yarn.lock'],
  bun: ['bun.lock', 'bun.lockb'],
};
const PNPM_FORMAT = /^lockfileVersion: *'?(\d+)/m;
const BERRY_FORMAT = /^__metadata:\s+version: *"?(\d+)/m;

/** Yarn has another name in the registry after its first major version. */
const PACKAGES = { pnpm: 'pnpm', yarn: 'yarn', 'yarn@berry': '@yarnpkg/cli-dist', bun: 'bun' } as const;

/**
 * Releases that are fetched where a project names a package manager and no release. They are exact, so that a build
 * does not depend on its date. Newer releases refuse lock files of older formats, so each release is for formats below
 * its number.
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

/** Bytes of a lock file. Those of large workspaces have some megabytes. */
const LOCK_BYTES_MAX = 64 * 1024 * 1024;

/** Returns the lock file of a package manager in the folder; null when there is none. */
export async function readLockFile(folder: string, agent: PackageAgent): Promise<LockFile | null> {
  for (const file of LOCK_FILES[agent]) {
    const text = await readRegularFile(join(folder, file), LOCK_BYTES_MAX).catch(() => null);
    if (text === null) continue;
    const [, format] = (agent === 'pnpm' ? PNPM_FORMAT : BERRY_FORMAT).exec(text) ?? [];
    return { format: format === undefined ? null : Number(format), text };
  }
  return null;
}

/**
 * Returns the release of a package manager that installs a project: the one that its `package.json` names
 * (`packageManager`, or `devEngines` with an exact version), else the one for its lock file. Null for npm, which comes
 * with Node.js.
 */
export function chooseTool(agent: PackageAgent, manifest: Manifest | null, lock: LockFile | null): PackageTool | null {
  if (agent === 'npm') return null;
  const name = agent === 'yarn@berry' ? 'yarn' : agent;
  const named = findNamedRelease(manifest, name);
  const isBerry =
    name === 'yarn' && (named ? Number.parseInt(named, 10) > 1 : agent !== 'yarn' || lock?.format != null);
  const known = isBerry ? 'yarn@berry' : name;
  return { name, agent: known, package: `${PACKAGES[known]}@${named ?? defaultRelease(known, lock)}` };
}

function defaultRelease(agent: PackageTool['agent'], lock: LockFile | null): string {
  const format = lock?.format ?? Number.MAX_SAFE_INTEGER;
  return RELEASES[agent].find(([below]) => format < below)?.[1] as string;
}

const RELEASE = /^\d+(?:\.\d+){0,2}(?:-[\w.]+)?$/;

function findNamedRelease(manifest: Manifest | null, name: AgentName): string | undefined {
  const [field, version] =
    parsePackageManagerField(manifest?.packageManager) ?? parseDevEngines(manifest?.devEngines) ?? [];
  return field === name && version !== undefined && RELEASE.test(version) ? version : undefined;
}

/** Parses `<name>@<version>`, optionally with a digest after `+`; npm checks the registry's own digest. */
function parsePackageManagerField(packageManager: unknown): [name: string, version: string | undefined] | undefined {
  if (typeof packageManager !== 'string') return undefined;
  const [name = '', version] = packageManager.replace(/\+.*$/s, '').split('@');
  return [name, version];
}

/** Parses `devEngines`. Its version is mostly a range: it then names the package manager, and no release. */
function parseDevEngines(devEngines: unknown): [name: string, version: string | undefined] | undefined {
  const { name, version } =
    (devEngines as { packageManager?: Record<string, unknown> } | undefined)?.packageManager ?? {};
  return typeof name === 'string' ? [name, typeof version === 'string' ? version : undefined] : undefined;
}

import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { machineEnvironment } from '@runyard/contracts';
import { YARN_VARIABLES } from '@runyard/package-managers';

/** Secrets of a deployment that open registries of packages. The others are for the project at work, not for install scripts. */
const REGISTRY_SECRETS = /^(npm_config_.+|npm_token|node_auth_token|yarn_npm_.+|bun_config_.+|bun_auth_token)$/i;

/** What an operator may set for the package managers of all builds. Nothing that opens anything. */
const REGISTRY_SETTINGS = [
  'npm_config_registry',
  'NPM_CONFIG_REGISTRY',
  'npm_config_cafile',
  'npm_config_strict_ssl',
  'YARN_NPM_REGISTRY_SERVER',
  'YARN_REGISTRY',
  'BUN_CONFIG_REGISTRY',
];

export interface BuildFolders {
  /** Gone after the build. */
  home: string;
  /** Of one workspace: no other's builds read what this one's have put there. */
  cache: string;
}

/**
 * The environment of everything a build runs: what the machine says to every program, where packages are had from, and
 * secrets that open registries. Nothing of the platform's own: its secrets are in no environment to begin with, and the home
 * folder with the credentials of its user is not the build's.
 */
export async function buildEnvironment(
  folders: BuildFolders,
  secrets: Record<string, string>,
): Promise<Record<string, string>> {
  // Not what is installed, but what is installed for: without it, tools for building would be left out.
  const { NODE_ENV: _, ...machine } = machineEnvironment(process.env);
  const { registry, cafile } = await npmSettings();
  await mkdir(folders.home, { recursive: true, mode: 0o700 });
  await mkdir(folders.cache, { recursive: true, mode: 0o700 });
  return {
    // The other package managers do not read what is said to npm.
    ...(cafile !== null && { NODE_EXTRA_CA_CERTS: cafile }),
    ...machine,
    ...registryVariables(registry),
    ...picked(process.env, (name) => REGISTRY_SETTINGS.includes(name)),
    ...picked(secrets, (name) => REGISTRY_SECRETS.test(name)),
    HOME: folders.home,
    TMPDIR: folders.home,
    CI: 'true',
    NO_COLOR: '1',
    npm_config_cache: join(folders.cache, 'npm'),
    // Where pnpm keeps its store. Its own setting would be told in every log, as npm does not know it.
    XDG_DATA_HOME: join(folders.cache, 'share'),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    YARN_CACHE_FOLDER: join(folders.cache, 'yarn'),
    YARN_GLOBAL_FOLDER: join(folders.cache, 'yarn-global'),
    ...YARN_VARIABLES,
    // Told that this is no place for it, Yarn would refuse to install what has no lock file; one that is there is kept to anyway.
    YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
    BUN_INSTALL_CACHE_DIR: join(folders.cache, 'bun'),
  };
}

/** With programs of these folders before those of the machine. */
export function withPath(environment: Record<string, string>, folders: string[]): Record<string, string> {
  return { ...environment, PATH: [...folders, environment.PATH ?? ''].join(delimiter) };
}

/** The same registry, as each package manager is told of it. */
function registryVariables(registry: string | null): Record<string, string> {
  if (registry === null) return {};
  return {
    npm_config_registry: registry,
    YARN_REGISTRY: registry,
    YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, ''),
    BUN_CONFIG_REGISTRY: registry,
  };
}

interface NpmSettings {
  registry: string | null;
  /** Certificates of who signs for it. */
  cafile: string | null;
}

let asked: Promise<NpmSettings> | undefined;

/** Longer than npm takes on a machine that is out of breath: without an answer, packages would be asked of the wrong registry. */
const NPM_TIMEOUT_MS = 120_000;

/** How npm is set up on this machine, for this service's user; without npm, in no way. */
function npmSettings(): Promise<NpmSettings> {
  asked ??= promisify(execFile)('npm', ['config', 'get', 'registry', 'cafile'], { timeout: NPM_TIMEOUT_MS }).then(
    ({ stdout }) => ({
      registry: withoutCredentials(settingIn(stdout, 'registry')),
      cafile: isAbsolute(settingIn(stdout, 'cafile')) ? settingIn(stdout, 'cafile') : null,
    }),
    () => {
      // The next build asks again.
      asked = undefined;
      return { registry: null, cafile: null };
    },
  );
  return asked;
}

/** Lines of `name=value`; what is not set is `null`. */
function settingIn(said: string, name: string): string {
  return new RegExp(`^${name} *= *(.*)$`, 'm').exec(said)?.[1]?.trim() ?? '';
}

function withoutCredentials(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
}

function picked(from: Record<string, string | undefined>, isWanted: (name: string) => boolean): Record<string, string> {
  const entries = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isWanted(entry[0]),
  );
  return Object.fromEntries(entries);
}

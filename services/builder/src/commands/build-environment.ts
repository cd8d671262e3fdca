import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { machineEnvironment } from '@runyard/contracts';
import { INDEX_VARIABLES, withUvVariables, YARN_VARIABLES } from '@runyard/package-managers';
import { writeNetrc } from './netrc.ts';

/**
 * Matches a deployment's secrets for package registries. Install scripts must not see the other secrets, which are for
 * the running project.
 */
const REGISTRY_SECRETS =
  /^(npm_config_.+|npm_token|node_auth_token|yarn_npm_.+|bun_config_.+|bun_auth_token|pip_(extra_)?index_url|pip_find_links|pip_trusted_host|uv_(default_|extra_)?index(_.+)?|uv_find_links)$/i;

/** Variables that an operator may set for the package managers of all builds. None of them may contain a credential. */
const REGISTRY_SETTINGS: readonly string[] = [
  'npm_config_registry',
  'NPM_CONFIG_REGISTRY',
  'npm_config_cafile',
  'npm_config_strict_ssl',
  'YARN_NPM_REGISTRY_SERVER',
  'YARN_REGISTRY',
  'BUN_CONFIG_REGISTRY',
  ...INDEX_VARIABLES,
];

export interface BuildFolders {
  /** Removed after the build. */
  home: string;
  /** Belongs to one deployment, so that no build reads a cache that another's has written. */
  cache: string;
}

/**
 * Returns the environment of all commands of a build: the variables that a machine has for every program, the package
 * registry, and the secrets for registries; HOME has the deployment's `.netrc`. It contains nothing of the platform: its
 * secrets are in no environment, and HOME is not the folder with the credentials of the service's user.
 */
export async function buildEnvironment(
  folders: BuildFolders,
  secrets: Record<string, string>,
): Promise<Record<string, string>> {
  // `NODE_ENV=production` would make package managers leave out the build tools (devDependencies).
  const { NODE_ENV: _, VIRTUAL_ENV: __, ...machine } = machineEnvironment(process.env);
  const { registry, cafile } = await npmSettings();
  await mkdir(folders.home, { recursive: true, mode: 0o700 });
  await mkdir(folders.cache, { recursive: true, mode: 0o700 });
  await writeNetrc(folders.home, secrets);
  return {
    // The other package managers do not read npm's settings.
    ...(cafile !== null && { NODE_EXTRA_CA_CERTS: cafile }),
    ...machine,
    ...registryVariables(registry),
    ...withUvVariables(pickVariables(process.env, (name) => REGISTRY_SETTINGS.includes(name))),
    ...withUvVariables(pickVariables(secrets, (name) => REGISTRY_SECRETS.test(name))),
    HOME: folders.home,
    TMPDIR: folders.home,
    CI: 'true',
    NO_COLOR: '1',
    npm_config_cache: join(folders.cache, 'npm'),
    // pnpm keeps its store below this folder. Its own variable would cause a warning in every log, as npm does not know
    // it.
    XDG_DATA_HOME: join(folders.cache, 'share'),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    YARN_CACHE_FOLDER: join(folders.cache, 'yarn'),
    YARN_GLOBAL_FOLDER: join(folders.cache, 'yarn-global'),
    ...YARN_VARIABLES,
    // With `CI` set, Yarn would refuse to install a project without a lock file. It follows an existing lock file
    // anyway.
    YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
    BUN_INSTALL_CACHE_DIR: join(folders.cache, 'bun'),
    PIP_CACHE_DIR: join(folders.cache, 'pip'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    UV_CACHE_DIR: join(folders.cache, 'uv'),
    // Links would make files of the cache, which builds write, files of what runs.
    UV_LINK_MODE: 'copy',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    // A repository that asks for a password fails at once.
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** Returns the environment with these folders at the front of its PATH. */
export function withPath(environment: Record<string, string>, folders: string[]): Record<string, string> {
  return { ...environment, PATH: [...folders, environment.PATH ?? ''].join(delimiter) };
}

/** Returns the variables that point each package manager to the same registry. */
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
  /** A file with the certificates that the registry's certificate is checked with. */
  cafile: string | null;
}

let asked: Promise<NpmSettings> | undefined;

/** Longer than npm takes on an overloaded machine: without an answer, packages would come from the wrong registry. */
const NPM_TIMEOUT_MS = 120_000;

/** Reads npm's settings of this service's user, once per process. All are null when npm cannot be run. */
function npmSettings(): Promise<NpmSettings> {
  asked ??= promisify(execFile)('npm', ['config', 'get', 'registry', 'cafile'], { timeout: NPM_TIMEOUT_MS }).then(
    ({ stdout }) => ({
      registry: removeCredentials(parseSetting(stdout, 'registry')),
      cafile: isAbsolute(parseSetting(stdout, 'cafile')) ? parseSetting(stdout, 'cafile') : null,
    }),
    () => {
      // The next build asks again.
      asked = undefined;
      return { registry: null, cafile: null };
    },
  );
  return asked;
}

/** Reads a value from lines of `name=value`. npm prints `null` for a setting that is not set. */
function parseSetting(said: string, name: string): string {
  return new RegExp(`^${name} *= *(.*)$`, 'm').exec(said)?.[1]?.trim() ?? '';
}

function removeCredentials(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
}

function pickVariables(
  from: Record<string, string | undefined>,
  isWanted: (name: string) => boolean,
): Record<string, string> {
  const entries = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isWanted(entry[0]),
  );
  return Object.fromEntries(entries);
}

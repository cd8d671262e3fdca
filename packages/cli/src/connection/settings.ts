import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, ExitCode } from '../cli-error.ts';
import { LOCAL_DATA_FOLDER } from '../local-data-folder.ts';

/**
 * Variables in the order in which they are searched; each first among the project's variables, then in the environment.
 */
export const API_KEY_VARIABLES = [
  'RUNYARD_API_KEY',
  'LANGGRAPH_HOST_API_KEY',
  'LANGSMITH_API_KEY',
  'LANGCHAIN_API_KEY',
] as const;
const URL_VARIABLES = ['RUNYARD_URL', 'LANGGRAPH_HOST_URL'] as const;
const TENANT_VARIABLES = ['RUNYARD_TENANT_ID', 'LANGSMITH_TENANT_ID'] as const;
export const NAME_VARIABLES = ['RUNYARD_DEPLOYMENT_NAME', 'LANGSMITH_DEPLOYMENT_NAME'] as const;

export type Variables = Record<string, string | undefined>;

export interface Flags {
  hostUrl?: string;
  apiKey?: string;
  tenantId?: string;
}

export interface Settings {
  url: string;
  /** Undefined when none was found. */
  apiKey: string | undefined;
  tenantId: string | undefined;
}

export function findVariable(names: readonly string[], ...places: Variables[]): string | undefined {
  for (const name of names) for (const place of places) if (place[name]) return place[name];
  return undefined;
}

/**
 * Finds the platform's address and the key. There is no default address: without one, the platform that `runyard dev`
 * runs for this folder is meant.
 *
 * @throws CliError when there is no address
 */
export async function readSettings(options: {
  flags: Flags;
  /** Variables of the project: its `env`, or `.env`. */
  project: Variables;
  environment: Variables;
  folder: string;
}): Promise<Settings> {
  const { flags, project, environment } = options;
  const url = flags.hostUrl || findVariable(URL_VARIABLES, project, environment);
  const tenantId = flags.tenantId || findVariable(TENANT_VARIABLES, project, environment);
  const apiKey = flags.apiKey || findVariable(API_KEY_VARIABLES, project, environment);
  if (url) return { url: checkUrl(url), apiKey, tenantId };
  const local = await readLocalPlatform(options.folder);
  if (local) return { url: local.url, apiKey: flags.apiKey || local.apiKey, tenantId };
  throw new CliError(
    'Where is the platform? Give its address with --host-url, or as RUNYARD_URL in the environment or in .env.',
    ExitCode.usage,
  );
}

/** @throws CliError for anything but an address */
export function checkUrl(url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new CliError(`${url} is not an address: it begins with http:// or https://.`, ExitCode.usage);
}

/** Reads the file of a running `dev`, which exists exactly while it is ready. */
async function readLocalPlatform(folder: string): Promise<{ url: string; apiKey: string } | null> {
  const text = await readFile(join(folder, LOCAL_DATA_FOLDER, 'ready.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as { url: string; apiKey: string });
}

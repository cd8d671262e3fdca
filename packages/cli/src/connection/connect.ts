import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { createPainter } from '../output/colours.ts';
import { readFolderEnv } from '../project/project.ts';
import { ControlPlane } from './control-plane.ts';
import { Http } from './http.ts';
import { Questions } from './questions.ts';
import { API_KEY_VARIABLES, type Flags, readSettings } from './settings.ts';

/** Flags of every command that calls a platform. */
export interface ConnectionFlags extends Flags {
  /** False with `--no-input`. */
  input: boolean;
  verbose?: boolean;
}

export interface ControlPlaneConnection {
  controlPlane: ControlPlane;
  http: Http;
  apiKey: string;
  tenantId: string | undefined;
  questions: Questions;
}

/**
 * Finds the platform and the key, and returns a client for it.
 *
 * @param project variables of the project in the folder
 * @throws CliError when there is no address or no key
 */
export async function connect(options: {
  flags: ConnectionFlags;
  project: Record<string, string>;
  folder: string;
  context: CommandContext;
}): Promise<ControlPlaneConnection> {
  const { flags, context } = options;
  const { env } = context;
  const settings = await readSettings({ ...options, environment: env });
  const questions = new Questions(context, flags.input);
  const apiKey = settings.apiKey ?? (await questions.askSecret(`API key for ${settings.url}`));
  if (!apiKey) {
    throw new CliError(
      `There is no API key for ${settings.url}: put ${API_KEY_VARIABLES[0]} (or ${API_KEY_VARIABLES.slice(1).join(', ')}) into the environment or .env.`,
      ExitCode.denied,
    );
  }
  const http = openHttp(flags, context);
  const controlPlane = new ControlPlane({
    http,
    url: settings.url,
    apiKey,
    tenantId: settings.tenantId,
    askForTenant: () => questions.ask('This API key is of the whole organization. Id of the workspace'),
  });
  return { controlPlane, http, apiKey, tenantId: settings.tenantId, questions };
}

/** Returns what sends requests, and shows each with `--verbose`. It has to be closed. */
export function openHttp({ verbose }: Pick<ConnectionFlags, 'verbose'>, context: CommandContext): Http {
  const { env, stderr, interrupted } = context;
  const paint = createPainter(stderr);
  const trace = (line: string) => void stderr.write(`${paint('dim', line)}\n`);
  return new Http({ env, interrupted, ...(verbose && { trace }) });
}

/** Connects commands that read deployments, in any folder: a project in it may name the platform. */
export async function withControlPlane<T>(
  flags: ConnectionFlags,
  context: CommandContext,
  use: (connection: ControlPlaneConnection & { project: Record<string, string> }) => Promise<T>,
): Promise<T> {
  const folder = context.cwd;
  const project = await readFolderEnv(folder);
  const connection = await connect({ flags, project, folder, context });
  try {
    return await use({ ...connection, project });
  } finally {
    await connection.http.close();
  }
}

import { isUuid } from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, openHttp, withControlPlane } from '../connection/connect.ts';
import type { ControlPlane } from '../connection/control-plane.ts';
import type { Http } from '../connection/http.ts';
import { ownDeploymentName } from '../connection/own-deployment.ts';
import { API_KEY_VARIABLES, checkUrl, findVariable } from '../connection/settings.ts';
import { readFolderEnv } from '../project/project.ts';

export interface AgentServerFlags extends ConnectionFlags {
  /** Name, id or address of the deployment. Default: that of the folder, or the only one. */
  deployment?: string;
  /** Headers of requests to the deployment, for one with users of its own. */
  header?: Record<string, string>;
}

/** Says where an agent server is, and with which headers it is called. */
export interface AgentServerAddress {
  url: string;
  headers: Record<string, string>;
}

/** How many names an error lists. */
const NAMES_MAX = 10;

/** Finds the agent server that is meant, and lends what sends requests to it. */
export async function withAgentServer<T>(
  flags: AgentServerFlags,
  context: CommandContext,
  use: (address: AgentServerAddress, http: Http) => Promise<T>,
): Promise<T> {
  const { deployment } = flags;
  if (deployment === undefined || !/^https?:\/\//.test(deployment)) {
    return withControlPlane(flags, context, async ({ controlPlane, http, apiKey, tenantId, project }) => {
      const url =
        deployment === undefined
          ? await findDefaultUrl(controlPlane, project, context)
          : await findUrl(deployment, controlPlane);
      return use({ url, headers: headersOf(flags, apiKey, tenantId) }, http);
    });
  }
  const key = flags.apiKey || findVariable(API_KEY_VARIABLES, await readFolderEnv(context.cwd), context.env);
  const http = openHttp(flags, context);
  try {
    return await use({ url: checkUrl(deployment), headers: headersOf(flags, key, flags.tenantId) }, http);
  } finally {
    await http.close();
  }
}

function headersOf(flags: AgentServerFlags, apiKey: string | undefined, tenantId: string | undefined) {
  return { ...(apiKey && { 'x-api-key': apiKey }), ...(tenantId && { 'x-tenant-id': tenantId }), ...flags.header };
}

async function findUrl(nameOrId: string, controlPlane: ControlPlane): Promise<string> {
  const found = isUuid(nameOrId)
    ? await controlPlane.getDeployment(nameOrId)
    : await controlPlane.findDeployment(nameOrId);
  if (!found) throw new CliError(`There is no deployment ${nameOrId}.`, ExitCode.notFound);
  return urlOf(found);
}

type Deployment = Awaited<ReturnType<ControlPlane['getDeployment']>>;

function urlOf({ name, source_config: { custom_url: url } }: Deployment): string {
  if (!url) throw new CliError(`The deployment ${name} has no address yet: it has no revision that serves.`);
  return url;
}

/** Takes the deployment that `runyard deploy` makes of the folder, else the only one there is. */
async function findDefaultUrl(
  controlPlane: ControlPlane,
  project: Record<string, string>,
  context: CommandContext,
): Promise<string> {
  const { name, isChosen } = ownDeploymentName(undefined, project, context);
  const own = await controlPlane.findDeployment(name);
  if (own) return urlOf(own);
  const [first, ...others] = await controlPlane.listDeployments();
  if (!first) throw new CliError('There are no deployments: `runyard deploy` makes one.', ExitCode.notFound);
  if (others.length === 0 && !isChosen) return urlOf(first);
  const names = [first, ...others].slice(0, NAMES_MAX).map((deployment) => deployment.name);
  const rest = others.length >= NAMES_MAX ? ', …' : '';
  throw new CliError(
    `There is no deployment ${name}: name one with --deployment (${names.join(', ')}${rest}), or a server with --url.`,
    ExitCode.notFound,
  );
}

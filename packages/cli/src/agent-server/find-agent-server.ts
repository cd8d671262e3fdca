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
      const found =
        deployment === undefined
          ? await findDefault(controlPlane, project, context)
          : await findDeployment(deployment, controlPlane);
      const url = addressOf(found, controlPlane.url);
      // Whoever may change a deployment chooses its address: a key that was found is for the platform alone.
      const isTrusted = isAt(url, controlPlane.url) || Boolean(flags.apiKey);
      return use({ url, headers: isTrusted ? headersOf(flags, apiKey, tenantId) : { ...flags.header } }, http);
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

async function findDeployment(nameOrId: string, controlPlane: ControlPlane): Promise<Deployment> {
  const found = isUuid(nameOrId)
    ? await controlPlane.getDeployment(nameOrId)
    : await controlPlane.findDeployment(nameOrId);
  if (!found) throw new CliError(`There is no deployment ${nameOrId}.`, ExitCode.notFound);
  return found;
}

type Deployment = Awaited<ReturnType<ControlPlane['getDeployment']>>;

/** Returns where a deployment answers: at the platform, unless a listener runs it somewhere else. */
function addressOf(
  { id, name, source_config: { custom_url: url, listener_id: listener } }: Deployment,
  platform: string,
) {
  if (!url) throw new CliError(`The deployment ${name} has no address yet: it has no revision that serves.`);
  return listener || isAt(url, platform) ? url : `${platform}/deployments/${id}`;
}

function isAt(url: string, platform: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(platform).origin;
}

/** Takes the deployment that `runyard deploy` makes of the folder, else the only one there is. */
async function findDefault(
  controlPlane: ControlPlane,
  project: Record<string, string>,
  context: CommandContext,
): Promise<Deployment> {
  const { name, isChosen } = ownDeploymentName(undefined, project, context);
  const own = await controlPlane.findDeployment(name);
  if (own) return own;
  const [first, ...others] = await controlPlane.listDeployments();
  if (!first) throw new CliError('There are no deployments: `runyard deploy` makes one.', ExitCode.notFound);
  if (others.length === 0 && !isChosen) return first;
  const names = [first, ...others].slice(0, NAMES_MAX).map((deployment) => deployment.name);
  const rest = others.length >= NAMES_MAX ? ', …' : '';
  throw new CliError(
    `There is no deployment ${name}: name one with --deployment (${names.join(', ')}${rest}), or a server with --url.`,
    ExitCode.notFound,
  );
}

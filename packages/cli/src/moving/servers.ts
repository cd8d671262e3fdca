import { isUuid } from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, openHttp, withControlPlane } from '../connection/connect.ts';
import type { ControlPlane } from '../connection/control-plane.ts';
import type { Http } from '../connection/http.ts';
import { API_KEY_VARIABLES, checkUrl, findVariable } from '../connection/settings.ts';
import { readFolderEnv } from '../project/project.ts';
import { AgentServer } from './agent-server.ts';

export interface DeploymentFlags extends ConnectionFlags {
  /** Name, id or address of the deployment. */
  deployment: string;
  /** Headers of requests to the deployment, for one with users of its own. */
  header: Record<string, string>;
}

/** The server that things come from or go to, which need not be Runyard's. */
export interface OtherServer {
  url: string;
  apiKey: string | undefined;
  headers: Record<string, string>;
}

export interface Servers {
  deployment: AgentServer;
  other: AgentServer;
}

/** Finds the deployment, and lends clients for it and for the other server. */
export async function withServers<T>(
  flags: DeploymentFlags,
  { url, apiKey, headers }: OtherServer,
  context: CommandContext,
  use: (servers: Servers) => Promise<T>,
): Promise<T> {
  const open = (http: Http, found: { url: string; headers: Record<string, string> }) =>
    use({
      deployment: new AgentServer({ http, ...found }),
      other: new AgentServer({
        http,
        url: checkUrl(url),
        headers: { ...(apiKey && { 'x-api-key': apiKey }), ...headers },
      }),
    });
  if (!/^https?:\/\//.test(flags.deployment)) {
    return withControlPlane(flags, context, async ({ controlPlane, http, apiKey: key, tenantId }) => {
      const found = await findUrl(flags.deployment, controlPlane);
      return open(http, { url: found, headers: headersOf(flags, key, tenantId) });
    });
  }
  const key = flags.apiKey || findVariable(API_KEY_VARIABLES, await readFolderEnv(context.cwd), context.env);
  const http = openHttp(flags, context);
  try {
    return await open(http, { url: checkUrl(flags.deployment), headers: headersOf(flags, key, flags.tenantId) });
  } finally {
    await http.close();
  }
}

function headersOf(flags: DeploymentFlags, apiKey: string | undefined, tenantId: string | undefined) {
  return { ...(apiKey && { 'x-api-key': apiKey }), ...(tenantId && { 'x-tenant-id': tenantId }), ...flags.header };
}

async function findUrl(nameOrId: string, controlPlane: ControlPlane): Promise<string> {
  const found = isUuid(nameOrId)
    ? await controlPlane.getDeployment(nameOrId)
    : await controlPlane.findDeployment(nameOrId);
  if (!found) throw new CliError(`There is no deployment ${nameOrId}.`, ExitCode.notFound);
  const url = found.source_config.custom_url;
  if (!url) throw new CliError(`The deployment ${nameOrId} has no address yet: it has no revision that serves.`);
  return url;
}

import { AgentServer } from '../agent-server/agent-server.ts';
import { type AgentServerFlags, withAgentServer } from '../agent-server/find-agent-server.ts';
import type { CommandContext } from '../command-context.ts';
import { checkUrl } from '../connection/settings.ts';

export interface DeploymentFlags extends AgentServerFlags {
  /** Name, id or address of the deployment. */
  deployment: string;
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
  return withAgentServer(flags, context, (found, http) =>
    use({
      deployment: new AgentServer({ http, ...found }),
      other: new AgentServer({
        http,
        url: checkUrl(url),
        headers: { ...(apiKey && { 'x-api-key': apiKey }), ...headers },
      }),
    }),
  );
}

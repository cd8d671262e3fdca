import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { checkUrl } from '../connection/settings.ts';
import { AgentServer } from './agent-server.ts';
import { type AgentServerFlags, withAgentServer } from './find-agent-server.ts';
import { parseJson } from './json.ts';

/** Flags of every command that looks at an agent server. */
export interface InspectionFlags extends AgentServerFlags {
  /** Address of any LangGraph server. */
  url?: string;
  json: boolean;
}

/** Lends a client for the agent server that is meant. */
export function withInspectedServer<T>(
  { url, ...flags }: InspectionFlags,
  context: CommandContext,
  use: (server: AgentServer) => Promise<T>,
): Promise<T> {
  if (url !== undefined && flags.deployment !== undefined)
    throw new CliError('--url and --deployment name two servers: give one of them.', ExitCode.usage);
  const deployment = url === undefined ? flags.deployment : checkUrl(url);
  const meant = { ...flags, ...(deployment !== undefined && { deployment }) };
  // An answer that is shown need not be exact to the last digit, as one that is copied.
  return withAgentServer(meant, context, (address, http) =>
    use(new AgentServer({ http, ...address, parse: parseJson })),
  );
}

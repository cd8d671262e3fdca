import type { AgentServer } from '../agent-server/agent-server.ts';
import { isObject, type Json } from '../agent-server/json.ts';
import { CliError, ExitCode } from '../cli-error.ts';

export interface Run extends Json {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: string;
}

export const RUN_STATUSES = ['pending', 'running', 'error', 'success', 'timeout', 'interrupted'] as const;

/** Names a run by its thread, as every path of the API does. */
export interface RunName {
  threadId: string;
  runId: string;
}

export function hasEnded({ status }: Run): boolean {
  return status !== 'pending' && status !== 'running';
}

export function runPath({ threadId, runId }: RunName): string {
  return `/threads/${threadId}/runs/${runId}`;
}

/** Returns undefined where there is no such run. @throws CliError for an answer that is no run */
export async function findRun(server: AgentServer, name: RunName): Promise<Run | undefined> {
  const run = await server.find<unknown>(runPath(name));
  if (run === undefined) return undefined;
  if (isObject(run) && typeof run.status === 'string' && typeof run.assistant_id === 'string') return run as Run;
  throw new CliError(`GET ${runPath(name)} of ${server.url} was not answered with a run.`);
}

/** @throws CliError where there is no such run */
export async function getRun(server: AgentServer, name: RunName): Promise<Run> {
  const run = await findRun(server, name);
  if (run) return run;
  throw new CliError(`There is no run ${name.runId} of a thread ${name.threadId} at ${server.url}.`, ExitCode.notFound);
}

/** Lists a page of the runs of a thread, newest first. @throws CliError where there is no such thread */
export async function listRuns(
  server: AgentServer,
  threadId: string,
  query: { limit: number; offset?: number; status?: string; select?: string[] },
): Promise<Run[]> {
  const pairs = Object.entries(query).flatMap(([key, value]) => [value].flat().map((each) => [key, String(each)]));
  const path = `/threads/${threadId}/runs`;
  const runs = await server.find<unknown>(`${path}?${new URLSearchParams(pairs)}`);
  if (runs === undefined) throw new CliError(`There is no thread ${threadId} at ${server.url}.`, ExitCode.notFound);
  if (Array.isArray(runs) && runs.every(isObject)) return runs as Run[];
  throw new CliError(`GET ${path} of ${server.url} was not answered with a list.`);
}

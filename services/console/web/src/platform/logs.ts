import type { LogPage, LogRequest } from '@runyard/contracts';
import { ask } from './ask.ts';
import { at, type PlatformPath } from './path.ts';

/** A log: what servers of all revisions print, or what the build or the servers of one print. */
export type LogSource =
  | { kind: 'deployment'; deploymentId: string }
  | { kind: 'build' | 'deploy'; deploymentId: string; revisionId: string };

/** Reads a page of a log. @throws PlatformError; any error of `signal` */
export function readLog(
  workspaceId: string,
  source: LogSource,
  body: LogRequest,
  signal: AbortSignal,
): Promise<LogPage> {
  return ask<LogPage>(pathOf(source), { method: 'POST', workspaceId, body, signal });
}

function pathOf(source: LogSource): PlatformPath {
  const project = at`/v1/projects/${source.deploymentId}`;
  if (source.kind === 'deployment') return at`${project}/deploy_logs`;
  const revision = at`${project}/revisions/${source.revisionId}`;
  return source.kind === 'build' ? at`${revision}/build_logs` : at`${revision}/deploy_logs`;
}

import type { AuditLogPage, AuditLogVerification } from '@runyard/contracts';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { ask, askForStream } from './ask.ts';
import { at } from './path.ts';

const PAGE = 50;

/** The events of the audit trail that are shown. Missing: all. */
export interface SelectedEvents {
  action?: string | undefined;
  actor_id?: string | undefined;
  start_time?: string | undefined;
  end_time?: string | undefined;
}

/** The selected events, the newest first, page by page. */
export function auditQuery(workspaceId: string, selected: SelectedEvents) {
  return infiniteQueryOptions({
    queryKey: ['audit', workspaceId, selected],
    queryFn: ({ signal, pageParam }) =>
      ask<AuditLogPage>(at`/api/v1/orgs/current/audit-logs`, {
        workspaceId,
        signal,
        query: { ...selected, limit: PAGE, cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor ?? undefined,
  });
}

/** Checks whether the chain of events is whole, and goes through an earlier `checkpoint`. @throws PlatformError */
export function verifyAudit(workspaceId: string, checkpoint: string | undefined): Promise<AuditLogVerification> {
  return ask<AuditLogVerification>(at`/api/v1/orgs/current/audit-logs/verify`, { workspaceId, query: { checkpoint } });
}

/** Returns the selected events as JSON lines, the oldest first. @throws PlatformError */
export async function exportAudit(workspaceId: string, selected: SelectedEvents): Promise<Blob> {
  const response = await askForStream(at`/api/v1/orgs/current/audit-logs/export`, {
    workspaceId,
    query: { ...selected },
    headers: { accept: 'application/x-ndjson, application/json' },
  });
  return response.blob();
}

import type { SelectedEvents } from '../../../platform/audit.ts';

/** The filters of the audit trail as they are in the address. Times are of the person's own time zone. */
export interface AuditFilters {
  action?: string | undefined;
  /** An identity or a person. */
  actor?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const MINUTE_MS = 60_000;

/** Returns what is asked of the platform. A time that is none is left out. */
export function selectionOf({ action, actor, from, to }: AuditFilters): SelectedEvents {
  const start = momentOf(from);
  const end = momentOf(to);
  return {
    ...(action && { action }),
    ...(actor && { actor_id: actor }),
    ...(start !== undefined && { start_time: new Date(start).toISOString() }),
    // The minute that was named is one of those that are shown.
    ...(end !== undefined && { end_time: new Date(end + MINUTE_MS - 1).toISOString() }),
  };
}

function momentOf(text: string | undefined): number | undefined {
  const moment = Date.parse(text ?? '');
  return Number.isNaN(moment) ? undefined : moment;
}

/** Returns the name of a file with the selected events, which says when it was made. */
export function exportName(now: Date): string {
  return `audit-${now.toISOString().slice(0, 19).replaceAll(':', '-')}.jsonl`;
}

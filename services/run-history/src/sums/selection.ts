import { toSqlText } from '@runyard/database';
import { InvalidFieldError } from '@runyard/service-kit';
import type { RunScope } from '../access/visible-deployments.ts';
import { readTime } from '../read-time.ts';
import { type Step, startOfStep } from './step.ts';

/** The steps that a request is about. */
export interface SelectedTime {
  step: Step;
  /** The start of the first one. */
  start: Date;
  /** Exclusive. */
  end: Date;
}

/** A column and the values that a request wants there; undefined: any. */
export type Filter = [column: string, type: 'uuid' | 'text', wanted: readonly string[] | undefined];

/** Reads from when to when sums are wanted. @throws InvalidFieldError for a time that is none, or ends before it begins */
export function readSelectedTime(request: { start_time: string; end_time?: string }, step: Step): SelectedTime {
  const start = new Date(startOfStep(readTime(request.start_time, 'start_time').toISOString(), step));
  const end = request.end_time === undefined ? new Date() : readTime(request.end_time, 'end_time');
  if (end <= start) throw new InvalidFieldError(['body', 'end_time'], 'Must be later than start_time');
  return { step, start, end };
}

/** Returns the condition, and its values, on a table of sums for what a caller may see of a time. */
export function selectSums(
  { organizationId, workspaceId, deploymentIds }: RunScope,
  { step, start, end }: SelectedTime,
  filters: readonly Filter[],
): { values: unknown[]; condition: string } {
  const values: unknown[] = [organizationId, workspaceId, step, start, end];
  const conditions = [
    'deployment_id IN (SELECT deployment_id FROM deployment WHERE organization_id = $1 AND workspace_id = $2)',
    'step = $3 AND start >= $4 AND start < $5',
  ];
  for (const [column, type, wanted] of [['deployment_id', 'uuid', deploymentIds] satisfies Filter, ...filters]) {
    if (wanted) conditions.push(`${column} = ANY($${values.push(wanted.map(toSqlText))}::${type}[])`);
  }
  return { values, condition: conditions.join(' AND ') };
}

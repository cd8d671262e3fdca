import type { Permission } from '@runyard/contracts';
import { type Principal, requirePermission } from '@runyard/service-kit';
import type { RunRequest } from './run-arguments.ts';

/** The permissions that it takes to cancel runs in the same way. */
const PERMISSIONS: Partial<Record<NonNullable<RunRequest['multitask_strategy']>, Permission>> = {
  interrupt: 'runs:update',
  rollback: 'runs:delete',
};

/**
 * Requires the right to what the strategy of a run does to other runs of a thread.
 *
 * @throws ForbiddenError
 */
export function requireStrategyPermission(
  caller: Principal,
  { multitask_strategy: strategy }: Pick<RunRequest, 'multitask_strategy'>,
): void {
  const permission = strategy && PERMISSIONS[strategy];
  if (permission) requirePermission(caller, permission);
}

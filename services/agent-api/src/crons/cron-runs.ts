import type { AuthUser } from '@runyard/host-protocol';
import type { AcceptedRun, CronCreator, DueCron } from '@runyard/run-engine';
import { NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { isInScope, type Scope, UNRESTRICTED } from '../access/scope.ts';
import { type RunOrigin, toAcceptedRun, type UserPolicy } from '../runs/accepted-run.ts';
import type { CronPayload } from './cron-payload.ts';

const NOBODY: CronCreator = { threadScope: UNRESTRICTED, assistantScope: UNRESTRICTED };

/**
 * Builds the run of a slot as if the cron's creator created it now, with the rights of then. It carries `cron_id` and the
 * cron's metadata.
 *
 * @throws NotFoundError when the assistant is not the creator's to run any more; ForbiddenError when the creator could
 *   not see the run
 */
export function runOfCron(
  cron: DueCron,
  { tracingProject, hasUsers, trace }: Pick<RunOrigin, 'tracingProject' | 'trace'> & UserPolicy,
): AcceptedRun {
  const { user, threadScope, assistantScope } = cron.creator ?? NOBODY;
  requireAssistant(cron, assistantScope);
  const run = toAcceptedRun(
    {
      ...(cron.payload as CronPayload),
      assistant_id: cron.assistantId,
      metadata: cron.metadata,
      on_completion: cron.onRunCompleted ?? 'keep',
    },
    cron.assistant,
    {
      scope: threadScope,
      assistantScope,
      ...(cron.threadId !== null && { threadId: cron.threadId }),
      // Whoever changed what the cron does makes its runs, and its `userId` is that of its first user still.
      creator: { kind: 'cron', identity: (user as AuthUser | undefined)?.identity ?? cron.userId },
      userId: cron.userId,
      user: user as AuthUser | undefined,
      requestId: uuidv7(),
      tracingProject,
      hasUsers,
      trace,
    },
  );
  const cronMark = { cron_id: cron.cronId };
  return {
    ...run,
    metadata: { ...run.metadata, ...cronMark },
    threadMetadata: { ...run.threadMetadata, ...cronMark },
    kwargs: addCronId(run.kwargs, cronMark),
  };
}

/** Checks that the assistant is in the scope still: it may have changed its owner. Default assistants are for all. */
function requireAssistant({ assistant }: DueCron, scope: Scope): void {
  if (assistant.isSystem || isInScope(assistant.metadata, scope)) return;
  throw new NotFoundError('Thread or assistant not found.', { code: 'thread_or_assistant_not_found' });
}

function addCronId(kwargs: Record<string, unknown>, cronMark: { cron_id: string }): Record<string, unknown> {
  const config = kwargs.config as { configurable: object; metadata: object };
  return {
    ...kwargs,
    config: {
      ...config,
      configurable: { ...config.configurable, ...cronMark },
      metadata: { ...config.metadata, ...cronMark },
    },
  };
}

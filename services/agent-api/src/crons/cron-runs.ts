import type { AcceptedRun, DueCron } from '@runyard/run-engine';
import { v7 as uuidv7 } from 'uuid';
import { UNRESTRICTED } from '../access/scope.ts';
import { type RunOrigin, toAcceptedRun } from '../runs/accepted-run.ts';
import type { CronPayload } from './cron-payload.ts';

/** Builds the run of a slot as if the cron's creator created it now. It carries `cron_id` and the cron's metadata. */
export function runOfCron(cron: DueCron, { tracingProject }: Pick<RunOrigin, 'tracingProject'>): AcceptedRun {
  const run = toAcceptedRun(
    {
      ...(cron.payload as CronPayload),
      assistant_id: cron.assistantId,
      metadata: cron.metadata,
      on_completion: cron.onRunCompleted ?? 'keep',
    },
    cron.assistant,
    {
      // The cron's metadata, which is on the thread too, hides it from others.
      scope: UNRESTRICTED,
      assistantScope: UNRESTRICTED,
      ...(cron.threadId !== null && { threadId: cron.threadId }),
      userId: cron.userId,
      requestId: uuidv7(),
      tracingProject,
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

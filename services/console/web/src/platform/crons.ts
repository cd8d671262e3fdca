import type { Cron, CronCreate, CronPatch } from '@runyard/contracts';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { ask, askForAnswer } from './ask.ts';
import { msUntilDue } from './due-time.ts';
import { at } from './path.ts';

const PAGE = 50;

/** The ids that lead to the crons of a deployment. */
export interface CronsPlace {
  workspaceId: string;
  deploymentId: string;
}

/** The crons of a deployment, the next to fire first, in pages. They are read again once one of them has made its run. */
export function cronsQuery({ workspaceId, deploymentId }: CronsPlace) {
  return infiniteQueryOptions({
    queryKey: ['crons', workspaceId, deploymentId],
    queryFn: async ({ signal, pageParam }) => {
      const { body, headers } = await askForAnswer(at`/deployments/${deploymentId}/runs/crons/search`, {
        method: 'POST',
        workspaceId,
        signal,
        body: { limit: PAGE, offset: pageParam, sort_by: 'next_run_date', sort_order: 'asc' },
      });
      const next = headers.get('x-pagination-next');
      const total = Number(headers.get('x-pagination-total'));
      return { crons: body as Cron[], total, next: next === null ? undefined : Number(next) };
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) => {
      const crons = data?.pages.flatMap((page) => page.crons) ?? [];
      const times = crons.map(({ enabled, next_run_date: time }) => (enabled ? time : null));
      return msUntilDue(times, Date.now());
    },
  });
}

/**
 * Makes a cron, of a thread where one is named. Repeated with the same `requestKey` it is the same.
 *
 * @throws PlatformError
 */
export function createCron(
  { workspaceId, deploymentId }: CronsPlace,
  threadId: string | undefined,
  body: CronCreate,
  requestKey: string,
): Promise<Cron> {
  const path =
    threadId === undefined
      ? at`/deployments/${deploymentId}/runs/crons`
      : at`/deployments/${deploymentId}/threads/${threadId}/runs/crons`;
  return ask<Cron>(path, { method: 'POST', workspaceId, body, headers: { 'idempotency-key': requestKey } });
}

/** Changes a cron. @throws PlatformError */
export function patchCron({ workspaceId, deploymentId }: CronsPlace, id: string, body: CronPatch): Promise<Cron> {
  return ask<Cron>(at`/deployments/${deploymentId}/runs/crons/${id}`, { method: 'PATCH', workspaceId, body });
}

/** Deletes a cron. Runs that it has made stay. @throws PlatformError */
export async function deleteCron({ workspaceId, deploymentId }: CronsPlace, id: string): Promise<void> {
  await ask(at`/deployments/${deploymentId}/runs/crons/${id}`, { method: 'DELETE', workspaceId });
}

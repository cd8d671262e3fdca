import type { Usage, UsageFileRequest, UsageRequest } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, askForStream } from './ask.ts';
import { at } from './path.ts';

/** Usage changes all the time, and nobody looks at single tokens. */
const EVERY_MS = 30_000;

/** The usage of a workspace. @param key stands for the request, whose times go on */
export function usageQuery(workspaceId: string, key: object, request: () => UsageRequest) {
  return queryOptions({
    queryKey: ['usage', workspaceId, key],
    queryFn: async ({ signal }) => {
      const body = request();
      return { body, usage: await ask<Usage>(at`/v2/runs/usage`, { method: 'POST', workspaceId, signal, body }) };
    },
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
  });
}

/** Returns usage as a file of comma-separated values. @throws PlatformError */
export async function exportUsage(workspaceId: string, request: UsageFileRequest): Promise<Blob> {
  const answer = await askForStream(at`/v2/runs/usage/csv`, { method: 'POST', workspaceId, body: request });
  return answer.blob();
}

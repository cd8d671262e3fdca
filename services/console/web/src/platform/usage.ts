import type { Usage, UsageFileRequest, UsageRequest } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, askForStream } from './ask.ts';
import { at } from './path.ts';

const HOUR_MS = 3_600_000;
/** Nobody looks at single tokens. */
const FRESH_MS = 30_000;

/** The usage of a workspace. @param key stands for the request, whose times go on */
export function usageQuery(workspaceId: string, key: object, request: () => UsageRequest) {
  return queryOptions({
    queryKey: ['usage', workspaceId, key],
    queryFn: async ({ signal }) => {
      const body = request();
      return { body, usage: await readUsage(workspaceId, body, signal) };
    },
    staleTime: FRESH_MS,
  });
}

/** Returns usage as a file of comma-separated values. @throws PlatformError */
export async function exportUsage(workspaceId: string, request: UsageFileRequest): Promise<Blob> {
  const answer = await askForStream(at`/v2/runs/usage/csv`, { method: 'POST', workspaceId, body: request });
  return answer.blob();
}

/**
 * Reads usage. Rows of several hours may be too many for one answer, whose first hours alone would be wrong sums: then
 * the time is read in halves.
 *
 * @throws PlatformError
 */
async function readUsage(workspaceId: string, body: UsageRequest, signal: AbortSignal): Promise<Usage> {
  const usage = await ask<Usage>(at`/v2/runs/usage`, { method: 'POST', workspaceId, signal, body });
  const [start, end] = [Date.parse(body.start_time), Date.parse(body.end_time ?? '')];
  const hours = Math.ceil((end - start) / HOUR_MS);
  if (usage.is_complete || body.step !== 'hour' || !(hours > 1)) return usage;
  const middle = new Date(start + Math.floor(hours / 2) * HOUR_MS).toISOString();
  const halves = await Promise.all([
    readUsage(workspaceId, { ...body, end_time: middle }, signal),
    readUsage(workspaceId, { ...body, start_time: middle }, signal),
  ]);
  return {
    rows: halves.flatMap(({ rows }) => rows),
    total: usage.total,
    is_complete: halves.every(({ is_complete }) => is_complete),
  };
}

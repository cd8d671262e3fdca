import type { Logger } from '@runyard/service-kit';
import { UseRecorder } from '../../database/use-recorder.ts';
import type { PrismaClient } from '../../generated/client.ts';

/** Creates the recorder of `last_used_at` of keys. */
export function createLastUseRecorder({ prisma, logger }: { prisma: PrismaClient; logger: Logger }): UseRecorder {
  return new UseRecorder({
    name: 'last use of keys',
    store: (ids, times) => prisma.$executeRaw`
      UPDATE api_key SET last_used_at = used.at
      FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS used (id, at)
      WHERE api_key.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`,
    logger,
  });
}

import type { Logger } from '@runyard/service-kit';
import { UseRecorder } from '../../database/use-recorder.ts';
import type { PrismaClient } from '../../generated/client.ts';

/** Creates the recorder of when sessions were last seen. */
export function createLastSeenRecorder({ prisma, logger }: { prisma: PrismaClient; logger: Logger }): UseRecorder {
  return new UseRecorder({
    name: 'last use of sessions',
    store: (ids, times) => prisma.$executeRaw`
      UPDATE session SET last_seen_at = used.at
      FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS used (id, at)
      WHERE session.id = used.id AND last_seen_at < used.at`,
    logger,
  });
}

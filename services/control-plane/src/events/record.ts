import { TOPICS } from '@runyard/contracts';
import { makeEvent } from '@runyard/event-bus';
import type { Prisma } from '../generated/client.ts';

const SOURCE = '/runyard/control-plane';

/** Writes an event into the outbox, in the transaction that makes it true. @param subject the id of what it is about */
export async function record(
  transaction: Prisma.TransactionClient,
  schema: Parameters<typeof makeEvent>[0],
  subject: string,
  data: object,
): Promise<void> {
  const event = makeEvent(schema, { source: SOURCE, subject, data });
  await transaction.outbox.create({
    data: { topic: TOPICS.deployments.name, key: subject, event: event as unknown as Prisma.InputJsonObject },
  });
}

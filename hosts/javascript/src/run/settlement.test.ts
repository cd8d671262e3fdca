import type { HostConnection } from '@runyard/host-protocol/graph-process';
import { expect, it } from 'vitest';
import { sendSettlement } from './settlement.ts';

it('a run whose values are too large for a message fails with that reason, and does not wait for ever', () => {
  const sent: { kind: string; error?: { message: string } }[] = [];
  const connection = {
    send(_use: number, header: object, parts: Buffer[]) {
      if (parts.length > 0) throw new RangeError('message of 2 bytes exceeds 1');
      sent.push(header as (typeof sent)[number]);
    },
  } as unknown as HostConnection;
  sendSettlement(connection, 7, { kind: 'done', values: { a: 1 } });
  expect(sent).toMatchObject([
    { kind: 'failed', error: { message: 'message of 2 bytes exceeds 1' }, valuesBytes: null },
  ]);
});

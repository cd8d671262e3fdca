import { randomUUID } from 'node:crypto';
import { KeyIssued } from '@runyard/contracts';
import { Metrics } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { Delivery } from './delivery.ts';
import { makeEvent } from './events.ts';
import { recordingLogger } from './test/recording-logger.ts';

function issued(): string {
  const id = randomUUID();
  const data = { organization_id: id, key_id: id };
  return JSON.stringify(makeEvent(KeyIssued, { source: '/test', subject: id, data }));
}

it('the metrics count the events of a batch, its invalid messages, and each failed attempt', async () => {
  const metrics = new Metrics();
  let failures = 0;
  const delivery = new Delivery(
    {
      topics: ['organizations'],
      group: 'group',
      from: 'latest',
      onEvents: async () => {
        if (failures === 1) return;
        failures += 1;
        throw new Error('not yet');
      },
    },
    { logger: recordingLogger().logger, metrics },
  );
  const messages = [issued(), 'not json', issued(), issued()];
  await delivery.deliver({ topic: 'organizations' }, messages, new AbortController().signal);
  const text = await metrics.text();
  expect(text).toMatch(/event_bus_delivered_total\{topic="organizations"[^}]*\} 3\n/);
  expect(text).toMatch(/event_bus_skipped_total\{topic="organizations"[^}]*\} 1\n/);
  expect(text).toMatch(/event_bus_retries_total\{topic="organizations"[^}]*\} 1\n/);
});

it('a batch without a valid event is settled without a call of its handler', async () => {
  let calls = 0;
  const delivery = new Delivery(
    {
      topics: ['organizations'],
      group: 'group',
      from: 'latest',
      onEvents: async () => {
        calls += 1;
      },
    },
    { logger: recordingLogger().logger },
  );
  await delivery.deliver({ topic: 'organizations' }, ['not json', 'null'], new AbortController().signal);
  expect(calls).toBe(0);
});

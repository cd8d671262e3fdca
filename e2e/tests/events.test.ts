import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CloudEvent } from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const { dataDir, deploymentId } = inject('platform');
const read = (name: string) => readFileSync(path.join(dataDir, name), 'utf8').trim();

it('a deployment publishes the events of its runs to a Kafka that requires a login', async () => {
  const sasl = { mechanism: 'plain' as const, username: 'runyard', password: read('kafka.password') };
  const brokers = [`127.0.0.1:${read('kafka.port')}`];
  const bus = createEventBus(
    { kind: 'kafka', brokers, sasl, clientId: 'e2e', topicPrefix: '' },
    { logger: silentLogger },
  );
  try {
    const got: CloudEvent[] = [];
    const onEvent = async (event: CloudEvent) => void got.push(event);
    await bus.subscribe({ topics: ['runs'], group: 'e2e', from: 'latest', onEvent });
    const client = newClient();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'chat', {
      input: { messages: [{ role: 'user', content: 'hello' }] },
    });
    const ofRun = () => got.filter(({ data }) => (data as { run_id?: string }).run_id === run_id);
    await waitFor(() => ofRun().some(({ type }) => type === 'runyard.run.finished'));
    expect(ofRun().map(({ type }) => type)).toEqual([
      'runyard.run.created',
      'runyard.run.started',
      'runyard.run.used',
      'runyard.run.finished',
    ]);
    expect(ofRun()[0]?.data).toMatchObject({ deployment_id: deploymentId });
  } finally {
    await bus.close();
  }
});

import { randomUUID } from 'node:crypto';
import { silentLogger } from '@runyard/service-kit';
import { FaultLine, testRedis, waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Signals } from './signals.ts';

const redis = testRedis();
let line: FaultLine;
let sender: Signals;
let receiver: Signals;
let heard: { sender: string[]; receiver: string[] };
let losses: number;
beforeEach(async () => {
  line = await FaultLine.to(redis.url);
  const channel = randomUUID();
  sender = new Signals(line.url, { channel, logger: silentLogger });
  receiver = new Signals(redis.url, { channel, logger: silentLogger });
  heard = { sender: [], receiver: [] };
  losses = 0;
  const onLoss = () => {
    losses += 1;
  };
  sender.follow('deployment/', { onSignal: (id) => void heard.sender.push(id), onLoss });
  receiver.follow('deployment/', { onSignal: (id) => void heard.receiver.push(id), onLoss });
  await waitFor(() => losses === 2, { what: 'both subscriptions' });
});
afterEach(async () => {
  sender.close();
  receiver.close();
  await line.close();
});

it('a signal is heard by those who follow its kind, in this process at once and in the others', async () => {
  sender.send('deployment/one');
  sender.send('listener/one');
  expect(heard.sender).toEqual(['one']);
  await waitFor(() => heard.receiver.length > 0, { what: 'the other process' });
  expect(heard.receiver).toEqual(['one']);
});

it('a signal that could not be published is heard when Redis is back, and all are told that others may be lost', async () => {
  await line.refuse();
  await waitFor(() => line.openConnections === 0, { what: 'the end of the connections' });
  sender.send('deployment/one');
  sender.send('deployment/one');
  expect(heard).toEqual({ sender: ['one', 'one'], receiver: [] });
  await line.heal();
  await waitFor(() => losses === 3, { what: 'the subscription' });
  await waitFor(() => heard.receiver.length > 0, { what: 'the other process' });
  expect(heard.receiver).toEqual(['one']);
});

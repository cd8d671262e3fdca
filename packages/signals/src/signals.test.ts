import { randomUUID } from 'node:crypto';
import { silentLogger } from '@runyard/service-kit';
import { FaultLine, HANGS_AFTER_MS, testRedis, waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Signals } from './signals.ts';

const redis = testRedis();
let line: FaultLine;
let sender: Signals;
let receiver: Signals;
let heard: { sender: string[]; receiver: string[] };
let losses: { sender: number; receiver: number };
beforeEach(async () => {
  line = await FaultLine.to(redis.url);
  const channel = randomUUID();
  sender = new Signals(line.url, { channel, logger: silentLogger });
  receiver = new Signals(redis.url, { channel, logger: silentLogger });
  heard = { sender: [], receiver: [] };
  losses = { sender: 0, receiver: 0 };
  for (const [who, signals] of Object.entries({ sender, receiver }) as ['sender' | 'receiver', Signals][]) {
    const onLoss = () => {
      losses[who] += 1;
    };
    signals.follow('deployment/', { onSignal: (id) => void heard[who].push(id), onLoss });
  }
  await waitFor(() => losses.sender === 1 && losses.receiver === 1, { what: 'both subscriptions' });
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
  await waitFor(() => losses.sender === 2, { what: 'the subscription' });
  await waitFor(() => heard.receiver.length > 0, { what: 'the other process' });
  expect(heard.receiver).toEqual(['one']);
});

it('others are told that signals are lost when one process could not publish more than it holds', async () => {
  await line.refuse();
  await waitFor(() => line.openConnections === 0, { what: 'the end of the connections' });
  const names = Array.from({ length: 1_100 }, (_, index) => `${index}`);
  for (const name of names) sender.send(`deployment/${name}`);
  let isWoken = false;
  void receiver
    .listen('listener/one')
    .next(HANGS_AFTER_MS)
    .then(() => {
      isWoken = true;
    });
  await line.heal();
  await waitFor(() => losses.receiver === 2, { what: 'the loss' });
  expect(isWoken).toBe(true);
  expect(heard.receiver).toEqual(names.slice(0, 1_000));
});

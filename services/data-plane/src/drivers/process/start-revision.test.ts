import { once } from 'node:events';
import type { RevisionLog } from '@runyard/revision-logs';
import { silentLogger } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import type { RevisionSpec } from '../driver.ts';
import type { Launcher, SupervisionOptions } from './launcher.ts';
import { startRevision } from './start-revision.ts';

const spec: RevisionSpec = {
  deploymentId: 'deployment',
  revisionId: 'revision',
  isFirst: true,
  artifact: { kind: 'image', imageUri: 'registry.example.com/agent:1' },
  publicUrls: [],
  resources: {},
  databaseUri: 'postgres://role:database-password@postgres.example.com/database',
  redisUri: 'redis://user:redis-password@redis.example.com',
  redisKeyPrefix: '',
  secrets: {},
};
const log = { recent: () => [], close: async () => undefined } as unknown as RevisionLog;
const options = { openLog: async () => log, running: new Set(), logger: silentLogger } as unknown as SupervisionOptions;

/** Prepares for longer than anybody waits, as a pull of a large image does. */
async function prepare(_log: RevisionLog, signal: AbortSignal): Promise<Launcher> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

const start = (signal: AbortSignal, timeoutMs: number) =>
  startRevision(spec, { signal, timeoutMs, onUpstreams: () => undefined }, options, prepare);

it('a revision whose time is over before a process was started is told so in a sentence', async () => {
  await expect(start(new AbortController().signal, 20)).rejects.toThrow(
    'The revision was not healthy in time: it was not started within 0.02 s',
  );
});

it('a start that nobody wants any more is no failure of the revision', async () => {
  const unwanted = new AbortController();
  const started = start(unwanted.signal, 60_000);
  unwanted.abort(new DOMException('the lease is over', 'TimeoutError'));
  await expect(started).rejects.toBe(unwanted.signal.reason);
});

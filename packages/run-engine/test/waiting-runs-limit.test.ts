import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine({ waitingRunsMax: 2 });
});
afterAll(() => fixture.close());

const refusal = { status: 429, code: 'too_many_waiting_runs', headers: { 'retry-after': '5' } };

it('a run on a thread with as many waiting runs as may wait is refused, alone, until one of them begins', async () => {
  const threadId = await fixture.thread();
  for (const _ of [1, 2]) await fixture.engine.createRun(aRun({ threadId, afterSeconds: 60 }));
  const [refused, other] = await Promise.allSettled([
    fixture.engine.createRun(aRun({ threadId })),
    fixture.engine.createRun(aRun({ threadId: randomUUID(), ifThreadMissing: 'create' })),
  ]);
  expect(refused).toMatchObject({ status: 'rejected', reason: refusal });
  expect(other.status).toBe('fulfilled');
  await fixture.rows('UPDATE run SET ready_at = now() WHERE thread_id = $1', [threadId]);
  const claimed = await fixture.engine.claimRuns(await fixture.worker(), 10);
  await fixture.engine.createRun(aRun({ threadId }));
  await expect(fixture.engine.createRun(aRun({ threadId }))).rejects.toMatchObject(refusal);
  for (const run of claimed) await fixture.engine.finishRun(success(run));
});

it.each(['interrupt', 'rollback'] as const)(
  'a run that takes the place of waiting ones (%s) is not refused',
  async (strategy) => {
    const threadId = await fixture.thread();
    for (const _ of [1, 2]) await fixture.engine.createRun(aRun({ threadId }));
    await fixture.engine.createRun(aRun({ threadId, multitaskStrategy: strategy }));
  },
);

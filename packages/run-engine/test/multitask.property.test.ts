import { afterAll, beforeAll, it } from 'vitest';
import { type EngineFixture, openEngine } from './engine-fixture.ts';
import { agreesWithModel, MAX_FAILURES } from './model-comparison.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine({ maxFailures: MAX_FAILURES });
});
afterAll(() => fixture?.close());

it('whatever is created, claimed, finished, cancelled, deleted and lost, runs and threads are as the rules say', async () => {
  await agreesWithModel(fixture, { sequences: 40 });
}, 60_000);

import { afterAll, beforeAll, it } from 'vitest';
import { type EngineFixture, openEngine } from './engine-fixture.ts';
import { agreesWithModel, MAX_FAILURES } from './model-comparison.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine({ maxFailures: MAX_FAILURES });
});
afterAll(() => fixture?.close());

it('runs and threads follow the rules after any sequence of creates, claims, finishes, cancels, deletes and losses', async () => {
  await agreesWithModel(fixture, { sequences: 40 });
});

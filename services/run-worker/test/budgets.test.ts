import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@runyard/test-kit';
import { packagesOf, preparePython } from '@runyard/test-kit/python';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const environments = {
  JavaScript: async () => ({}),
  Python: async () => ({
    PROJECT_DIR: here('./python-project'),
    ...packagesOf(await preparePython(here('../../../hosts/python/requirements.txt'))),
  }),
};

// Each step of the graph uses ten tokens.
describe.each(['JavaScript', 'Python'] as const)('a run of a project in %s whose budget is used up', (language) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
    await deployment.startWorkerProcess(await environments[language]());
  });
  afterAll(() => deployment.close());
  beforeEach(() => deployment.rows('TRUNCATE budget, budget_use, run_budget'));

  const cap = (tokens: number, isEnforced = true) =>
    deployment.rows("INSERT INTO budget VALUES ($1, 'ours', 'deployment', NULL, 'month', $2, NULL, $3, 429)", [
      randomUUID(),
      tokens,
      isEnforced,
    ]);
  const used = () => deployment.rows('SELECT tokens::int FROM budget_use');

  async function begin(options: Parameters<Deployment['create']>[1] = {}, more: object = {}) {
    const ledger = deployment.file();
    const input = { ledger: ledger.path, ...more };
    return { ledger, run: await deployment.create('metered', { input, ...options }) };
  }

  it.each(['async', 'exit'])(
    'stops after the step that used it up, with durability %s, and goes on later',
    async (durability) => {
      await cap(15);
      const threadId = await deployment.thread();
      const { run, ledger } = await begin({ threadId, durability });
      const ended = await deployment.ended(run);
      expect(ended).toMatchObject({ status: 'interrupted', attempt: 1, error: null });
      expect(ended.cancelReason).toMatch(/^The budget "ours" is used up: 15 tokens a month/);
      expect(await ledger.lines()).toEqual(['one', 'two']);
      expect(await used()).toEqual([{ tokens: 20 }]);
      const [thread] = await deployment.rows('SELECT status FROM thread WHERE thread_id = $1', [threadId]);
      expect(thread).toEqual({ status: 'interrupted' });

      await deployment.rows('UPDATE budget SET tokens_max = 100');
      const goingOn = await deployment.create('metered', { threadId, input: null });
      expect(JSON.parse(Buffer.from((await deployment.ended(goingOn)).result!).toString())).toMatchObject({
        log: ['one', 'two', 'three'],
      });
      expect(await ledger.lines()).toEqual(['one', 'two', 'three']);
      expect(await used()).toEqual([{ tokens: 30 }]);
    },
  );

  it('ends well when its last step used it up', async () => {
    await cap(30);
    const { run } = await begin();
    expect(await deployment.ended(run)).toMatchObject({ status: 'success', cancelReason: null });
    expect(await used()).toEqual([{ tokens: 30 }]);
  });

  it('does not begin when others used it up while it waited', async () => {
    await cap(100);
    const { run, ledger } = await begin({ afterSeconds: 1 });
    await deployment.rows('UPDATE budget_use SET tokens = 100');
    expect(await deployment.ended(run)).toMatchObject({ status: 'interrupted', attempt: 1 });
    expect(await ledger.lines()).toEqual([]);
  });

  it('stops at a step also without a thread', async () => {
    await cap(5);
    const gate = deployment.file();
    await gate.write('one');
    const { run, ledger } = await begin({ keepsThread: false }, { gate: gate.path });
    // Without checkpoints, hosts report once a second.
    await waitFor(async () => (await used())[0]?.tokens === 10, { what: 'the first step to be counted' });
    await gate.write('one two three');
    expect(await deployment.ended(run)).toMatchObject({ status: 'interrupted' });
    expect(await ledger.lines()).toEqual(['one', 'two']);
  });

  it('goes on when the budget is not enforced, and is counted', async () => {
    await cap(5, false);
    const { run } = await begin();
    expect(await deployment.ended(run)).toMatchObject({ status: 'success' });
    await waitFor(async () => (await used())[0]?.tokens === 30, { what: 'all to be counted' });
  });
});

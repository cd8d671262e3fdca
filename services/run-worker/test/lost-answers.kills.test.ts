import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await openDeployment();
});
afterEach(() => deployment.close());

type Where = 'node' | 'both' | 'inside' | 'memory';
type Interrupt = { id: string };

/**
 * The point that the resumed run reaches before its worker is killed: the steps that its gate lets pass, and the last
 * note in its ledger.
 */
const MOMENTS = {
  'before it reaches the interrupt': { passes: '', stands: 'asking' },
  'in the node that has its answer': { passes: 'ask', stands: 'answered' },
  'in a later step': { passes: 'ask answer', stands: /^(after|inside)$/ },
};
const OPEN = 'ask answer inside after';

/** An answer as a client sends it, with the resume value that it makes of the interrupts of the graph. */
const plain = (value: unknown) => ({ value, resume: () => value });
const byId = (value: unknown) => ({
  value,
  resume: (asked: Interrupt[]) => Object.fromEntries(asked.map(({ id }) => [id, value])),
});
type Answer = ReturnType<typeof plain> | ReturnType<typeof byId>;

const resultOf = ({ result }: { result: unknown }) => JSON.parse(String(result));

/** Returns a thread that waits for an answer, asked at `where`. */
async function askedThread(where: Where, durability: string) {
  const [ledger, gate] = [deployment.file(), deployment.file()];
  await gate.write(OPEN);
  const input = { where, ledger: ledger.path, gate: gate.path };
  const run = await deployment.create('interview', { input, durability });
  const asked = resultOf(await deployment.ended(run)).__interrupt__ as Interrupt[];
  return { threadId: run.threadId, asked, ledger, gate };
}

/** Answers the thread on a worker that will be killed, and returns what has to be visible in the end. */
async function answerAndStand(where: Where, answer: Answer, moment: keyof typeof MOMENTS, durability: string) {
  const { threadId, asked, ledger, gate } = await askedThread(where, durability);
  const before = (await ledger.lines()).length;
  await gate.write(MOMENTS[moment].passes);
  const run = await deployment.create('interview', { threadId, command: { resume: answer.resume(asked) }, durability });
  const stands = (line: string) => line.match(MOMENTS[moment].stands) !== null;
  await waitFor(async () => (await ledger.lines()).slice(before).some(stands), { what: `a run that stands ${moment}` });
  const expected = Array.from({ length: where === 'both' ? 2 : 1 }, () => `answer: ${JSON.stringify(answer.value)}`);
  const name = `${where}, ${JSON.stringify(answer.resume(asked))}, ${durability}, ${moment}`;
  return { run, name, expected, openGate: () => gate.write(OPEN) };
}

it('the answer to an interrupt is applied once although the worker is killed before, during or after that', async () => {
  const first = await deployment.startWorkerProcess({ N_JOBS_PER_WORKER: '20' });
  const answers = [...['yes', { a: 1 }, 0, ''].map(plain), byId('yes'), byId(null)];
  const cases: Parameters<typeof answerAndStand>[] = answers.map((answer) => [
    ...(['node', answer, 'before it reaches the interrupt', 'async'] as const),
  ]);
  for (const moment of Object.keys(MOMENTS) as (keyof typeof MOMENTS)[]) {
    cases.push(['node', plain(false), moment, 'async'], ['both', byId({ a: 1 }), moment, 'sync']);
    cases.push(['inside', plain(false), moment, 'async'], ['memory', byId(0), moment, 'exit']);
  }
  const standing = await Promise.all(cases.map((each) => answerAndStand(...each)));
  await deployment.startWorker({ N_JOBS_PER_WORKER: '20' });
  await first.stop({ signal: 'SIGKILL' });
  await Promise.all(standing.map(({ openGate }) => openGate()));
  const seen = await Promise.all(
    standing.map(async ({ run, name }) => {
      const ended = await deployment.ended(run);
      const { log, __interrupt__ } = resultOf(ended);
      const applied = log.filter((line: string) => line.startsWith('answer'));
      return { name, status: ended.status, attempt: ended.attempt, applied, askedAgain: __interrupt__ };
    }),
  );
  expect(seen).toEqual(
    standing.map(({ name, expected }) => ({
      name,
      status: 'success',
      attempt: 2,
      applied: expected,
      askedAgain: undefined,
    })),
  );
});

it('a run that began at an earlier checkpoint continues in its branch although its worker is killed', async () => {
  const first = await deployment.startWorkerProcess();
  const { threadId, ledger, gate } = await askedThread('node', 'async');
  const [asking] = await deployment.rows('SELECT checkpoint_id FROM thread_state WHERE thread_id = $1', [threadId]);
  // The thread takes another branch.
  const input = { where: 'inside', ledger: ledger.path, gate: gate.path };
  await deployment.ended(await deployment.create('interview', { threadId, input }));
  await gate.write('');
  const before = (await ledger.lines()).length;
  const run = await deployment.create('interview', {
    threadId,
    command: { resume: 'in the branch' },
    checkpointId: asking!.checkpoint_id as string,
  });
  await waitFor(async () => (await ledger.lines()).length > before, { what: 'the run to stand' });
  await deployment.startWorker();
  await first.stop({ signal: 'SIGKILL' });
  await gate.write(OPEN);
  const ended = await deployment.ended(run);
  expect(ended).toMatchObject({ status: 'success', attempt: 2 });
  expect(resultOf(ended).log).toEqual(['answer: "in the branch"', 'after']);
});

it('the input of a run is applied once although its worker is killed after a subgraph with a memory has ended', async () => {
  const first = await deployment.startWorkerProcess();
  const started = await Promise.all(
    ['sync', 'async', 'exit'].map(async (durability) => {
      const [ledger, gate] = [deployment.file(), deployment.file()];
      const input = { where: 'remembering', ledger: ledger.path, gate: gate.path, log: ['input'] };
      await gate.write(OPEN);
      const run = (threadId?: string) => deployment.create('interview', { threadId, input, durability });
      const [kept, cut] = await Promise.all([run(), run()]);
      await Promise.all([deployment.ended(kept), deployment.ended(cut)]);
      const undisturbed = resultOf(await deployment.ended(await run(kept.threadId)));
      await gate.write('inside');
      const before = (await ledger.lines()).length;
      const disturbed = await run(cut.threadId);
      await waitFor(async () => (await ledger.lines()).slice(before).includes('after'), { what: 'the step after it' });
      return { durability, disturbed, log: undisturbed.log, openGate: () => gate.write(OPEN) };
    }),
  );
  await deployment.startWorker();
  await first.stop({ signal: 'SIGKILL' });
  for (const { durability, disturbed, log, openGate } of started) {
    await openGate();
    const ended = await deployment.ended(disturbed);
    const { status, attempt } = ended;
    expect({ durability, status, attempt, log: resultOf(ended).log }).toEqual({
      ...{ durability, status: 'success', attempt: 2, log },
    });
  }
});

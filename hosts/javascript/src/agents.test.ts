import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('agents');
});
afterAll(() => host.close());

type Message = { type: string; content: string };
const input = { messages: [{ role: 'user', content: 'go' }] };
const toolAnswers = (values: Record<string, unknown> | null) =>
  (values?.messages as Message[] | undefined)?.filter(({ type }) => type === 'tool').map(({ content }) => content);

it('an agent of createAgent asks for approval, and goes on with what was decided', async () => {
  const decisions = [
    { decision: { type: 'approve' }, answers: ['sent to Ada'] },
    {
      decision: { type: 'edit', editedAction: { name: 'send', args: { to: 'Grace' } } },
      answers: ['sent to Grace'],
    },
    { decision: { type: 'reject', message: 'not today' }, answers: ['not today'] },
  ];
  for (const { decision, answers } of decisions) {
    const backends = memoryBackends();
    const first = executionRequest('approval', { input });
    const asked = await runToEnd(host, first, backends);
    expect(asked.outcome).toMatchObject({ kind: 'done', interrupts: expect.any(Object) });
    expect(asked.values).toMatchObject({ __interrupt__: [{ value: { actionRequests: [{ name: 'send' }] } }] });
    const answer = { threadId: first.threadId, command: { resume: { decisions: [decision] } } };
    const { outcome, values } = await runToEnd(host, executionRequest('approval', answer), backends);
    expect(outcome).toMatchObject({ kind: 'done', next: [] });
    expect(toolAnswers(values)).toEqual(answers);
  }
});

it('a deep agent keeps files in its state, and asks before it changes one', async () => {
  const backends = memoryBackends();
  const first = executionRequest('deep', { input });
  const asked = await runToEnd(host, first, backends);
  expect(asked.values).toMatchObject({ __interrupt__: [{ value: { actionRequests: [{ name: 'edit_file' }] } }] });
  const answer = { threadId: first.threadId, command: { resume: { decisions: [{ type: 'approve' }] } } };
  const { outcome, values } = await runToEnd(host, executionRequest('deep', answer), backends);
  expect(outcome).toMatchObject({ kind: 'done', next: [] });
  expect(JSON.stringify(values?.files)).toContain('act');
  expect(JSON.stringify(values?.files)).not.toContain('think');
});

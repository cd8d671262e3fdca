import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  executionRequest,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
  type TestBackends,
} from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

const hi = { messages: [{ role: 'user', content: 'hi' }] };

interface Emitted {
  event: string;
  timestamp: number;
  node?: string;
  data: Record<string, unknown>;
}

/** Runs a graph that emits events of the protocol; returns them, and how the run ended. */
async function emitted(
  graphId: string,
  more: Parameters<typeof executionRequest>[1] = {},
  backends: TestBackends = memoryBackends(),
) {
  const request = executionRequest(graphId, { input: hi, emitsProtocolEvents: true, ...more });
  const { events, outcome, values } = await runToEnd(host, request, backends);
  const all = events.map(({ event, data }) => ({ event, ...(data as object) }) as Emitted);
  const on = (channel: string) => all.filter(({ event }) => event.split('|')[0] === channel);
  return { all, on, outcome, values, threadId: request.threadId };
}

describe('a run that emits events of the protocol', () => {
  it('reports values, updates, tasks, checkpoints and the life of its nodes', async () => {
    const { on, values } = await emitted('echo');
    expect(values).toMatchObject({ messages: [{ content: 'hi' }, { content: 'echo: hi' }] });
    const [, last] = on('values');
    expect(last).toMatchObject({
      event: 'values',
      timestamp: expect.any(Number),
      data: {
        messages: [
          { type: 'human', content: 'hi' },
          { type: 'ai', content: 'echo: hi' },
        ],
      },
    });
    expect(on('updates')).toMatchObject([
      { node: 'echo', data: { node: 'echo', values: { messages: [{ type: 'ai', content: 'echo: hi' }] } } },
    ]);
    expect(on('tasks').map(({ data }) => 'result' in data)).toEqual([false, true]);
    expect(on('checkpoints').at(-1)!.data).toEqual({
      id: expect.any(String),
      parent_id: expect.any(String),
      step: 1,
      source: 'loop',
    });
    expect(on('lifecycle').map(({ event, data }) => [event, data.event])).toEqual([
      [expect.stringMatching(/^lifecycle\|echo:/), 'started'],
      [expect.stringMatching(/^lifecycle\|echo:/), 'completed'],
    ]);
  });

  it('reports a message by its content blocks as the model streams them', async () => {
    const { on } = await emitted('tokens');
    const kinds = on('messages').map(({ data }) => data.event);
    expect([kinds[0], kinds[1], ...kinds.slice(-2)]).toEqual([
      'message-start',
      'content-block-start',
      'content-block-finish',
      'message-finish',
    ]);
    expect(on('messages')[0]!.data).toMatchObject({ role: 'ai', id: expect.any(String) });
    const deltas = on('messages').flatMap(({ data }) => (data.delta ? [data.delta as { text: string }] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ text }) => text).join('')).toBe('Hello there');
    expect(on('custom')).toMatchObject([{ event: 'custom', data: { payload: { progress: 1 } } }]);
  });

  it('reports tools that run, whatever they return', async () => {
    const { on } = await emitted('tools', { input: { from: 2 } });
    const ofCall = (id: string) => on('tools').filter(({ data }) => data.tool_call_id === id);
    expect(ofCall('call_1').map(({ data }) => data.event)).toEqual([
      'tool-started',
      'tool-output-delta',
      'tool-output-delta',
      'tool-finished',
    ]);
    expect(ofCall('call_1')[0]!.data).toMatchObject({ tool_name: 'count' });
    expect(ofCall('call_2').at(-1)!.data).toEqual({
      event: 'tool-error',
      tool_call_id: 'call_2',
      message: 'nothing to count',
    });
    expect(on('tools').filter(({ data }) => data.event === 'tool-finished')).toHaveLength(2);
  });

  it('requests input once for an interrupt inside a subgraph, and goes on with the answer', async () => {
    const backends = memoryBackends();
    const asked = await emitted('sub', { input: { text: 'hi', asks: true } }, backends);
    const [request, ...others] = asked.on('input.requested');
    expect(others).toEqual([]);
    expect(request!.data).toEqual({ interrupt_id: expect.any(String), payload: 'go on?' });
    expect(asked.outcome).toMatchObject({ kind: 'done', next: ['child'] });
    expect(asked.on('values').every(({ data }) => !('__interrupt__' in data))).toBe(true);
    const resume = { [String(request!.data.interrupt_id)]: 'yes' };
    const { threadId } = asked;
    const answered = await emitted('sub', { threadId, input: undefined, command: { resume } }, backends);
    expect(answered.values).toMatchObject({ text: 'hi yes' });
    expect(answered.on('values').map(({ event }) => event)).toContainEqual(expect.stringMatching(/^values\|child:/));
  });

  it('fails as any run does', async () => {
    const { outcome } = await emitted('boom');
    expect(outcome).toMatchObject({ kind: 'failed' });
  });
});

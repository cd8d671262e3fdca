import type { AgUiInput } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { type PlanTarget, planRun } from './plan-run.ts';

const user = (id: string, content: AgUiInput['messages'][number]['content'] = id) => ({ id, role: 'user', content });
const input = (more: Partial<AgUiInput> = {}): AgUiInput => ({ threadId: 't', runId: 'r', messages: [], ...more });
const target = (more: Partial<PlanTarget> = {}): PlanTarget => ({
  values: undefined,
  keys: undefined,
  pending: new Set(),
  ...more,
});
const requested = (sent: AgUiInput, about: PlanTarget) => {
  const plan = planRun(sent, about);
  if (plan.kind !== 'run') throw new Error(`no run but ${plan.kind}`);
  return plan.request;
};

it('a graph gets the messages that its thread has not, in its own form', () => {
  const known = { messages: [{ type: 'human', id: 'old', content: 'old' }] };
  const messages: AgUiInput['messages'] = [
    user('old'),
    { id: 'a', role: 'assistant', toolCalls: [{ id: 'c', function: { name: 'ask', arguments: '{"x":1}' } }] },
    { id: 'o', role: 'tool', toolCallId: 'c', content: '', error: 'no' },
    { id: 's', role: 'system', content: 'be kind', name: 'boss' },
    { id: 'd', role: 'developer', content: 'be short' },
    { id: 'think', role: 'reasoning', content: 'hm' },
    { id: 'shown', role: 'activity', content: { done: 1 } },
    user('new', [
      { type: 'text', text: 'look' },
      { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
      { type: 'image', source: { type: 'file', value: 'file-of-a-provider' } },
      { type: 'binary', mimeType: 'application/pdf', url: 'https://example.com/x.pdf', filename: 'x.pdf' },
    ] as never),
  ];
  expect(requested(input({ messages }), target({ values: known })).input).toEqual({
    messages: [
      { type: 'ai', id: 'a', content: '', tool_calls: [{ type: 'tool_call', id: 'c', name: 'ask', args: { x: 1 } }] },
      { type: 'tool', id: 'o', tool_call_id: 'c', content: 'no', status: 'error' },
      { type: 'system', id: 's', content: 'be kind', name: 'boss' },
      { type: 'system', id: 'd', content: 'be short', additional_kwargs: { __openai_role__: 'developer' } },
      {
        type: 'human',
        id: 'new',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', mimeType: 'image/png', data: 'aGk=' },
          {
            type: 'file',
            mimeType: 'application/pdf',
            url: 'https://example.com/x.pdf',
            metadata: { filename: 'x.pdf' },
          },
        ],
      },
    ],
  });
});

it('a graph gets what the client changed in the state, and nothing that it does not take', () => {
  const state = { plan: ['a'], mood: 'good', messages: ['never'], tools: ['never'], other: 1 };
  const about = target({ values: { plan: ['a'] }, keys: new Set(['messages', 'plan', 'mood']) });
  expect(requested(input({ messages: [user('m')], state }), about).input).toEqual({
    mood: 'good',
    messages: [{ type: 'human', id: 'm', content: 'm' }],
  });
  const withoutMessages = target({ values: { request: 'go' }, keys: new Set(['request']) });
  expect(requested(input({ state: { request: 'stay' } }), withoutMessages).input).toEqual({ request: 'stay' });
  expect(requested(input({ state: { request: 'go' } }), withoutMessages).input).toEqual({ request: 'go' });
});

it('tools and context are in the configuration, and in the state of graphs that have a place for them', () => {
  const tools = [{ name: 'confirm', description: 'Asks', parameters: { type: 'object' } }];
  const context = [{ description: 'page', value: 'start' }];
  const sent = input({ tools, context, forwardedProps: { config: { tags: ['x'] }, theme: 'dark' } });
  const functions = [
    {
      type: 'function',
      name: 'confirm',
      function: { name: 'confirm', description: 'Asks', parameters: { type: 'object' } },
    },
  ];
  const { config, input: given } = requested(sent, target({ keys: new Set(['messages', 'copilotkit']) }));
  expect(given).toEqual({ messages: [], copilotkit: { actions: functions, context } });
  expect(config).toEqual({
    tags: ['x'],
    configurable: { 'ag-ui': { tools: functions, context, forwardedProps: { theme: 'dark' } } },
  });
  expect(requested(input(), target()).config).toBeUndefined();
});

it('answers resume the run when they cover all that waits, in the new form and in the older one', () => {
  const waiting = target({ pending: new Set(['i', 'j']) });
  const resolved = { interruptId: 'i', status: 'resolved', payload: 'yes' } as const;
  const cancelled = { interruptId: 'j', status: 'cancelled' } as const;
  const stray = { interruptId: 'never asked', status: 'resolved', payload: 1 } as const;
  expect(requested(input({ resume: [resolved, cancelled, stray] }), waiting)).toEqual({
    command: { resume: { i: 'yes', j: { __agui_cancelled__: true, interrupt_id: 'j' } } },
    multitask_strategy: 'reject',
  });
  expect(planRun(input({ resume: [resolved] }), waiting)).toEqual({ kind: 'unanswered', interruptIds: ['j'] });
  expect(planRun(input({ messages: [user('m')] }), waiting)).toMatchObject({ kind: 'unanswered' });
  const older = (resume: unknown) => requested(input({ forwardedProps: { command: { resume } } }), waiting).command;
  expect(older('{"ok":true}')).toEqual({ resume: { ok: true } });
  expect(older('just text')).toEqual({ resume: 'just text' });
  expect(older(null)).toEqual({ resume: null });
});

it('answers that were given before start nothing, unless there is something new', () => {
  const resume = [{ interruptId: 'i', status: 'resolved', payload: 'yes' } as const];
  expect(planRun(input({ resume }), target())).toEqual({ kind: 'nothing' });
  expect(planRun(input({ forwardedProps: { command: { resume: 1 } } }), target())).toEqual({ kind: 'nothing' });
  expect(requested(input({ resume, messages: [user('m')] }), target())).not.toHaveProperty('command');
});

it.each<[string, Partial<AgUiInput>]>([
  ['forwardedProps.config', { forwardedProps: { config: { tags: 'x' } } }],
  ['forwardedProps.command', { forwardedProps: { command: { goto: 7 } } }],
  ['messages.0.content', { messages: [{ id: 'm', role: 'user', content: { a: 1 } }] }],
  ['messages.0.toolCallId', { messages: [{ id: 'm', role: 'tool', content: 'x' }] }],
])('a wrong %s is refused by its name', (place, sent) => {
  expect(() => planRun(input(sent), target())).toThrow(place);
});

import type { AssistantVersion, Run } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { refuseRun, refuseStart, shadowRequest } from './shadow-request.ts';

const RUN = {
  run_id: 'r',
  status: 'success',
  metadata: { graph_id: 'agent', assistant_id: 'a', created_by: 'user', team: 'blue', customer: 'c-1' },
  kwargs: {
    input: { text: 'hi' },
    command: null,
    config: {
      recursion_limit: 7,
      tags: ['night'],
      configurable: { tone: 'polite', model: 'small', thread_id: 't', run_id: 'r', checkpoint_id: 'c9', user_id: 'u' },
    },
    context: { tone: 'polite', model: 'small' },
    webhook: 'https://example.com/hook',
    feedback_keys: ['good'],
    interrupt_before: ['act'],
    interrupt_after: null,
    durability: 'sync',
  },
} as unknown as Run;
const versions = [
  { config: { configurable: { tone: 'rude' }, recursion_limit: 3 }, metadata: { team: 'red' } },
  { config: { configurable: { tone: 'polite' }, recursion_limit: 7 }, metadata: { team: 'blue' } },
] as unknown as AssistantVersion[];
const plan = { start: { type: 'checkpoint', id: 'c0' } as const, versions };
const runWith = (kwargs: object) => ({ ...RUN, kwargs: { ...RUN.kwargs, ...kwargs } }) as Run;

test('a shadow has the input and the own arguments of its run, and nothing that came from its assistant', () => {
  expect(shadowRequest(RUN, plan, { assistantId: 'b' })).toEqual({
    assistant_id: 'b',
    input: { text: 'hi' },
    checkpoint: { checkpoint_id: 'c0' },
    metadata: { customer: 'c-1', replay_of: 'r' },
    config: { tags: ['night'], configurable: { model: 'small', __event_streaming_v2: true } },
    interrupt_before: ['act'],
    durability: 'sync',
  });
});

test('another input and another configuration take the place of those of the run', () => {
  const choices = { assistantId: 'b', input: { value: null }, configurable: { tone: 'dry' }, batch: 'x' };
  expect(shadowRequest(RUN, plan, choices)).toMatchObject({
    input: null,
    config: { configurable: { tone: 'dry', __event_streaming_v2: true } },
    metadata: { replay_batch: 'x' },
  });
});

test('a run that answered a question answers it again', () => {
  const answered = runWith({ input: null, command: { resume: 'yes' } });
  const request = shadowRequest(answered, plan, { assistantId: 'b' });
  expect(request).toMatchObject({ command: { resume: 'yes' } });
  expect(request).not.toHaveProperty('input');
});

test('a run that began with nothing begins so again', () => {
  expect(shadowRequest(RUN, { start: { type: 'empty' }, versions }, { assistantId: 'b' })).not.toHaveProperty(
    'checkpoint',
  );
});

test('the shadow of a shadow is one of that shadow', () => {
  const shadow = { ...RUN, run_id: 's', metadata: { ...RUN.metadata, replay_of: 'r', replay_batch: 'x' } } as Run;
  expect(shadowRequest(shadow, plan, { assistantId: 'b' }).metadata).toEqual({ customer: 'c-1', replay_of: 's' });
});

test.each([
  ['is gone', null, /does not have the run/],
  ['goes on', { ...RUN, status: 'running' } as Run, /not ended/],
  ['cannot be decrypted', runWith({ input: { __error__: { error: 'x', message: 'y' } } }), /encrypted/],
  ['is without its input', { ...RUN, kwargs: { command: null } } as unknown as Run, /not kept/],
])('a run that %s is not replayed', (_, run, reason) => {
  expect(refuseRun(run)).toMatch(reason);
  expect(refuseRun(RUN)).toBeUndefined();
});

test('a run is not replayed where what it began with is not there any more', () => {
  expect(refuseStart(RUN, { type: 'lost' })).toMatch(/deleted/);
  expect(refuseStart(RUN, { type: 'unclear' })).toMatch(/not known/);
  expect(refuseStart(runWith({ input: null }), { type: 'empty' })).toMatch(/no input/);
  expect(refuseStart(runWith({ input: null }), { type: 'checkpoint', id: 'c' })).toBeUndefined();
  expect(refuseStart(RUN, { type: 'empty' })).toBeUndefined();
});

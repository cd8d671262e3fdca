import type { JournalRunDetail, Run } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { joinFacts, type RunFacts, runAgainBody } from './run-facts.ts';

const run = {
  run_id: 'r',
  assistant_id: 'a',
  status: 'success',
  created_at: '2026-12-01T00:00:00Z',
  metadata: { graph_id: 'agent', created_by: 'system', assistant_id: 'a', customer: 'c-1' },
  kwargs: {
    input: { text: 'hi' },
    command: null,
    config: {
      recursion_limit: 7,
      configurable: { model: 'small', thread_id: 't', run_id: 'r', user_id: 'u', svc_request_id: 's', __x: 1 },
    },
  },
} as unknown as Run;
const journal = {
  ...run,
  status: 'running',
  attempt: 2,
  attempts: [],
  graph_id: 'agent',
} as unknown as JournalRunDetail;

test('the deployment says how a run stands, the journal how often it was tried', () => {
  expect(joinFacts(run, journal)).toMatchObject({ status: 'success', attempt: 2, graphId: 'agent' });
  expect(joinFacts(null, journal)).toMatchObject({ status: 'running', kwargs: undefined });
  expect(joinFacts(run, null)).toMatchObject({ status: 'success', attempt: undefined, graphId: 'agent' });
  expect(joinFacts(null, null)).toBeUndefined();
});

test('a run is made again from the state before it, with its own arguments and none of the platform', () => {
  const facts = joinFacts(run, null) as RunFacts;
  expect(runAgainBody(facts, { first: 'c1', before: 'c0' })).toEqual({
    assistant_id: 'a',
    checkpoint: { checkpoint_id: 'c0' },
    input: { text: 'hi' },
    metadata: { customer: 'c-1' },
    config: { recursion_limit: 7, configurable: { model: 'small', __event_streaming_v2: true } },
  });
});

test('the first run of a thread is made again from its own input, which its first checkpoint has', () => {
  const body = runAgainBody(joinFacts(run, null) as RunFacts, { first: 'c1', before: undefined });
  expect(body).toMatchObject({ checkpoint: { checkpoint_id: 'c1' } });
  expect(body).not.toHaveProperty('input');
});

test('a run that its deployment has no more cannot be made again', () => {
  expect(runAgainBody(joinFacts(null, journal) as RunFacts, { first: 'c1', before: 'c0' })).toBeUndefined();
  expect(runAgainBody(joinFacts(run, null) as RunFacts, { first: undefined, before: undefined })).toBeUndefined();
});

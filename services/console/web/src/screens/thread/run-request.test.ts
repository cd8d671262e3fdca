import type { Assistant } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../../platform/ask.ts';
import { assistantFor, assistantsOf, explainFailure, type RunChoices, runRequest, writerOf } from './run-request.ts';

const choices: RunChoices = {
  assistantId: 'A',
  input: undefined,
  configurable: undefined,
  breakpoints: { before: [], after: [] },
  strategy: 'enqueue',
  checkpoint: { checkpoint_id: 'C' },
};

describe('the request for a run from a checkpoint', () => {
  it('goes on from the state where no other input is given', () => {
    expect(runRequest(choices)).toEqual({
      assistant_id: 'A',
      input: null,
      checkpoint: { checkpoint_id: 'C' },
      config: { configurable: { __event_streaming_v2: true } },
      multitask_strategy: 'enqueue',
    });
  });

  it('has another input, a configuration and breakpoints where they are chosen', () => {
    const request = runRequest({
      ...choices,
      input: { text: 'x' },
      configurable: { pace: 'slow' },
      breakpoints: { before: '*', after: ['act'] },
      checkpoint: undefined,
    });
    expect(request).toMatchObject({
      input: { text: 'x' },
      config: { configurable: { pace: 'slow' } },
      interrupt_before: '*',
      interrupt_after: ['act'],
    });
    expect(request).not.toHaveProperty('checkpoint');
  });
});

describe('the assistant of a run from a checkpoint', () => {
  const assistant = (id: string, graph: string, creator: string) =>
    ({ assistant_id: id, graph_id: graph, metadata: { created_by: creator } }) as unknown as Assistant;
  const [mine, standard] = [assistant('mine', 'g', 'user'), assistant('standard', 'g', 'system')];

  it('is the one of the run that made it, then that of the thread, then the default one', () => {
    const made = { metadata: { assistant_id: 'mine' } };
    const thread = { metadata: { assistant_id: 'standard', graph_id: 'g' } };
    expect(assistantFor([mine, standard], made, thread)).toBe(mine);
    expect(assistantFor([mine, standard], { metadata: {} }, thread)).toBe(standard);
    expect(assistantFor([mine, standard], { metadata: { assistant_id: 'deleted' } }, undefined)).toBe(standard);
  });

  it('is one of the graph of the thread', () => {
    const other = assistant('other', 'h', 'system');
    expect(assistantsOf([other, mine], { metadata: null }, { metadata: { graph_id: 'g' } })).toEqual([mine]);
  });
});

it('a checkpoint in which nothing was written is one of the node that was next before it', () => {
  expect(writerOf({ metadata: { writes: { ask: {} } } })).toBe('ask');
  expect(writerOf({ metadata: { writes: {} } }, { next: ['check'] })).toBe('check');
  expect(writerOf({ metadata: { writes: {} } }, null)).toBe('__start__');
});

it('a run that is in the way is told with what to do', () => {
  expect(explainFailure(new PlatformError(409, 'Thread has in-flight runs: 1'))).toMatch(/^A run of this thread/);
  expect(explainFailure(new PlatformError(422, 'No'))).toBe('No');
});

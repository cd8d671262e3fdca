import { expect } from 'vitest';
import type { ParityCase } from '../../framework/index.ts';
import { createRun, ON_THREAD, recordOf, resultOf, runFieldCases, runMirror, WITHOUT_THREAD } from './run-fixtures.ts';

/** Cases of a run's arguments, as its graph sees them. */
export const cases: ParityCase[] = [
  ...runFieldCases({
    field: 'assistant_id',
    promise: 'the assistant named, or the default one of the graph named, runs',
    run: async (context) => expect((await runMirror(context, {})).values.trail).toEqual(['look', 'after']),
  }),
  ...runFieldCases({
    field: 'input',
    promise: 'the graph starts with the input',
    run: async (context) => expect((await runMirror(context, {})).values.text).toBe('hi'),
  }),
  ...['command', 'command.update'].flatMap((field) =>
    runFieldCases({
      field,
      promise: 'a command changes the state',
      run: async (context) => {
        const { values } = await runMirror(context, { input: undefined, command: { update: { text: 'commanded' } } });
        expect(values.text).toBe('commanded');
      },
    }),
  ),
  ...runFieldCases({
    field: 'command.goto',
    promise: 'a command says which node comes next',
    run: async (context) => {
      const command = { goto: ['after'], update: { text: 'there' } };
      const { values } = await runMirror(context, { input: undefined, command });
      expect(values.trail).toContain('after');
      expect(values.trail).not.toContain('look');
    },
  }),
  ...runFieldCases({
    field: 'command.resume',
    operations: ON_THREAD,
    promise: 'a command answers an interrupt',
    run: async (context) => {
      const { thread_id } = await context.direct.client.threads.create();
      await context.direct.client.runs.wait(thread_id, 'approval', { input: { request: 'go' } });
      const command = { resume: 'yes', update: { request: 'come' } };
      const made = await createRun(context, { assistant_id: 'approval', command }, { threadId: thread_id });
      expect((await resultOf(context, made)).log).toContain('heard yes');
    },
  }),
  ...runFieldCases({
    field: 'command.resume',
    operations: WITHOUT_THREAD,
    promise: 'an answer where nothing can have been asked is refused',
    run: async (context) => {
      const made = await createRun(context, {
        assistant_id: 'approval',
        command: { resume: 'yes', update: { log: [] } },
      });
      const refused = { __error__: { message: expect.stringMatching(/checkpointer/i) } };
      expect(await resultOf(context, made)).toMatchObject(refused);
    },
  }),
  ...runFieldCases({
    field: 'metadata',
    promise: 'metadata is kept with the run, and the graph sees it',
    run: async (context) => {
      const { made, values } = await runMirror(context, { metadata: { mine: 'yes', created_by: 'somebody else' } });
      expect((await recordOf(context, made)).metadata).toMatchObject({ mine: 'yes', created_by: 'system' });
      expect(values.seen.metadata.mine).toBe('yes');
    },
  }),
  ...['config', 'config.tags'].flatMap((field) =>
    runFieldCases({
      field,
      promise: 'tags of the configuration reach the graph',
      run: async (context) =>
        expect((await runMirror(context, { config: { tags: ['mine'] } })).values.seen.tags).toContain('mine'),
    }),
  ),
  ...runFieldCases({
    field: 'config.recursion_limit',
    promise: 'a graph that takes more steps than allowed fails',
    run: async (context) =>
      expect((await runMirror(context, { config: { recursion_limit: 1 } })).values).toMatchObject({
        __error__: { error: 'GraphRecursionError' },
      }),
  }),
  ...runFieldCases({
    field: 'config.configurable',
    promise: 'configurable values reach the graph, as context too',
    run: async (context) => {
      const { values } = await runMirror(context, { config: { configurable: { tone: 'polite' } } });
      expect(values.seen.configurable.tone).toBe('polite');
      expect(values.seen.context).toEqual({ tone: 'polite' });
    },
  }),
  ...runFieldCases({
    field: 'context',
    promise: 'context reaches the graph, as configurable too',
    run: async (context) => {
      const { values } = await runMirror(context, { context: { tone: 'polite' } });
      expect(values.seen.context).toEqual({ tone: 'polite' });
      expect(values.seen.configurable.tone).toBe('polite');
    },
  }),
  ...['interrupt_before', 'interrupt_after'].flatMap((field) =>
    runFieldCases({
      field,
      promise: `a run stops ${field === 'interrupt_before' ? 'before' : 'after'} the nodes named`,
      run: async (context) => {
        const nodes = [field === 'interrupt_before' ? 'after' : 'look'];
        expect((await runMirror(context, { [field]: nodes })).values.trail).toEqual(['look']);
      },
    }),
  ),
];

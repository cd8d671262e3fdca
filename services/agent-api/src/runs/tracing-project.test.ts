import { expect, it } from 'vitest';
import { tracingProjectOf } from './tracing-project.ts';

it('the tracing project is that of the environment, and there is none while nothing is traced', () => {
  expect(tracingProjectOf({ LANGSMITH_PROJECT: 'mine' })).toBeUndefined();
  expect(tracingProjectOf({ LANGSMITH_TRACING: 'true', LANGSMITH_PROJECT: 'mine' })).toBe('mine');
  expect(tracingProjectOf({ LANGCHAIN_TRACING_V2: 'true' })).toBe('default');
});

import { expect, it } from 'vitest';
import { loadErrorOf } from './load-error.ts';

it('the author of a project that does not load sees its error with file and line, and nothing around it', () => {
  const reason = [
    'run-worker ended with code 1 before it was healthy.',
    'The last lines of its log:',
    '  run-worker: listening',
    '  agent-api: listening',
    '  run-worker: start failed: Graph "agent" did not load: boom',
    '    at <anonymous> (src/agent.ts:35:7)',
    '  agent-api: start failed: Graph "agent" did not load: boom',
    '    at <anonymous> (src/agent.ts:35:7)',
    '  agent-api: stopping',
  ].join('\n');
  expect(loadErrorOf(reason)).toBe('Graph "agent" did not load: boom\n    at <anonymous> (src/agent.ts:35:7)');
  expect(loadErrorOf('  run-worker-2: start failed: the last line')).toBe('the last line');
});

it('a reason that names no failed start is shown whole', () => {
  const reason = 'agent-api was ended by SIGKILL before it was healthy.\n  agent-api: listening';
  expect(loadErrorOf(reason)).toBe(reason);
});

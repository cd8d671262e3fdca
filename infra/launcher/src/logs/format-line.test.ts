import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formatLogLine } from './format-line.ts';

const format = (line: object, isVerbose = false) => {
  const text = formatLogLine(JSON.stringify(line), { isVerbose });
  return text === null ? null : stripVTControlCharacters(text);
};

describe('a person at the terminal sees', () => {
  it('each run that has ended in one line', () => {
    const run = { message: 'run ended', threadId: '01a2', graphId: 'agent', source: 'run-worker' };
    expect(format({ ...run, fields: { status: 'success', ms: 1234 } })).toBe(
      'agent  success        1.23 s  thread 01a2',
    );
    expect(format({ ...run, fields: { status: 'error', ms: 61_000 } })).toBe(
      'agent  error         61.00 s  thread 01a2',
    );
  });

  it('what the code of the project prints and throws, its lines together', () => {
    const fields = { from: 'project' };
    expect(format({ message: 'hello', level: 'INFO', fields })).toBe('  hello');
    expect(format({ message: 'The run failed: no\n    at a.ts:1', level: 'ERROR', fields })).toBe(
      '  The run failed: no\n      at a.ts:1',
    );
  });

  it('what servers say only when everything is asked for', () => {
    const line = { message: 'listening', level: 'INFO', source: 'agent-api', fields: { url: 'http://a' } };
    expect([format(line), format(line, true)]).toEqual([null, '  agent-api  listening']);
  });

  it('no sequence that steers the terminal, and nothing of a line that is no entry', () => {
    const message = 'red \u001b[31m\u001b]0;title\u0007\u009b2J\rover';
    expect(formatLogLine(JSON.stringify({ message, fields: { from: 'project' } }), { isVerbose: false })).toBe(
      '  red [31m]0;title2Jover',
    );
    expect(formatLogLine('{"half', { isVerbose: true })).toBeNull();
  });
});

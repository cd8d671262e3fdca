import { describe, expect, it } from 'vitest';
import { validatorOf } from '../../validation.ts';
import { RunCreateStreamingStateful } from './run-bodies.ts';

describe('a run request', () => {
  const accepts = (body: unknown) => validatorOf(RunCreateStreamingStateful)(body).ok;

  it('accepts any JSON as input', () => {
    for (const input of [null, 1, 'text', false, [], [{}], {}])
      expect(accepts({ assistant_id: 'a', input })).toBe(true);
  });

  it('is refused with an unknown stream mode', () => {
    expect(accepts({ assistant_id: 'a', stream_mode: 'zap' })).toBe(false);
    expect(accepts({ assistant_id: 'a', stream_mode: [] })).toBe(true);
  });

  it('accepts commands in every form that clients send', () => {
    for (const goto of ['n', ['n', 'm'], { node: 'n', input: {} }, [{ node: 'n', input: 1 }], null]) {
      expect(accepts({ assistant_id: 'a', command: { goto, resume: null } })).toBe(true);
    }
  });
});

import { expect, it } from 'vitest';
import { judgeChecks } from './judge-checks.ts';

const check = (name: string, outcome: 'passed' | 'failed' | 'skipped') => ({ name, outcome, detail: '' });
const known = { slow: 'The kit waits for less than it says.' };

it('a failure that is known, with all else passed or skipped, is as expected', () => {
  const checks = [check('fast', 'passed'), check('slow', 'failed'), check('gRPC', 'skipped')];
  expect(judgeChecks(checks, known)).toMatchObject({ passed: 1, skipped: 1, known: 1, isGood: true });
});

it('a failure that nobody explained is a fault', () => {
  const checks = [check('fast', 'failed'), check('slow', 'failed'), check('other', 'passed')];
  expect(judgeChecks(checks, known)).toMatchObject({ unexpected: [{ name: 'fast' }], stale: [], isGood: false });
});

it('a known failure that passes, or is not there any more, has to go from the list', () => {
  expect(judgeChecks([check('slow', 'passed')], known)).toMatchObject({ stale: ['slow'], isGood: false });
  expect(judgeChecks([check('fast', 'passed')], known)).toMatchObject({ stale: ['slow'], isGood: false });
});

it('a kit that checked nothing shows nothing', () => {
  expect(judgeChecks([], {}).isGood).toBe(false);
  expect(judgeChecks([check('fast', 'skipped')], {}).isGood).toBe(false);
});

it('names that every object has are no known failures', () => {
  expect(judgeChecks([check('constructor', 'failed')], {}).unexpected).toHaveLength(1);
});

import { expect, it } from 'vitest';
import { redactPath } from './redact-path.ts';

it('secret tokens do not get into logs, wherever a deployment is mounted', () => {
  expect(redactPath('/feedback/tokens/abc.def')).toBe('/feedback/tokens/…');
  expect(redactPath('/deployments/mine/feedback/tokens/abc.def')).toBe('/deployments/mine/feedback/tokens/…');
  expect(redactPath('/threads/1/runs/2/feedback')).toBe('/threads/1/runs/2/feedback');
});

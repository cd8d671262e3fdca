import { expect, it } from 'vitest';
import { loggedPath } from './logged-path.ts';

it('secret tokens do not get into logs, wherever a deployment is mounted', () => {
  expect(loggedPath('/feedback/tokens/abc.def')).toBe('/feedback/tokens/…');
  expect(loggedPath('/deployments/mine/feedback/tokens/abc.def')).toBe('/deployments/mine/feedback/tokens/…');
  expect(loggedPath('/threads/1/runs/2/feedback')).toBe('/threads/1/runs/2/feedback');
});

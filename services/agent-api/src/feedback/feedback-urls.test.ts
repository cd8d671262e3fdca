import { expect, it } from 'vitest';
import { feedbackKeys, feedbackUrls } from './feedback-urls.ts';

const tokens = { issue: ({ runId, key }: { runId: string; key: string }) => `${runId}-${key}` };

it('feedback URLs have the address by which the client reached the server', () => {
  const about = { runId: 'r', keys: ['a', 'b'] };
  expect(feedbackUrls(tokens, { ...about, headers: { host: 'here:8123' } })).toEqual({
    a: 'http://here:8123/feedback/tokens/r-a',
    b: 'http://here:8123/feedback/tokens/r-b',
  });
  const headers = {
    host: 'inside:1',
    'x-forwarded-host': 'runyard.test',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/deployments/mine',
  };
  expect(feedbackUrls(tokens, { ...about, headers }).a).toBe(
    'https://runyard.test/deployments/mine/feedback/tokens/r-a',
  );
});

it('feedback URLs are for the keys of the run and of the request, each once', () => {
  expect(feedbackKeys(['a'], ['b, a', 'c'])).toEqual(['a', 'b', 'c']);
  expect(feedbackKeys(null, undefined)).toEqual([]);
  expect(feedbackKeys(undefined, 'x,,y')).toEqual(['x', 'y']);
});

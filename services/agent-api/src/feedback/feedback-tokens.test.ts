import { expect, it } from 'vitest';
import { FeedbackTokens } from './feedback-tokens.ts';

const subject = { runId: '01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f50', key: 'how "good"?' };
const signingKey = Buffer.from('0123456789abcdef0123456789abcdef');

it('feedback tokens of one process are read by every process of the deployment', () => {
  const token = new FeedbackTokens({ signingKey, ttlSeconds: 60 }).issue(subject);
  expect(new FeedbackTokens({ signingKey, ttlSeconds: 60 }).read(token)).toEqual(subject);
});

it('feedback tokens that were changed, made up or signed by others are refused', () => {
  const tokens = new FeedbackTokens({ signingKey, ttlSeconds: 60 });
  const [claims, signature] = tokens.issue(subject).split('.') as [string, string];
  const [otherClaims] = tokens.issue({ ...subject, key: 'other' }).split('.') as [string];
  const foreign = new FeedbackTokens({ signingKey: Buffer.from('another'), ttlSeconds: 60 }).issue(subject);
  const wrong = [`${otherClaims}.${signature}`, claims, `${claims}.`, `${claims}.${signature}.x`, '', '.', foreign];
  expect(wrong.map((token) => tokens.read(token))).toEqual(wrong.map(() => undefined));
});

it('feedback tokens expire', () => {
  let now = 1_000_000;
  const tokens = new FeedbackTokens({ signingKey, ttlSeconds: 60, now: () => now });
  const token = tokens.issue(subject);
  now += 59_000;
  expect(tokens.read(token)).toEqual(subject);
  now += 2_000;
  expect(tokens.read(token)).toBeUndefined();
});

import { expect, it } from 'vitest';
import { conforms } from '../validation.ts';
import { BuildJob } from './build.ts';

const job = {
  revision_id: '0192f7a0-0000-7000-8000-000000000002',
  deployment_id: '0192f7a0-0000-7000-8000-000000000001',
  order_url: '/internal/builds/0192f7a0-0000-7000-8000-000000000002/order?epoch=0',
};

it.each([
  '.evil.example/internal/builds/0192f7a0-0000-7000-8000-000000000002/order?epoch=0',
  '@evil.example/internal/builds/0192f7a0-0000-7000-8000-000000000002/order?epoch=0',
  '/internal/builds/../../v2/deployments?epoch=0',
  'http://evil.example/internal/builds/0192f7a0-0000-7000-8000-000000000002/order?epoch=0',
])('a job cannot lead a builder to %s', (url) => {
  expect(conforms(BuildJob, job)).toBe(true);
  expect(conforms(BuildJob, { ...job, order_url: url })).toBe(false);
});

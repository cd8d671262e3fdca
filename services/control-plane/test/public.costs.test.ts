import { controlPlaneOperations } from '@runyard/contracts';
import { findCostlyRequests } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start({}, { hasOwnProcess: true });
});
afterAll(() => platform.close());

it('nobody without a credential can make a request that costs much more than an empty one', async () => {
  const operations = controlPlaneOperations.filter(({ access }) => access === 'public');
  expect(operations.length).toBeGreaterThan(1);
  const { url } = platform.service;
  expect(await findCostlyRequests({ url, operations, boundMs: 150 })).toEqual([]);
});

import { orgAccessOperations } from '@runyard/contracts';
import { findCostlyRequests } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestOrgAccess } from './support/platform.ts';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start({ hasOwnProcess: true });
});
afterAll(() => platform.close());

it('nobody without a credential can make a request that costs much more than an empty one', async () => {
  const operations = orgAccessOperations.filter(({ access }) => access === 'public');
  expect(operations.length).toBeGreaterThan(80);
  const { url } = platform.service;
  expect(await findCostlyRequests({ url, operations, boundMs: 150 })).toEqual([]);
});

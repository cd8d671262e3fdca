import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzzDocument } from '../fuzz/fuzz-document.ts';
import { FUZZ_TARGETS, type FuzzTarget, type FuzzTargetName, listFuzzTargets } from '../fuzz/fuzzed-documents.ts';
import { type Platform, startPlatform } from '../harness/platform.ts';

/** These tests have a platform of their own: random requests delete what others work with. */
let platform: Platform;
let targets: Record<FuzzTargetName, FuzzTarget>;
beforeAll(async () => {
  platform = await startPlatform();
  targets = await listFuzzTargets(platform, 'short');
});
afterAll(async () => {
  await platform.stop();
  await platform.remove();
});

describe('a client that requests anything the documents allow or forbid', () => {
  it.each(FUZZ_TARGETS)('gets no answer outside the document of %s, and no server error', async (name) => {
    const outcome = await fuzzDocument({ ...targets[name], seed: 1, depth: 'short' });
    const { isClean, operations, requests, output } = outcome;
    expect(isClean, output).toBe(true);
    expect(operations.tested).toBe(operations.selected);
    expect(requests).toBeGreaterThan(operations.selected);
  });
});

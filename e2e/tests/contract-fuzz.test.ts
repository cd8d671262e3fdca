import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzzDocument } from '../fuzz/fuzz-document.ts';
import { listFuzzTargets } from '../fuzz/fuzzed-documents.ts';
import { type Platform, startPlatform } from '../harness/platform.ts';

/** These tests have a platform of their own: random requests delete what others work with. */
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(async () => {
  await platform.stop();
  await platform.remove();
});

describe('a client that requests anything the documents allow or forbid', () => {
  it.each(['agent-server', 'control-plane', 'org-access'] as const)(
    'gets no answer outside the document of %s, and no server error',
    async (document) => {
      const target = listFuzzTargets(platform).find((each) => each.document === document)!;
      const { isClean, operations, requests, output } = await fuzzDocument({ ...target, seed: 1, depth: 'short' });
      expect(isClean, output).toBe(true);
      expect(operations.tested).toBe(operations.selected);
      expect(requests).toBeGreaterThan(operations.selected);
    },
  );
});

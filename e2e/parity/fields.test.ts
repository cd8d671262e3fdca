import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { CASES } from './cases/index.ts';
import { wayTo } from './framework/context.ts';
import type { FieldCase } from './framework/index.ts';
import { startStrippingProxy } from './framework/stripping-proxy.ts';

const { deploymentUrl, apiKey } = inject('platform');
const direct = wayTo(deploymentUrl, apiKey);
/** A case that waits for what never comes is no proof: it has to fail because of what it sees. */
const SEEN_WITHIN_MS = 10_000;

/** How the case ends when the field gets lost on the way. */
async function withoutTheField({ field, run }: FieldCase, operation: string): Promise<'passed' | 'failed' | 'hangs'> {
  const proxy = await startStrippingProxy({ target: deploymentUrl, operationId: operation, field });
  try {
    const outcome = await Promise.race([
      run({ ...wayTo(proxy.url, apiKey), operation, direct }).then(
        () => 'passed' as const,
        () => 'failed' as const,
      ),
      delay(SEEN_WITHIN_MS, 'hangs' as const, { ref: false }),
    ]);
    expect(proxy.taken, 'the case sends the field').toBeGreaterThan(0);
    return outcome;
  } finally {
    proxy.close();
  }
}

// A suite without a test would be a failure.
for (const { file, cases } of CASES.filter((each) => each.cases.some(({ kind }) => kind === 'field'))) {
  describe.concurrent(file, () => {
    for (const each of cases) {
      if (each.kind !== 'field') continue;
      for (const operation of each.operations) {
        it(`${operation} ${each.field}: ${each.promise}`, async () => {
          await each.run({ ...direct, operation, direct });
          expect(await withoutTheField(each, operation)).toBe('failed');
        });
      }
    }
  });
}

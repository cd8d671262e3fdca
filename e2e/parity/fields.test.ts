import { describe, expect, inject, it } from 'vitest';
import { CASES } from './cases/index.ts';
import { connectTo } from './framework/context.ts';
import type { FieldCase } from './framework/index.ts';
import { startStrippingProxy } from './framework/stripping-proxy.ts';

const { deploymentUrl, apiKey } = inject('platform');
const direct = connectTo(deploymentUrl, apiKey);
/**
 * Returns how the case ends when the field gets lost on the way: `failed` by an assertion, which shows the field, or by
 * another error, such as a timeout.
 */
async function withoutTheField({ field, run }: FieldCase, operation: string): Promise<string> {
  const proxy = await startStrippingProxy({ target: deploymentUrl, operationId: operation, field });
  try {
    const outcome = await run({ ...connectTo(proxy.url, apiKey), operation, direct }).then(
      () => 'passed',
      (error: Error) => (error.name === 'AssertionError' ? 'failed' : `stopped by ${error.name}: ${error.message}`),
    );
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

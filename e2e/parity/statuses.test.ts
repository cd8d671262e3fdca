import { randomUUID } from 'node:crypto';
import { AGENT_SERVER_OPERATIONS, type Operation } from '@runyard/contracts';
import { describe, expect, inject, it } from 'vitest';
import { CASES } from './cases/index.ts';
import { connectTo } from './framework/context.ts';
import { listGeneratedStatuses } from './framework/coverage.ts';
import { getOperation } from './framework/operations.ts';
import { statusOfWrongRequests, wrongRequests } from './framework/wrong-requests.ts';

const { deploymentUrl, apiKey } = inject('platform');
const direct = connectTo(deploymentUrl, apiKey);

describe.concurrent('requests from the contract alone', () => {
  for (const operation of AGENT_SERVER_OPERATIONS.filter(({ access }) => access !== 'internal')) {
    const { operationId, params, examples } = operation;
    const refusal = statusOfWrongRequests(operation);
    for (const { fault, request, names } of wrongRequests(operation)) {
      it(`${operationId} answers ${refusal} and names the field when ${fault}`, async () => {
        const { status, body } = await direct.call(operationId, request);
        expect(status).toBe(refusal);
        expect(body.detail).toContain(names);
      });
    }

    if (listGeneratedStatuses(operation).includes(404)) {
      it(`${operationId} answers 404 for what is not there`, async () => {
        const unknown = Object.fromEntries(Object.keys(params?.properties ?? {}).map((name) => [name, randomUUID()]));
        const { status } = await direct.call(operationId, {
          params: unknown,
          query: { ...(examples?.query as Record<string, unknown> | undefined) },
          ...(operation.body && { body: about(unknown, examples) }),
        });
        expect(status).toBe(404);
      });
    }
  }
});

/** Returns the example of a body, with the ids that the path has. */
function about(ids: Record<string, string>, examples: Operation['examples']): unknown {
  let body = JSON.stringify(examples?.body ?? {});
  for (const [name, example] of Object.entries((examples?.params ?? {}) as Record<string, string>)) {
    body = body.replaceAll(example, ids[name] ?? example);
  }
  return JSON.parse(body);
}

// A suite without a test would be a failure.
for (const { file, cases } of CASES.filter((each) => each.cases.some(({ kind }) => kind === 'status'))) {
  describe.concurrent(`${file}, answers`, () => {
    for (const each of cases) {
      if (each.kind !== 'status') continue;
      it(`${each.operation} answers ${each.status}: ${each.promise}`, async () => {
        expect(getOperation(each.operation).responses).toHaveProperty(String(each.status));
        const { status } = await each.run({ ...direct, operation: each.operation, direct });
        expect(status).toBe(each.status);
      });
    }
  });
}

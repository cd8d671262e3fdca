import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { TOPICS } from '../events/index.ts';
import { QUEUES } from '../queues/index.ts';
import { validatorOf } from '../validation.ts';
import { SERVICE_OPERATIONS } from './descriptions.ts';

function expectValid(schema: TSchema, example: unknown, what: string): void {
  expect({ what, ...validatorOf(schema, { allIssues: true })(structuredClone(example)) }).toMatchObject({
    what,
    ok: true,
  });
}

describe('examples', () => {
  for (const [service, operations] of Object.entries(SERVICE_OPERATIONS)) {
    describe(service, () => {
      it.each(operations.map((operation) => [operation.operationId, operation] as const))(
        '%s is valid',
        (_, operation) => {
          const { params, query, body } = operation.examples ?? {};
          if (params !== undefined) expectValid(operation.params!, params, 'params');
          if (query !== undefined) expectValid(operation.query!, query, 'query');
          if (body !== undefined) expectValid(operation.body!, body, 'body');
          for (const [status, response] of Object.entries(operation.responses)) {
            if (response.example !== undefined) expectValid(response.schema!, response.example, status);
          }
        },
      );

      it('exist for every operation with a body', () => {
        const without = operations.filter(({ body, examples }) => body && examples?.body === undefined);
        expect(without.map(({ operationId }) => operationId)).toEqual([]);
      });

      it('have unique operation ids, and described placeholders', () => {
        const ids = operations.map(({ operationId }) => operationId);
        expect(new Set(ids).size).toBe(ids.length);
        for (const { path, params, operationId } of operations) {
          const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
          expect({ operationId, names: Object.keys(params?.properties ?? {}).sort() }).toEqual({
            operationId,
            names: placeholders.sort(),
          });
        }
      });
    });
  }

  const events = Object.values(TOPICS).flatMap((topic) => topic.events as readonly TSchema[]);
  const jobs = Object.values(QUEUES).map(({ job }) => job as TSchema);
  it.each([...events, ...jobs].map((schema) => [(schema as { $id?: string }).$id, schema] as const))(
    '%s is valid and exists',
    (_, schema) => {
      const { examples } = schema as { examples?: unknown[] };
      expect(examples?.length).toBeGreaterThan(0);
      for (const example of examples ?? []) expectValid(schema, example, 'event');
    },
  );
});

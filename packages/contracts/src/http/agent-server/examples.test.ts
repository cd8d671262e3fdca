import { describe, expect, it } from 'vitest';
import { arrangeQuery, validatorOf } from '../../validation.ts';
import { AGENT_SERVER_OPERATIONS } from './index.ts';

describe.each(AGENT_SERVER_OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
  'the examples of %s',
  (_, operation) => {
    it('are valid requests', () => {
      const { body, params, query } = structuredClone(operation.examples ?? {});
      if (operation.params) expect(validatorOf(operation.params, { coerce: true })(params)).toMatchObject({ ok: true });
      if (query && operation.query) {
        const arranged = arrangeQuery(operation.query, query as Record<string, string>);
        expect(validatorOf(operation.query, { coerce: true })(arranged)).toMatchObject({ ok: true });
      }
      if (operation.body) expect(validatorOf(operation.body)(body)).toMatchObject({ ok: true });
    });

    it('are valid answers', () => {
      for (const { schema, example } of Object.values(operation.responses)) {
        if (schema && example !== undefined)
          expect(validatorOf(schema)(structuredClone(example))).toMatchObject({ ok: true });
      }
    });
  },
);

it('has no two operations of one name or one place', () => {
  const names = AGENT_SERVER_OPERATIONS.map((operation) => operation.operationId);
  const places = AGENT_SERVER_OPERATIONS.map((operation) => `${operation.method} ${operation.path}`);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(places).size).toBe(places.length);
});

describe('a run request', () => {
  const accepts = (body: unknown) => {
    const operation = AGENT_SERVER_OPERATIONS.find(({ operationId }) => operationId === 'streamRun')!;
    return validatorOf(operation.body!)(body).ok;
  };

  it('takes any JSON as input', () => {
    for (const input of [null, 1, 'text', false, [], [{}], {}])
      expect(accepts({ assistant_id: 'a', input })).toBe(true);
  });

  it('is refused with an unknown stream mode', () => {
    expect(accepts({ assistant_id: 'a', stream_mode: 'zap' })).toBe(false);
    expect(accepts({ assistant_id: 'a', stream_mode: [] })).toBe(true);
  });

  it('takes commands in every form clients send', () => {
    for (const goto of ['n', ['n', 'm'], { node: 'n', input: {} }, [{ node: 'n', input: 1 }], null]) {
      expect(accepts({ assistant_id: 'a', command: { goto, resume: null } })).toBe(true);
    }
  });
});

import type { TSchema } from 'typebox';
import { expect, it } from 'vitest';
import { AGENT_SERVER_OPERATIONS } from './http/agent-server/index.ts';
import { controlPlaneOperations } from './http/control-plane/index.ts';
import { oauthBrokerOperations } from './http/oauth-broker/index.ts';
import { orgAccessOperations } from './http/org-access/index.ts';
import { runHistoryOperations } from './http/run-history/index.ts';
import type { Operation } from './operation.ts';

/** Operations that anybody may call, without a key or a session. */
const operations = [
  ...AGENT_SERVER_OPERATIONS,
  ...controlPlaneOperations,
  ...oauthBrokerOperations,
  ...orgAccessOperations,
  ...runHistoryOperations,
].filter(({ access }) => access === 'public');
/** Bytes of a body that anybody may send. A SCIM token is checked before the body is read. */
const BODY_BYTES_MAX = 300_000;
const checksTokenFirst = ({ path }: Operation) => path.startsWith('/scim/v2/');

interface Schema extends TSchema {
  type?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
}

/** Returns the places of texts and lists that may be of any length. */
function unboundedIn(schema: Schema | undefined, place: string): string[] {
  if (!schema) return [];
  const isOneOfSome = schema.enum !== undefined || schema.const !== undefined || schema.format === 'uuid';
  return [
    ...(schema.type === 'string' && !isOneOfSome && schema.maxLength === undefined ? [place] : []),
    ...(schema.type === 'array' && schema.maxItems === undefined ? [`${place}[]`] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => unboundedIn(each, `${place}.${name}`)),
    ...unboundedIn(schema.items, `${place}[]`),
    ...[...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((each) => unboundedIn(each, place)),
  ];
}

it('every text and list has a maximum that anybody may send', () => {
  const unbounded = operations.flatMap(({ operationId, params, query, body }) => [
    ...unboundedIn(params as Schema, `${operationId} params`),
    ...unboundedIn(query as Schema, `${operationId} query`),
    ...unboundedIn(body as Schema, `${operationId} body`),
  ]);
  expect(unbounded).toEqual([]);
});

it('every body has a small maximum of bytes that anybody may send', () => {
  const large = operations
    .filter((operation) => operation.body !== undefined && !checksTokenFirst(operation))
    .filter(({ bodyLimitBytes }) => !(bodyLimitBytes !== undefined && bodyLimitBytes <= BODY_BYTES_MAX))
    .map(({ operationId }) => operationId);
  expect(large).toEqual([]);
});

it('a text and a list without a maximum are found, wherever they are', () => {
  const text: Schema = { type: 'string' };
  const schema: Schema = { properties: { either: { anyOf: [{ type: 'array', items: text }, { type: 'null' }] } } };
  expect(unboundedIn(schema, 'body')).toEqual(['body.either[]', 'body.either[]']);
});

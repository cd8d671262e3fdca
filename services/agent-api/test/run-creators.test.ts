import { randomUUID } from 'node:crypto';
import { conforms, RunCreated, TOPICS } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GuardedDeployment, KEY_ID, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { AGENT, type Asked, askOperation, says } from './operation-rows.ts';

const ADA = userHeaders('ada');
const OF_ADA = { kind: 'project_user', identity: 'ada' };
const META = 'io.modelcontextprotocol';

let deployment: GuardedDeployment;
let redis: Redis;
beforeAll(async () => {
  deployment = await shareGuardedDeployment();
  redis = new Redis(deployment.redis.redis);
});
afterAll(async () => {
  await redis?.quit();
  await deployment?.close();
});

interface Created {
  run_id: string;
  graph_id: string;
  metadata: Record<string, unknown>;
  creator: object;
}

/** Returns the creations of runs that the bus has got, in their order. */
async function creations(): Promise<Created[]> {
  const entries = await redis.xrange(`{${deployment.redis.keyPrefix}}:bus:${TOPICS.runs.name}`, '-', '+');
  const events = entries.map(([, fields]) => JSON.parse(fields[fields.indexOf('event') + 1]!));
  const created = events.filter(({ type }) => type === 'runyard.run.created');
  expect(created.every((event) => conforms(RunCreated, event))).toBe(true);
  return created.map(({ data }) => data);
}

/** Returns the creation of the one run that a request makes. */
async function creationBy(operationId: string, asked: Asked, headers: Record<string, string>): Promise<Created> {
  const { length } = await creations();
  const { status, body } = await askOperation(deployment.url, operationId, asked, headers, { readsStreams: false });
  expect([operationId, status], JSON.stringify(body)).toEqual([operationId, 200]);
  const made = await waitFor(async () => (await creations())[length], { what: `the run of ${operationId}` });
  expect(await creations()).toHaveLength(length + 1);
  return made;
}

async function newThread(): Promise<string> {
  const { body } = await askOperation(deployment.url, 'createThread', { body: {} }, ADA);
  return (body as { thread_id: string }).thread_id;
}

/** A client says this of itself, in places that are its own. */
const FORGED = { kind: 'session', identity: 'bob', key_id: 'of bob' };
const LATER = { assistant_id: 'echo', after_seconds: 600, metadata: { creator: FORGED } };
const MCP_CALL = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
};
const MCP_META = {
  [`${META}/protocolVersion`]: '2026-07-28',
  [`${META}/clientCapabilities`]: { extensions: { [`${META}/tasks`]: {} } },
};

const REQUESTS: [operationId: string, asked: () => Promise<Asked> | Asked, headers?: Record<string, string>][] = [
  ['createRun', async () => ({ params: { thread_id: await newThread() }, body: LATER })],
  ['streamRun', async () => ({ params: { thread_id: await newThread() }, body: LATER })],
  ['createStatelessRun', () => ({ body: LATER })],
  ['createRunBatch', () => ({ body: [LATER] })],
  ['streamStatelessRun', () => ({ body: LATER })],
  [
    'sendCommand',
    async () => ({
      params: { thread_id: await newThread() },
      body: { id: 1, method: 'run.start', params: { assistant_id: 'echo', input: { messages: [] } } },
    }),
  ],
  ['sendA2aMessage', () => ({ params: AGENT, body: says('hi', { metadata: { creator: FORGED } }) })],
  ['runAgUi', () => ({ params: AGENT, body: { threadId: randomUUID(), runId: randomUUID(), messages: [] } })],
  [
    'callMcp',
    () => ({
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'echo', arguments: { messages: 'hi' }, _meta: MCP_META },
      },
    }),
    MCP_CALL,
  ],
];

it.each(REQUESTS)('the event of a run by %s names its caller as its creator', async (operationId, asked, headers) => {
  const made = await creationBy(operationId, await asked(), { ...ADA, ...headers });
  expect(made).toMatchObject({ graph_id: 'echo', metadata: { graph_id: 'echo', owner: 'ada' } });
  expect(made.creator).toEqual(OF_ADA);
});

it('the event of a run names somebody of the platform by the identity and the key of the platform', async () => {
  const token = await deployment.platformToken();
  const creator = { kind: 'service_key', identity: 'key-1', key_id: KEY_ID };
  const made = await creationBy('createStatelessRun', { body: LATER }, token);
  expect([made.creator, made.metadata.creator]).toEqual([creator, FORGED]);
  const inStudio = await creationBy('createStatelessRun', { body: LATER }, { ...token, 'x-auth-scheme': 'langsmith' });
  expect(inStudio.creator).toEqual(creator);
});

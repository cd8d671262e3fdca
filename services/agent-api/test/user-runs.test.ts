import { createDataCipher } from '@runyard/encryption';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GUARDED_AES_KEY, type GuardedDeployment, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { type Asked, askOperation } from './operation-rows.ts';

const ADA = userHeaders('ada');
const BOB = userHeaders('bob');

let deployment: GuardedDeployment;
beforeAll(async () => {
  deployment = await shareGuardedDeployment();
});
afterAll(() => deployment?.close());

async function ask(operationId: string, asked: Asked, headers: Record<string, string> = ADA) {
  const { status, body, headers: answered } = await askOperation(deployment.url, operationId, asked, headers);
  return { status, body: body as Record<string, string>, headers: answered };
}
const acting = (act: string, on: string) => ({ ...ADA, 'x-act': act, 'x-on': on });
const newThread = async () => (await ask('createThread', { body: {} })).body.thread_id!;

it('a run carries its user to the worker, encrypted, and shows it to nobody', async () => {
  const thread_id = await newThread();
  const config = { configurable: { user_id: 'bob', langgraph_auth_user: { identity: 'bob' } } };
  const { body: run } = await ask('createRun', { params: { thread_id }, body: { assistant_id: 'echo', config } });
  const { rows } = await deployment.pool.query<{ kwargs: Buffer }>('SELECT kwargs FROM run');
  expect(rows[0]!.kwargs.toString('latin1')).not.toContain('secret of ada');
  expect(createDataCipher(GUARDED_AES_KEY).decrypt(rows[0]!.kwargs).toString()).toContain('secret of ada');
  const taken = await deployment.worker.take();
  const user = { identity: 'ada', secret: 'secret of ada', permissions: ['be:ada'] };
  expect(taken.claimed.kwargs).toMatchObject({
    config: { configurable: { user_id: 'ada', langgraph_auth_user: user, svc_auth_user: user } },
  });
  await taken.succeed({});
  const params = { thread_id, run_id: run.run_id! };
  const answers = [run, await ask('getRun', { params }), await ask('listRuns', { params })];
  expect(JSON.stringify(answers)).not.toContain('secret of ada');
});

it('a run is created once for a repeated request of its user, whatever the handler makes of each', async () => {
  const key = { 'idempotency-key': 'k1' };
  const body = { assistant_id: 'echo', after_seconds: 3600 };
  const first = await ask('createStatelessRun', { body }, { ...ADA, ...key });
  const again = { ...acting('everything', 'threads:create_run'), ...key };
  const second = await ask('createStatelessRun', { body }, again);
  expect([second.body.run_id, second.headers.get('idempotent-replayed')]).toEqual([first.body.run_id, 'true']);
  const others = await ask('createStatelessRun', { body }, { ...BOB, ...key });
  expect([others.status, others.body.run_id === first.body.run_id]).toEqual([200, false]);
  const refused = await ask('createStatelessRun', { body }, { ...acting('deny', 'assistants:read'), ...key });
  expect(refused.status).toBe(403);
});

it('a run is not cancelled by the leaving of somebody who may not change its thread', async () => {
  const thread_id = await newThread();
  const body = { assistant_id: 'echo', after_seconds: 3600 };
  const { body: run } = await ask('createRun', { params: { thread_id }, body });
  const params = { thread_id, run_id: run.run_id! };
  for (const operationId of ['joinRun', 'joinRunStream', 'joinStatelessRunStream']) {
    const leaving = { params, query: { cancel_on_disconnect: '1' } };
    expect((await ask(operationId, leaving, acting('deny', 'threads:update'))).status).toBe(403);
  }
  expect((await ask('getRun', { params })).body).toMatchObject({ status: 'pending' });
});

it('a default assistant is for every user to run, and for none to change', async () => {
  const params = { assistant_id: 'echo' };
  const { body: assistant } = await ask('getAssistant', { params }, BOB);
  const { assistant_id } = assistant;
  expect((await ask('createStatelessRun', { body: { assistant_id, after_seconds: 3600 } }, BOB)).status).toBe(200);
  expect((await ask('patchAssistant', { params, body: { name: 'mine' } }, BOB)).status).toBe(404);
  expect((await ask('deleteAssistant', { params }, BOB)).status).toBe(403);
});

import { randomUUID } from 'node:crypto';
import { createDataCipher } from '@runyard/encryption';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GUARDED_AES_KEY, type GuardedDeployment, shareGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { type Asked, askOperation } from './operation-rows.ts';
import { ask as askRaw, open } from './raw-http.ts';

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

it('a stateless run stays that of its user when another makes, uses and deletes a thread with its id', async () => {
  const thread_id = randomUUID();
  const url = `${deployment.url}/threads/${thread_id}`;
  const params = { assistant_id: 'echo', input: { said: 'secret of the run' }, on_completion: 'delete' };
  const started = await askRaw(`${url}/commands`, { headers: ADA, body: { id: 1, method: 'run.start', params } });
  const { run_id } = (started.json as { result: { run_id: string } }).result;
  const run = await deployment.worker.take();
  expect(run.claimed).toMatchObject({ threadId: thread_id, runId: run_id, keepsThread: false });
  const [idOfThread, ids] = [{ params: { thread_id } }, { params: { thread_id, run_id } }];
  const outcomes = async (headers: Record<string, string>) =>
    Promise.all(
      ['getRun', 'getStatelessRun', 'joinRun', 'joinRunStream', 'cancelRun', 'deleteRun'].map(
        async (id) => (await ask(id, ids, headers)).status,
      ),
    );

  expect((await ask('createThread', { body: { thread_id } }, BOB)).status).toBe(200);
  const stream = await open(`${url}/stream`, { headers: { ...BOB, 'last-event-id': '-1' }, method: 'GET' });
  const events = await open(`${url}/stream/events`, { headers: BOB, body: { channels: ['values', 'lifecycle'] } });
  const adas = await open(`${url}/stream/events`, { headers: ADA, body: { channels: ['values', 'lifecycle'] } });
  await run.emit('v2.values', { timestamp: 1, data: { said: 'secret of the run' } }, 'values');
  expect(await outcomes(BOB)).toEqual([404, 404, 404, 404, 404, 404]);
  expect((await ask('listRuns', idOfThread, BOB)).body).toEqual([]);
  expect((await ask('cancelRuns', { body: { thread_id, status: 'all' } }, BOB)).status).toBe(404);
  const own = { assistant_id: 'echo', multitask_strategy: 'rollback' };
  const { body: next } = await ask('createRun', { ...idOfThread, body: own }, BOB);
  expect((await ask('getRun', ids)).body).toMatchObject({ run_id, status: 'running' });
  expect((await ask('getRun', { params: { thread_id, run_id: next.run_id! } })).status).toBe(404);
  expect((await ask('deleteThread', idOfThread, BOB)).status).toBe(204);

  expect((await ask('getRun', ids)).body).toMatchObject({ run_id, status: 'running' });
  await run.succeed({ said: 'result' });
  expect(await ask('joinRun', ids)).toMatchObject({ status: 200, body: { said: 'result' } });
  await waitFor(() => adas.text.includes('completed'), { what: "the end of Ada's run" });
  expect(adas.text).toContain('secret of the run');
  for (const hidden of [stream, events]) {
    expect(hidden.text).not.toContain(run_id);
    expect(hidden.text).not.toContain('secret of the run');
    hidden.hangUp();
  }
  adas.hangUp();

  // The next thread with the id does not show the run either.
  expect((await ask('createThread', { body: { thread_id } }, BOB)).status).toBe(200);
  expect(await outcomes(BOB)).toEqual([404, 404, 404, 404, 404, 404]);
  const late = await open(`${url}/stream`, { headers: { ...BOB, 'last-event-id': '-1' }, method: 'GET' });
  await ask('createRun', { ...idOfThread, body: { assistant_id: 'echo' } }, BOB);
  const last = await deployment.worker.take();
  await last.succeed({});
  await waitFor(() => late.text.includes('run_done'), { what: "the end of Bob's run" });
  expect(late.text).not.toContain(run_id);
  late.hangUp();
});

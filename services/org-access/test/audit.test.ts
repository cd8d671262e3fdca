import { randomUUID } from 'node:crypto';
import { ChainVerifier, hashEvent } from '@runyard/audit-chain';
import {
  type AuditEvent,
  type AuditLogPage,
  type AuditLogVerification,
  HaltChanged,
  PRINCIPAL_HEADER,
} from '@runyard/contracts';
import { createEventBus, makeEvent } from '@runyard/event-bus';
import { clientAddressHeaders, silentLogger } from '@runyard/service-kit';
import { withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { INTERNAL_TOKEN, TestOrgAccess } from './support/platform.ts';

const LOGS = '/api/v1/orgs/current/audit-logs';

let platform: TestOrgAccess;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
});
afterAll(() => platform.close());

const list = async (query = '') => (await platform.asAdmin<AuditLogPage>('GET', `${LOGS}${query}`)).body;
const makeWorkspace = async (displayName: string) =>
  (await platform.asAdmin<{ id: string }>('POST', '/api/v1/workspaces', { display_name: displayName })).body.id;

async function exportAll(query = ''): Promise<AuditEvent[]> {
  const { body } = await platform.verify(platform.bootstrap.api_key);
  const answer = await fetch(`${platform.service.url}${LOGS}/export${query}`, {
    headers: { [PRINCIPAL_HEADER]: body.token },
  });
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await answer.text()).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as AuditEvent);
}

const verify = (checkpoint?: string) =>
  platform.asAdmin<AuditLogVerification>(
    'GET',
    `${LOGS}/verify${checkpoint === undefined ? '' : `?checkpoint=${encodeURIComponent(checkpoint)}`}`,
  );

/** Changes the database as somebody who ignores the trigger. */
const tamper = (statement: string) =>
  withDatabaseClient(platform.database.url, async (client) => {
    await client.query('SET session_replication_role = replica');
    await client.query(statement);
  });

describe('a halt', () => {
  it('is in the trail once, however often control-plane tells of it', async () => {
    const { organization_id, workspace_id } = platform.bootstrap;
    const origin = {
      actor_kind: 'personal_token' as const,
      actor_id: randomUUID(),
      person_id: randomUUID(),
      credential_id: randomUUID(),
      address: '192.0.2.7',
      request_id: 'request-2',
      operation: 'haltWorkspace',
      request_method: 'POST',
      request_path: '/v2/workspaces/current/halt',
    };
    const after = { reason: 'It mails customers', queued: 'keep' as const };
    const data = { organization_id, workspace_id, deployment_id: null, before: null, after, origin };
    const place = { source: '/test', subject: workspace_id };
    const halted = makeEvent(HaltChanged, { ...place, data });
    const ended = { ...data, workspace_id: null, before: after, after: null };
    const resumed = makeEvent(HaltChanged, { ...place, data: ended });
    const bus = createEventBus(platform.bus, { logger: silentLogger });
    await bus.publish(
      'deployments',
      [halted, halted, resumed].map((event) => ({ key: workspace_id, event })),
    );
    await bus.close();
    await expect.poll(() => list('?action=organization.resumed')).toMatchObject({ items: [{ id: resumed.id }] });
    const { items } = await list('?action=workspace.halted');
    expect(items).toEqual([
      expect.objectContaining({
        ...{ id: halted.id, ...origin, resource_type: 'workspace', resource_id: workspace_id, workspace_id },
        ...{ before: null, after },
        details: { changed_at: halted.time },
      }),
    ]);
    expect((await verify()).body).toMatchObject({ valid: true });
  });
});

describe('a change', () => {
  it('leaves an event with actor, credential, address, request, operation, before and after', async () => {
    await platform.call(
      platform.bootstrap.api_key,
      'PATCH',
      '/api/v1/organizations/current/info',
      { display_name: 'Acme' },
      undefined,
      {
        ...clientAddressHeaders(INTERNAL_TOKEN, '192.0.2.7'),
        'x-request-id': 'request-1',
      },
    );
    const { items } = await list('?action=organization.updated');
    const organizationId = platform.bootstrap.organization_id;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      organization_id: organizationId,
      action: 'organization.updated',
      actor_kind: 'service_key',
      address: '192.0.2.7',
      request_id: 'request-1',
      operation: 'updateOrganizationInfo',
      request_method: 'PATCH',
      request_path: '/api/v1/organizations/current/info',
      resource_type: 'organization',
      resource_id: organizationId,
      before: { displayName: 'Default' },
      after: { displayName: 'Acme' },
    });
    expect(items[0]!.actor_id).not.toBeNull();
    expect(items[0]!.credential_id).not.toBeNull();
  });

  it('that changes nothing or is refused leaves none', async () => {
    const before = (await list()).items[0]!.sequence;
    await platform.asAdmin('PATCH', '/api/v1/organizations/current/info', { display_name: 'Acme' });
    await platform.asAdmin('PATCH', '/api/v1/organizations/current/info', { display_name: '' });
    expect((await list()).items[0]!.sequence).toBe(before);
  });

  it('of the operator of the platform, and the bootstrap, leave events too', async () => {
    const path = `/internal/organizations/${platform.bootstrap.organization_id}/plan`;
    await platform.internal(path, { plan: 'plus' }, { method: 'PUT' });
    const { items } = await list();
    expect(items[0]).toMatchObject({
      action: 'organization.plan_changed',
      actor_kind: 'internal',
      actor_id: null,
      before: { plan: 'enterprise' },
      after: { plan: 'plus' },
    });
    expect(items.map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        'organization.created',
        'workspace.created',
        'service_account.created',
        'bootstrap_key.created',
      ]),
    );
  });
});

describe('the audit log', () => {
  it('is read page by page, the newest first, under both prefixes', async () => {
    for (let index = 0; index < 5; index += 1) await makeWorkspace(`Page ${index}`);
    const all = (await list()).items;
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => all.length - index));
    const paged: AuditEvent[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: AuditLogPage = await list(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...page.items);
      cursor = page.cursor;
    }
    expect(paged).toEqual(all);
    const { body } = await platform.asAdmin<AuditLogPage>('GET', '/api/v1/organizations/current/audit-logs');
    expect(body.items).toEqual(all);
  });

  it('is filtered by time, actor, action, operation, resource and workspace', async () => {
    const id = await makeWorkspace('Filtered');
    const [event] = (await list()).items;
    const { occurred_at, actor_id } = event!;
    const filters = {
      actor_id: actor_id!,
      action: 'workspace.created',
      operation: 'createWorkspace',
      resource_type: 'workspace',
      resource_id: id,
      workspace_id: id,
      start_time: occurred_at,
    };
    for (const [name, value] of Object.entries(filters)) {
      const { items } = await list(`?${name}=${encodeURIComponent(value)}`);
      expect(items[0], name).toEqual(event);
      expect(items.length, name).toBeLessThan(event!.sequence);
    }
    expect((await list(`?resource_id=${id}&action=workspace.created&action=other`)).items).toEqual([event]);
    expect((await list(`?end_time=${encodeURIComponent(occurred_at)}`)).items[0]).toEqual(event);
    expect((await list(`?start_time=${encodeURIComponent('2999-01-01T00:00:00Z')}`)).items).toEqual([]);
    expect((await list('?resource_id=%00')).items).toEqual([]);
  });

  it.each(['cursor=none', 'cursor=%FF', 'limit=0', 'actor_id=me', 'start_time=soon', 'cursor=eyJzZXF1ZW5jZSI6MS41fQ'])(
    'refuses %s and says where the fault is',
    async (query) => {
      const { status, body } = await platform.asAdmin<{ detail: { loc: string[] }[] }>('GET', `${LOGS}?${query}`);
      expect(status).toBe(422);
      expect(body.detail[0]!.loc).toEqual(['query', query.split('=')[0]]);
    },
  );

  it('is for those who manage the organization', async () => {
    const { key } = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationUser });
    for (const path of [
      LOGS,
      `${LOGS}/export`,
      `${LOGS}/verify`,
      '/api/v1/audit-logs?start_time=2026-01-01T00:00:00Z&end_time=2999-01-01T00:00:00Z',
    ])
      expect((await platform.call(key, 'GET', path)).status, path).toBe(403);
  });

  it('is answered in the form of OCSF where clients of LangSmith read it', async () => {
    const id = await makeWorkspace('Ocsf');
    const { body } = await platform.asAdmin<{ items: Record<string, unknown>[]; cursor: string | null }>(
      'GET',
      '/api/v1/audit-logs?start_time=2026-01-01T00:00:00Z&end_time=2999-01-01T00:00:00Z&operations=create_workspace&limit=1',
    );
    expect(body.cursor).not.toBeNull();
    expect(body.items).toEqual([
      expect.objectContaining({
        class_uid: 6003,
        type_uid: 600301,
        activity_name: 'Create',
        status: 'Success',
        api: { operation: 'create_workspace' },
        http_request: { http_method: 'POST', url: { path: '/api/v1/workspaces' } },
        resources: [{ uid: id }],
      }),
    ]);
    const { status } = await platform.asAdmin('GET', '/api/v1/audit-logs');
    expect(status).toBe(422);
  });
});

describe('the export', () => {
  it('has all events as JSON lines whose chain can be checked without the platform', async () => {
    const events = await exportAll();
    const verifier = new ChainVerifier({});
    expect(events.map((event) => verifier.check(event)).filter(Boolean)).toEqual([]);
    expect(events.at(-1)).toEqual((await list()).items[0]);
    const filtered = await exportAll('?action=workspace.created');
    expect(filtered).toEqual(events.filter(({ action }) => action === 'workspace.created'));
  });
});

describe('the verification', () => {
  it('says of a chain as it was written that it is whole, and signs its end', async () => {
    const { body } = await verify();
    const last = (await list()).items[0]!.sequence;
    expect(body).toMatchObject({ valid: true, events: last, fault: null, removed_up_to: null });
    await makeWorkspace('Later');
    expect((await verify(body.checkpoint!)).body).toMatchObject({ valid: true, events: last + 1, checkpoints: 1 });
  });

  it('refuses a checkpoint that was not signed here', async () => {
    const { checkpoint } = (await verify()).body;
    const [header, payload, signature] = checkpoint!.split('.');
    const forged = Buffer.from(payload!, 'base64url')
      .toString()
      .replace(/"sequence":\d+/, '"sequence":1');
    for (const text of ['none', `${header}.${Buffer.from(forged).toString('base64url')}.${signature}`])
      expect(await verify(text)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'checkpoint'] }] } });
  });

  it('shows a changed event, a removed one, and a cut end that a kept checkpoint knows', async () => {
    const { checkpoint } = (await verify()).body;
    const events = await exportAll();
    const [second, last] = [events[1]!, events.at(-1)!];
    const faultAfter = async (statement: string, kept?: string) => {
      await tamper(statement);
      return (await verify(kept)).body.fault;
    };
    const restore = async (event: AuditEvent) =>
      tamper(`INSERT INTO audit_event SELECT * FROM kept WHERE sequence = ${event.sequence}`);
    await tamper('CREATE TABLE kept AS SELECT * FROM audit_event');

    expect(await faultAfter('UPDATE audit_event SET address = $$192.0.2.9$$ WHERE sequence = 2')).toEqual({
      sequence: 2,
      reason: 'changed',
    });
    const rehashed = hashEvent({ ...second, address: '192.0.2.9' });
    expect(await faultAfter(`UPDATE audit_event SET hash = decode('${rehashed}', 'hex') WHERE sequence = 2`)).toEqual({
      sequence: 3,
      reason: 'replaced',
    });
    expect(await faultAfter('DELETE FROM audit_event WHERE sequence = 2')).toEqual({ sequence: 2, reason: 'missing' });
    await restore(second);
    expect((await verify(checkpoint!)).body.valid).toBe(true);

    expect(await faultAfter(`DELETE FROM audit_event WHERE sequence = ${last.sequence}`)).toEqual({
      sequence: last.sequence,
      reason: 'missing',
    });
    const before = events.at(-2)!;
    const cut = `UPDATE audit_head SET sequence = ${before.sequence}, hash = decode('${before.hash}', 'hex')`;
    expect(await faultAfter(cut)).toBeNull();
    expect(await faultAfter(cut, checkpoint!)).toEqual({ sequence: last.sequence, reason: 'missing' });
    await restore(last);
    expect(await faultAfter(cut)).toEqual({ sequence: last.sequence, reason: 'replaced' });
    await tamper(`UPDATE audit_head SET sequence = ${last.sequence}, hash = decode('${last.hash}', 'hex')`);
    expect((await verify(checkpoint!)).body.valid).toBe(true);
  });
});

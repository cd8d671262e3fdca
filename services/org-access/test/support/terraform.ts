import { PRINCIPAL_HEADER } from '@runyard/contracts';
import { expect } from 'vitest';
import type { TestOrgAccess } from './platform.ts';

export type Row = Record<string, unknown>;

/** Tables that keep what happened, or what other processes wait for. */
const RECORDS = ['audit_event', 'audit_head', 'audit_key', 'audit_checkpoint', 'outbox', 'idempotency_key', 'duty'];

/** Sends requests as the Terraform provider for LangSmith does, and expects of the answers what it expects. */
export class TerraformProvider {
  readonly #platform: TestOrgAccess;
  /** The workspace of resources that name none. */
  workspaceId: string | undefined;

  constructor(platform: TestOrgAccess) {
    this.#platform = platform;
  }

  async request(method: string, path: string, body?: unknown, workspaceId = this.workspaceId) {
    const { bootstrap, service } = this.#platform;
    const verified = await this.#platform.verify(bootstrap.api_key, workspaceId ? { workspace_id: workspaceId } : {});
    const answer = await fetch(service.url + path, {
      method,
      headers: { [PRINCIPAL_HEADER]: verified.body.token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = answer;
    return { status, headers, type: headers.get('content-type') ?? '', text: await answer.text() };
  }

  /** Sends a request whose answer the provider reads: it has to be JSON and not empty. */
  async read<Answer = Row>(method: string, path: string, body?: unknown, workspaceId?: string): Promise<Answer> {
    const { status, type, text } = await this.request(method, path, body, workspaceId);
    expect({ request: `${method} ${path}`, ok: status < 300, type, text }).toMatchObject({
      ok: true,
      type: expect.stringContaining('application/json'),
    });
    return JSON.parse(text) as Answer;
  }

  /** Sends a request whose answer it does not read. */
  async send(method: string, path: string, body?: unknown, workspaceId?: string): Promise<void> {
    const { status, text } = await this.request(method, path, body, workspaceId);
    expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  }

  /** Reads twice, as two plans in succession do, and expects the same. */
  async plan<Answer = Row>(path: string, workspaceId?: string): Promise<Answer> {
    const first = await this.read<Answer>('GET', path, undefined, workspaceId);
    expect(await this.read<Answer>('GET', path, undefined, workspaceId)).toEqual(first);
    return first;
  }

  /** Looks for a resource in a list, as the provider does for resources that have no operation to read one. */
  async find(path: string, id: unknown, workspaceId?: string): Promise<Row | undefined> {
    return (await this.plan<Row[]>(path, workspaceId)).find((row) => row.id === id);
  }

  /** Expects that each request answers 404: then the provider takes the resource for gone. */
  async expectGone(requests: readonly (readonly [method: string, path: string, body?: unknown])[]): Promise<void> {
    for (const [method, path, body] of requests) {
      expect(`${method} ${path}: ${(await this.request(method, path, body)).status}`).toBe(`${method} ${path}: 404`);
    }
  }

  /** Expects an error that the provider shows: once, with a reason. */
  async expectRefused(status: number, reason: string, request: readonly [string, string, unknown?]): Promise<void> {
    const answer = await this.request(...request);
    expect(answer).toMatchObject({ status, text: expect.stringContaining(reason) });
    expect(answer.type).toContain('application/json');
    // It repeats 409 otherwise.
    if (status === 409) expect(answer.headers.get('x-should-retry')).toBe('false');
  }

  async roleId(name: string): Promise<string> {
    const roles = await this.read<Row[]>('GET', '/api/v1/orgs/current/roles');
    const found = roles.filter((role) => role.name === name);
    expect(found).toHaveLength(1);
    return found[0]!.id as string;
  }

  /** Counts the rows of each table that keeps resources. */
  async countRows(): Promise<Record<string, number>> {
    const tables = await this.#platform.query<{ name: string }>(
      `SELECT table_name::text AS name FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    const counts = tables
      .filter(({ name }) => !RECORDS.includes(name))
      .map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS count FROM "${name}"`);
    const rows = await this.#platform.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  }
}

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { CommitLine } from './commit-line.ts';
import { TestOrgAccess } from './platform.ts';

/** Work against the service that may break off, and may be begun anew. */
export interface KilledWork {
  act(): Promise<unknown>;
  /** Begins anew what broke off; default: the same. It returns when the service has acknowledged all of it. */
  retry?(): Promise<unknown>;
  /** Expects what holds once the service has acknowledged the work, however often it was begun. */
  expectDone(): Promise<void>;
}

/** Tables that change beside any request. */
const BESIDE_REQUESTS = ['outbox', 'email_outbox', 'duty', 'sign_in_throttle', 'audit_key', 'audit_checkpoint'];

/** Nothing of this exists when every change is whole; each query returns what does. */
const HALF_DONE = {
  'a session of somebody who is nowhere a member': `SELECT id FROM session s WHERE ended_at IS NULL AND NOT EXISTS
    (SELECT 1 FROM identity i WHERE i.person_id = s.person_id AND NOT is_removed AND disabled_at IS NULL)`,
  'a member without a role that was granted': `SELECT id FROM identity i WHERE kind = 'person' AND NOT is_removed AND NOT EXISTS
    (SELECT 1 FROM role_grant g WHERE g.identity_id = i.id AND g.role_id = i.organization_role_id)`,
  'a role in a workspace that was not granted': `SELECT identity_id FROM member m JOIN identity i ON i.id = identity_id
    WHERE kind = 'person' AND NOT EXISTS
      (SELECT 1 FROM role_grant g WHERE g.identity_id = m.identity_id AND g.workspace_id = m.workspace_id)`,
  'a key whose making nobody recorded': `SELECT id FROM api_key k WHERE kind <> 'bootstrap' AND NOT EXISTS
    (SELECT 1 FROM audit_event e WHERE e.resource_id = k.id::text AND action = 'api_key.created')`,
  'a claimed invite without a member': `SELECT id FROM invite v WHERE outcome = 'claimed' AND NOT EXISTS
    (SELECT 1 FROM identity i JOIN person p ON p.id = i.person_id
     WHERE p.email = v.email AND i.organization_id = v.organization_id)`,
  'an account without a member': `SELECT person_id FROM password_credential c WHERE NOT EXISTS
    (SELECT 1 FROM identity i WHERE i.person_id = c.person_id)`,
  'an organization without a workspace or an administrator': `SELECT id FROM organization o WHERE NOT EXISTS
    (SELECT 1 FROM workspace w WHERE w.organization_id = o.id) OR NOT EXISTS
    (SELECT 1 FROM identity i JOIN role r ON r.id = i.organization_role_id
     WHERE i.organization_id = o.id AND r.name = 'ORGANIZATION_ADMIN')`,
};

/** An org-access that is killed between any two commits of a request. */
export class KilledService {
  readonly platform: TestOrgAccess;
  readonly #line: CommitLine;
  readonly #done: (() => Promise<void>)[] = [];

  private constructor(platform: TestOrgAccess, line: CommitLine) {
    this.platform = platform;
    this.#line = line;
  }

  static async start(environment: Record<string, string> = {}): Promise<KilledService> {
    let line!: CommitLine;
    const reach = async (url: string) => {
      line = await CommitLine.to(url);
      return line.url;
    };
    const platform = await TestOrgAccess.start({ reach, environment, hasOwnProcess: true });
    return new KilledService(platform, line);
  }

  async close(): Promise<void> {
    await this.platform.close();
    await this.#line.close();
  }

  /**
   * Kills the service before the first commit of the work, between any two, and after the last one, which nobody has
   * acknowledged then, each time with new work. Nothing is half done then, and the work is done when it is begun anew.
   *
   * @param options.commits the number that the work needs: a change of it should be noticed
   */
  async killAtEachStep(prepare: () => Promise<KilledWork>, options: { commits: number }): Promise<void> {
    const { act } = await prepare();
    expect(await this.#line.countCommits(act), 'commits of the work').toBe(options.commits);
    for (let commits = 0; commits <= options.commits; commits++) {
      const work = await prepare();
      const before = commits === 0 ? await this.#digest() : undefined;
      await this.killOnce(commits, work.act);
      if (before) expect(changesOf(before, await this.#digest()), 'tables that changed').toEqual([]);
      await (work.retry ?? work.act)();
      await work.expectDone();
      this.#done.push(work.expectDone);
    }
    await this.#expectNothingHalfDone();
  }

  /** Starts the service once more, and expects all acknowledged work as it was. */
  async expectNothingLost(): Promise<void> {
    await this.platform.process.stop({ signal: 'SIGKILL' });
    await this.platform.restart();
    for (const expectDone of this.#done) await expectDone();
    await this.#expectNothingHalfDone();
  }

  /** Kills the service after so many commits of the work. It, or the next one, finds nothing half done. */
  async killOnce(commits: number, act: () => Promise<unknown>): Promise<void> {
    const stopped = this.#line.stopAfter(commits);
    const acted = act().then(
      () => 'answered',
      () => 'broken',
    );
    await Promise.race([stopped, acted]);
    await this.platform.process.stop({ signal: 'SIGKILL' });
    expect(await acted, `an answer after ${commits} commits`).toBe('broken');
    this.#line.resume();
    await this.platform.restart();
    await this.#expectNothingHalfDone();
  }

  /** Returns a digest of each table. */
  async #digest(): Promise<Record<string, string>> {
    const digests: Record<string, string> = {};
    const tables = await this.platform.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    for (const { name } of tables.filter((table) => !BESIDE_REQUESTS.includes(table.name))) {
      const rows = await this.platform.query<{ row: string }>(
        `SELECT (to_jsonb(t) - 'last_used_at' - 'last_seen_at')::text AS row FROM "${name}" t ORDER BY 1`,
      );
      digests[name] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
    }
    return digests;
  }

  async #expectNothingHalfDone(): Promise<void> {
    for (const [what, sql] of Object.entries(HALF_DONE)) expect(await this.platform.query(sql), what).toEqual([]);
    const { body } = await this.platform.asAdmin('GET', '/api/v1/orgs/current/audit-logs/verify');
    expect(body).toMatchObject({ valid: true });
  }
}

function changesOf(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(before).filter((table) => before[table] !== after[table]);
}

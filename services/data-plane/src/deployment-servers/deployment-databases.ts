import { randomBytes } from 'node:crypto';
import { sqlState } from '@runyard/database';
import type { DesiredBudgets, DesiredHalt, HaltProgress } from '@runyard/deployments';
import { Semaphore } from '@runyard/deployments';
import pg from 'pg';
import { UNDEFINED_COLUMN, UNDEFINED_TABLE } from './missing-schema.ts';

/** Connects to one deployment's database as its own role. */
export interface DatabaseAccess {
  uri: string;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Creating a database copies one of some megabytes, and dropping one waits for a checkpoint. */
const QUERY_TIMEOUT_MS = 120_000;
const APPLIED_AT_ONCE = 8;

/** Sets the budgets that it gets as a list of `BudgetTerms`. A statement sees the rows of before: others go first. */
const REPLACE_BUDGETS = `
  WITH desired AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS d (id uuid, name text, subject text, subject_id text, period text,
      tokens_max bigint, runs_max bigint, mode text, refusal_status integer)
  ), removed AS (
    DELETE FROM budget b WHERE NOT EXISTS (SELECT 1 FROM desired d WHERE d.id = b.budget_id)
  ), removed_use AS (
    DELETE FROM budget_use u WHERE NOT EXISTS (SELECT 1 FROM desired d WHERE d.id = u.budget_id)
  ), removed_runs AS (
    DELETE FROM run_budget m WHERE NOT EXISTS (SELECT 1 FROM desired d WHERE d.id = m.budget_id)
  )
  INSERT INTO budget AS b (budget_id, name, subject, subject_id, period, tokens_max, runs_max, is_enforced, refusal_status)
  SELECT id, name, subject, subject_id, period, tokens_max, runs_max, mode = 'enforced', refusal_status FROM desired
  ON CONFLICT (budget_id) DO UPDATE
  SET name = excluded.name, subject = excluded.subject, subject_id = excluded.subject_id, period = excluded.period,
      tokens_max = excluded.tokens_max, runs_max = excluded.runs_max, is_enforced = excluded.is_enforced,
      refusal_status = excluded.refusal_status
  WHERE b.* IS DISTINCT FROM excluded.*`;

/** Notes which of them several deployments have used up together, and by whom, as it gets it. */
const REPLACE_EXHAUSTED = `
  WITH desired AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS d (budget_id uuid, start timestamptz, subject_id text, measure text)
  ), cleared AS (
    UPDATE budget_use u SET exhausted = NULL
    WHERE exhausted IS NOT NULL
      AND (budget_id, start, subject_id) NOT IN (SELECT budget_id, start, subject_id FROM desired)
  )
  INSERT INTO budget_use AS u (budget_id, start, subject_id, exhausted)
  SELECT budget_id, start, subject_id, measure FROM desired
  ON CONFLICT (budget_id, start, subject_id) DO UPDATE SET exhausted = excluded.exhausted
  WHERE u.exhausted IS DISTINCT FROM excluded.exhausted`;

/**
 * Manages the Postgres databases of deployments: one each, owned by a role that can reach no other database. Every step
 * is idempotent.
 */
export class DeploymentDatabases {
  readonly #adminUri: string;
  readonly #applying = new Semaphore(APPLIED_AT_ONCE);

  /** @param adminUri connects as a role that may create roles and databases */
  constructor(adminUri: string) {
    this.#adminUri = adminUri;
  }

  /** Makes a password for a new role, of letters and digits only, so that it needs no quoting anywhere. */
  static makePassword(): string {
    return randomBytes(24).toString('hex');
  }

  accessTo(deploymentId: string, password: string): DatabaseAccess {
    const uri = new URL(this.#adminUri);
    uri.username = nameOf(deploymentId);
    uri.password = password;
    uri.pathname = `/${nameOf(deploymentId)}`;
    return { uri: uri.href };
  }

  /** Creates the role and the database unless they exist, and sets the role's password. */
  async ensure(deploymentId: string, password: string): Promise<void> {
    const name = nameOf(deploymentId);
    await this.#asAdmin(async (client) => {
      const role = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name]);
      await client.query(`${role.rowCount ? 'ALTER' : 'CREATE'} ROLE ${name} LOGIN PASSWORD '${password}'`);
      const database = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
      if (!database.rowCount) {
        // Only a superuser may give a database to a role that it is not a member of.
        await client.query(`GRANT ${name} TO CURRENT_USER`);
        await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
      }
      // Also of one that was created before this process ended.
      await client.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
    });
  }

  /**
   * Removes the database with all its data, even while clients are connected, and the role with what it has left in
   * databases that every role may connect to.
   */
  async drop(deploymentId: string): Promise<void> {
    const name = nameOf(deploymentId);
    await this.#asAdmin(async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      for (const database of await listDatabasesWithObjectsOf(client, name)) {
        await withConnection(this.#adminUriOf(database), (there) => there.query(`DROP OWNED BY ${name}`));
      }
      await client.query(`DROP ROLE IF EXISTS ${name}`);
    });
  }

  /** Returns bytes and connections of each deployment's database. Deployments without a database are left out. */
  async readMetrics(deploymentIds: string[]): Promise<Map<string, { bytes: number; connections: number }>> {
    const ofName = new Map(deploymentIds.map((id) => [nameOf(id), id]));
    const { rows } = await this.#asAdmin((client) =>
      client.query<{ name: string; bytes: string; connections: number }>(
        `SELECT datname AS name, pg_database_size(oid)::text AS bytes,
                (SELECT count(*)::integer FROM pg_stat_activity WHERE datid = pg_database.oid) AS connections
         FROM pg_database WHERE datname = ANY($1)`,
        [[...ofName.keys()]],
      ),
    );
    return new Map(
      rows.map(({ name, bytes, connections }) => [ofName.get(name)!, { bytes: Number(bytes), connections }]),
    );
  }

  /**
   * Makes the revision the active one: only its workers claim runs from now on. Other workers finish the runs they
   * have.
   */
  async activateRevision(access: DatabaseAccess, revisionId: string): Promise<void> {
    await withConnection(access.uri, (client) =>
      client.query('UPDATE deployment SET active_revision = $1 WHERE active_revision IS DISTINCT FROM $1', [
        revisionId,
      ]),
    );
  }

  /**
   * Halts or resumes the deployment: its servers and workers read the row with every run that they create or claim.
   * Returns how far that is. Only so many deployments at once take a connection.
   */
  applyHalt(access: DatabaseAccess, { reason, cancelsQueued }: DesiredHalt): Promise<HaltProgress> {
    return this.#applying.run(new AbortController().signal, () =>
      withConnection(access.uri, async (client) => {
        await client.query(
          `UPDATE deployment
           SET halt_reason = $1, halt_cancels_queued = $2,
               halt_cancelled_runs = CASE WHEN halt_reason IS NULL THEN 0 ELSE halt_cancelled_runs END
           WHERE halt_reason IS DISTINCT FROM $1::text OR halt_cancels_queued <> $2`,
          [reason, cancelsQueued],
        );
        const { rows } = await client.query<HaltProgress>(
          `SELECT halt_cancelled_runs AS "runsCancelled",
                  (SELECT count(*)::integer FROM run WHERE status = 'running') AS "runsInFlight",
                  (SELECT count(*)::integer FROM run WHERE status = 'pending') AS "runsQueued"
           FROM deployment`,
        );
        return rows[0]!;
      }),
    );
  }

  /**
   * Sets the budgets of the deployment, and removes what others have counted. Returns false when its servers are of an
   * earlier release, which counts nothing; one that has never run has them once its first revision is activated.
   */
  applyBudgets(access: DatabaseAccess, { budgets, exhausted }: Omit<DesiredBudgets, 'version'>): Promise<boolean> {
    return this.#applying.run(new AbortController().signal, () =>
      withConnection(access.uri, async (client) => {
        const { rows } = await client.query<{ has_run: boolean; counts: boolean }>(
          `SELECT to_regclass('deployment') IS NOT NULL AS has_run, to_regclass('budget') IS NOT NULL AS counts`,
        );
        const [{ has_run: hasRun, counts } = { has_run: false, counts: false }] = rows;
        if (!counts) return budgets.length === 0 || !hasRun;
        await client.query(REPLACE_BUDGETS, [JSON.stringify(budgets)]);
        await client.query(REPLACE_EXHAUSTED, [JSON.stringify(exhausted)]);
        return true;
      }),
    );
  }

  /**
   * Stores the newest edit of the deployment's project when it does not load, null when it does: crons skip their slots
   * meanwhile. Servers of an earlier release, and those that never came up, have no place for it and no such crons.
   */
  async setFailedRevision(access: DatabaseAccess, revisionId: string | null): Promise<void> {
    await withConnection(access.uri, (client) =>
      client.query('UPDATE deployment SET failed_revision = $1 WHERE failed_revision IS DISTINCT FROM $1', [
        revisionId,
      ]),
    ).catch((error: unknown) => {
      const state = sqlState(error);
      if (state !== UNDEFINED_TABLE && state !== UNDEFINED_COLUMN) throw error;
    });
  }

  #asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return withConnection(this.#adminUri, work);
  }

  #adminUriOf(database: string): string {
    const uri = new URL(this.#adminUri);
    uri.pathname = `/${encodeURIComponent(database)}`;
    return uri.href;
  }
}

/** Database and role have the same name. It consists of letters, digits and `_`, so it needs no quoting. */
function nameOf(deploymentId: string): string {
  return `runyard_${deploymentId.replaceAll('-', '')}`;
}

async function withConnection<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString,
    application_name: 'runyard-control-plane',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // The failed statement reports the loss.
  await client.connect();
  try {
    return await work(client);
  } finally {
    // An unresponsive server never confirms the end, so nobody waits for it.
    void client.end().catch(() => undefined);
  }
}

/** Returns the databases in which a role owns something or has rights of its own. */
async function listDatabasesWithObjectsOf(client: pg.Client, role: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT d.datname AS name
     FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.refobjid
     WHERE s.refclassid = 'pg_authid'::regclass AND r.rolname = $1`,
    [role],
  );
  return rows.map(({ name }) => name);
}

import { join } from 'node:path';
import { readOrCreateSecret } from '@runyard/local-infra';
import pg from 'pg';

/**
 * Creates a database of its own for each service that keeps one, with a role that owns it and reaches no other.
 * Idempotent; the role's password is set at every start, so a deleted data folder does not lock a kept server.
 */
export async function createDatabases<Name extends string>(options: {
  adminUrl: string;
  dataDir: string;
  /** Distinguishes the platforms that share one server. */
  prefix: string;
  names: readonly Name[];
}): Promise<Record<Name, string>> {
  const client = new pg.Client({ connectionString: options.adminUrl, application_name: 'runyard-launcher' });
  client.on('error', () => {}); // The statement in flight reports the error; without a listener it would end the process.
  await client.connect();
  try {
    const urls = {} as Record<Name, string>;
    for (const name of options.names) urls[name] = await createDatabase(client, name, options);
    return urls;
  } finally {
    await client.end();
  }
}

async function createDatabase(
  client: pg.Client,
  name: string,
  options: { adminUrl: string; dataDir: string; prefix: string },
): Promise<string> {
  const database = `${options.prefix}${name.replaceAll('-', '_')}`;
  const password = await readOrCreateSecret(join(options.dataDir, 'secrets', `${name}.database-password`));
  const identifier = pg.escapeIdentifier(database);
  const exists = async (catalog: string, column: string) =>
    Boolean((await client.query(`SELECT 1 FROM ${catalog} WHERE ${column} = $1`, [database])).rowCount);

  const verb = (await exists('pg_roles', 'rolname')) ? 'ALTER' : 'CREATE';
  await client.query(`${verb} ROLE ${identifier} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
  if (!(await exists('pg_database', 'datname'))) {
    // An administrator that is no superuser may only grant ownership to roles it is a member of.
    await client.query(`GRANT ${identifier} TO CURRENT_USER`);
    await client.query(`CREATE DATABASE ${identifier} OWNER ${identifier}`);
    await client.query(`REVOKE CONNECT ON DATABASE ${identifier} FROM PUBLIC`);
  }
  const url = new URL(options.adminUrl);
  url.username = database;
  url.password = password;
  url.pathname = `/${database}`;
  return url.href;
}

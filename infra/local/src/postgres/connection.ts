import pg from 'pg';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';

/** Runs one statement on a connection of its own. */
export async function queryPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // The statement's own error reports the cause.
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Checks a server named by the user. @throws InfrastructureError with one sentence why it cannot be used */
export async function checkPostgres(url: string, variable: string): Promise<string> {
  const rows = await queryPostgres(url, 'SHOW server_version').catch((error) => {
    throw new InfrastructureError(`Postgres at ${variable} cannot be used: ${reasonOf(error)}.`);
  });
  return String(rows[0]?.server_version);
}

import pg from 'pg';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';

/** One statement on a connection of its own. */
export async function queryPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // The statement's own error tells what happened.
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Says in one sentence why a server named by the user cannot be used. */
export async function checkPostgres(url: string, variable: string): Promise<string> {
  const rows = await queryPostgres(url, 'SHOW server_version').catch((error) => {
    throw new InfrastructureError(`Postgres at ${variable} cannot be used: ${reasonOf(error)}.`);
  });
  return String(rows[0]?.server_version);
}

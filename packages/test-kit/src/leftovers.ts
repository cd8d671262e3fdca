import { randomBytes } from 'node:crypto';
import { testServerAddress } from './environment.ts';
import { withDatabaseClient } from './postgres.ts';
import { deleteKeys } from './redis.ts';
import { runVariable } from './unique-name.ts';

/**
 * Runs once before all test files, when the servers are there. A process that ends with a deployment which its test
 * files shared can drop no database any more; what it leaves on a server that lives on is deleted here.
 */
export default function setup(): () => Promise<void> {
  const run = randomBytes(4).toString('hex');
  process.env[runVariable] = run;
  return async () => {
    await dropDatabases(`runyard_test_${run}`);
    await deleteKeys(testServerAddress('redis'), `test-${run}`);
  };
}

function dropDatabases(prefix: string): Promise<void> {
  return withDatabaseClient(testServerAddress('postgres'), async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT quote_ident(datname) AS name FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    );
    for (const { name } of rows) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
}

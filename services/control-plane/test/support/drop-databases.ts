import { withDatabaseClient } from '@runyard/test-kit';

/** Drops the databases of deployments, which no data plane is left to drop. */
export async function dropDatabases(adminUrl: string, deploymentIds: string[]): Promise<void> {
  await withDatabaseClient(adminUrl, async (client) => {
    for (const id of deploymentIds) {
      const name = `runyard_${id.replaceAll('-', '')}`;
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`DROP ROLE IF EXISTS ${name}`);
    }
  });
}

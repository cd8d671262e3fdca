import { ConnectionUri, runService, serviceVariables } from '@runyard/service-kit';
import Type from 'typebox';
import { applyMigrations } from './migrations.ts';
import { retryStartStep } from './retry-start-step.ts';

const schema = Type.Object({
  ...serviceVariables,
  DATABASE_URI: ConnectionUri('postgres', 'The Postgres database of the service.'),
});

/**
 * The whole of `main.js migrate`: brings a service's database up to date and ends the process, with 0 when it is. An
 * unavailable server is waited for. Only the database's address is needed, since the command runs before the rest of an
 * upgrade is there.
 */
export function runMigrations(service: string, directory: string): Promise<void> {
  return runService({
    name: `${service}-migrations`,
    schema,
    async run({ DATABASE_URI }, context) {
      const { applied } = await retryStartStep(() => applyMigrations(DATABASE_URI, directory), context);
      context.logger.info('database migrated', { service, applied });
      await context.lifecycle.stop('migrated');
    },
  });
}

import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSaver } from '../src/index.ts';
import { anyThreadBackend } from './any-thread-backend.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase } from './deployment-database.ts';

// The public suite reads these from the global scope.
Object.assign(globalThis, { describe, it, expect, beforeAll, afterAll, beforeEach, afterEach });

let database: DeploymentDatabase;

const initializer = {
  checkpointerName: 'Runyard over Postgres',
  async beforeAll() {
    database = await openDeploymentDatabase();
  },
  async afterAll() {
    await database.close();
  },
  async createCheckpointer() {
    await database.pool.query('TRUNCATE checkpoint, checkpoint_blob, checkpoint_write, thread_fence');
    return createSaver(checkpointModule, anyThreadBackend(database.pool, openCheckpoints(database.pool)));
  },
};

validate(initializer);
describe('delta channels', () => {
  beforeAll(initializer.beforeAll);
  afterAll(initializer.afterAll);
  deltaChannelHistoryTests(initializer);
});

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { withDatabaseClient } from '@runyard/test-kit';
import { insertOrganization } from '../../access/people.ts';
import { findDatabaseUrl } from '../../access/platform-database.ts';
import type { Kit } from '../kit.ts';
import { deployForKit } from '../kit-deployment.ts';
import { runChecks } from '../run-program.ts';
import { KNOWN_FAILURES } from './known-failures.ts';

const PROJECT = path.join(import.meta.dirname, 'project');

/**
 * Edits rows in the database: those of a thread of a deployment that encrypts, and those of the audit trail. A passed
 * check is an edit that the platform finds.
 */
export const agentMemoryIntegrity: Kit = {
  name: 'agent-memory-integrity',
  knownFailures: KNOWN_FAILURES,
  async run(platform) {
    const key = { name: 'LANGGRAPH_AES_KEY', value: randomBytes(16).toString('hex') };
    const { id, url, remove } = await deployForKit(platform, PROJECT, [key]);
    try {
      const orgAccessUrl = await findDatabaseUrl(platform.dataDir, 'org_access');
      const [victim, other] = await withDatabaseClient(orgAccessUrl, async (client) => [
        await insertOrganization(client),
        await insertOrganization(client),
      ]);
      return await runChecks({
        requirements: path.join(import.meta.dirname, 'requirements.txt'),
        args: [path.join(import.meta.dirname, 'checks.py')],
        variables: {
          PLATFORM_URL: platform.url,
          DEPLOYMENT_URL: url,
          API_KEY: platform.apiKey,
          DEPLOYMENT_DATABASE_URL: await findDatabaseUrl(platform.dataDir, id),
          ORG_ACCESS_DATABASE_URL: orgAccessUrl,
          VICTIM_ID: victim!.organizationId,
          VICTIM_KEY: victim!.key,
          OTHER_ID: other!.organizationId,
          OTHER_KEY: other!.key,
        },
      });
    } finally {
      await remove();
    }
  },
};

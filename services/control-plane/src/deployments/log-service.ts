import type { LogPage, LogRequest, LogType } from '@runyard/contracts';
import { logPageOf, logQueryOf, logSegments, readLogs } from '@runyard/revision-logs';
import { type Principal, tenantOf } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';

export interface LogSelection {
  deploymentId: string;
  /** Undefined: the logs of all revisions. */
  revisionId?: string;
  kind: LogType;
}

/** Reads logs for callers, of deployments that they may read. */
export class LogService {
  readonly #database: Database;
  readonly #dataDir: string;

  constructor(options: { database: Database; dataDir: string }) {
    this.#database = options.database;
    this.#dataDir = options.dataDir;
  }

  async read(
    caller: Principal,
    selection: LogSelection,
    request: LogRequest & { run_id?: string },
    place: 'body' | 'query',
  ): Promise<LogPage> {
    const { deploymentId, revisionId, kind } = selection;
    const [tenant, { prisma }] = [tenantOf(caller), this.#database];
    await deploymentStore.get(prisma, tenant, deploymentId);
    if (revisionId !== undefined) await deploymentStore.getRevision(prisma, tenant, deploymentId, revisionId);
    const revisionIds = revisionId ? [revisionId] : await logSegments.revisionsOf(this.#dataDir, deploymentId);
    const query = logQueryOf(request, place);
    const segments = await Promise.all(
      revisionIds.map((each) => logSegments.list(this.#dataDir, { deploymentId, revisionId: each, kind })),
    );
    return logPageOf(await readLogs(segments.flat(), query), query);
  }
}

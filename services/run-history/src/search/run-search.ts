import {
  FACETS,
  type Facet,
  isUuid,
  type JournalRunDetail,
  type RunFacets,
  type RunFacetsRequest,
  type RunSearchPage,
  type RunSearchRequest,
  type RunUsage,
} from '@runyard/contracts';
import { isoTime } from '@runyard/database';
import { InvalidFieldError, NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import type { RunScope } from '../access/visible-deployments.ts';
import { oldestKept } from '../runs/retention-time.ts';
import { lowestIdAt } from '../runs/run-id-time.ts';
import { SELECT_RUN, type StoredAttempt, type StoredRun } from '../runs/stored-run.ts';
import { conditionsOf } from './conditions.ts';
import { scanRuns } from './run-scan.ts';
import { toJournalRun, toRunDetail } from './run-view.ts';

/** Runs whose values are counted, newest first. */
const COUNTED_MAX = 5_000;
/** Values of one field in an answer. */
const VALUES_MAX = 50;

const FACET_COLUMNS = {
  status: 'status',
  deployment_id: 'deployment_id',
  graph_id: 'graph_id',
  assistant_id: 'assistant_id',
  revision_id: 'revision_id',
  error: 'error_class',
} as const satisfies Record<Facet, keyof StoredRun>;

const NO_FACETS: RunFacets['facets'] = {
  status: [],
  deployment_id: [],
  graph_id: [],
  assistant_id: [],
  revision_id: [],
  error: [],
};

type FacetColumn = (typeof FACET_COLUMNS)[Facet];
type CountedRun = Pick<StoredRun, 'run_id' | FacetColumn>;

/** Answers questions about single runs. */
export class RunSearch {
  readonly #pool: pg.Pool;
  readonly #retentionDays: number;

  /** @param options.pool its statements have a short time limit */
  constructor(options: { pool: pg.Pool; retentionDays: number }) {
    this.#pool = options.pool;
    this.#retentionDays = options.retentionDays;
  }

  /** @throws InvalidFieldError for a cursor of something else, and as `conditionsOf` does */
  async search(scope: RunScope, { limit, cursor, ...filters }: RunSearchRequest): Promise<RunSearchPage> {
    if (cursor !== undefined && !isUuid(cursor))
      throw new InvalidFieldError(['body', 'cursor'], 'Not a cursor of this search');
    if (seesNothing(scope)) return { runs: [], next_cursor: null };
    const conditions = conditionsOf(scope, filters, this.#retentionDays);
    const scan = { conditions, columns: SELECT_RUN, limit, below: cursor };
    const { runs, below } = await scanRuns<StoredRun>(this.#pool, scan);
    return { runs: runs.map(toJournalRun), next_cursor: below };
  }

  async countFacets(scope: RunScope, filters: RunFacetsRequest): Promise<RunFacets> {
    if (seesNothing(scope)) return { facets: NO_FACETS, runs: 0, is_complete: true };
    const columns = ['run_id', ...Object.values(FACET_COLUMNS)].join(', ');
    const scan = { conditions: conditionsOf(scope, filters, this.#retentionDays), columns, limit: COUNTED_MAX };
    const { runs, below } = await scanRuns<CountedRun>(this.#pool, scan);
    const facets = Object.fromEntries(FACETS.map((facet) => [facet, countValues(runs, FACET_COLUMNS[facet])]));
    return { facets: facets as RunFacets['facets'], runs: runs.length, is_complete: below === null };
  }

  /** @throws NotFoundError also for a run that the caller may not see */
  async get(scope: RunScope, runId: string): Promise<JournalRunDetail> {
    const { rows } = await this.#pool.query<StoredRun>({
      name: 'history_get_run',
      text: `SELECT ${SELECT_RUN} FROM run
             WHERE run_id = $1 AND run_id >= $5 AND workspace_id = $2 AND deployment_id = ANY(coalesce($4::uuid[], ARRAY[deployment_id]))
               AND EXISTS (SELECT FROM deployment d WHERE d.deployment_id = run.deployment_id AND d.organization_id = $3)`,
      values: [
        runId,
        scope.workspaceId,
        scope.organizationId,
        scope.deploymentIds ?? null,
        lowestIdAt(oldestKept(this.#retentionDays)),
      ],
    });
    const [run] = rows;
    if (!run) throw new NotFoundError(`Run ${runId} not found.`);
    const { rows: attempts } = await this.#pool.query<StoredAttempt>({
      name: 'history_get_attempts',
      text: `SELECT run_id, attempt, ${isoTime('started_at')} AS started_at, ${isoTime('ended_at')} AS ended_at, outcome
             FROM run_attempt WHERE run_id = $1`,
      values: [runId],
    });
    const { rows: usage } = await this.#pool.query<RunUsage>({
      name: 'history_get_usage',
      text: 'SELECT models, tools FROM run_usage WHERE run_id = $1 ORDER BY attempt',
      values: [runId],
    });
    return toRunDetail(run, attempts, usage);
  }
}

/** Access policies may leave a caller no deployment at all. */
function seesNothing({ deploymentIds }: RunScope): boolean {
  return deploymentIds?.length === 0;
}

function countValues(runs: readonly CountedRun[], column: FacetColumn): { value: string; runs: number }[] {
  const counts = new Map<string, number>();
  for (const { [column]: value } of runs) {
    if (typeof value === 'string') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const values = [...counts].map(([value, count]) => ({ value, runs: count }));
  return values.sort((one, other) => other.runs - one.runs).slice(0, VALUES_MAX);
}

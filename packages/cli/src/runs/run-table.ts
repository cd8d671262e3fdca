import { textOf } from '../output/cells.ts';
import { formatTable } from '../output/table.ts';
import type { Run } from './run.ts';

export function formatRuns(runs: readonly Run[]): string {
  const rows = runs.map(({ run_id, status, assistant_id, created_at, updated_at }) =>
    [run_id, status, assistant_id, created_at, updated_at].map(textOf),
  );
  return formatTable(['RUN', 'STATUS', 'ASSISTANT', 'CREATED', 'UPDATED'], rows);
}

import type { JournalRun } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { Status } from '../../components/status.tsx';
import { formatDuration, Time } from '../../components/time.tsx';
import { shortId } from '../run/run-summary.tsx';

export const ROW_PX = 37;
/** The widths of the columns, of which the error takes what is left. */
export const COLUMNS =
  'grid grid-cols-[2.25rem_8rem_8.5rem_7rem_6rem_minmax(13rem,1fr)_8rem_7rem_5.5rem_5rem_11rem] min-w-[82rem] items-center md:grid-cols-[2.25rem_8rem_8.5rem_7rem_6rem_6rem_minmax(13rem,1fr)_8rem_7rem_5.5rem_5rem_11rem] md:min-w-[88rem]';
/** Narrow windows leave out a column. */
export const TOKENS = 'Tokens';
export const COLUMN_NAMES = [
  'Status',
  'Created',
  'Graph',
  'Duration',
  TOKENS,
  'Error',
  'Deployment',
  'Thread',
  'Queue',
  'Attempt',
  'Made by',
] as const;

interface RunRowProps {
  run: JournalRun;
  index: number;
  top: number;
  workspaceId: string;
  deploymentName: string | undefined;
  isSelected: boolean;
  onSelect: (index: number, isSelected: boolean, isRange: boolean) => void;
}

/** A run as a row of the table, with a link to its page. */
export const RunRow = memo(function RunRow(props: RunRowProps) {
  const { run, index, top, workspaceId, deploymentName, isSelected, onSelect } = props;
  const { deployment_id: deploymentId, thread_id: threadId, run_id: runId, status, error, creator } = run;
  const select = (event: MouseEvent<HTMLInputElement>) => onSelect(index, event.currentTarget.checked, event.shiftKey);
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a real table cannot be placed one by one
    // biome-ignore lint/a11y/useFocusableInteractive: what is in it takes the focus
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      style={{ transform: `translateY(${top}px)`, height: ROW_PX }}
      className={`absolute top-0 left-0 w-full border-b border-line whitespace-nowrap focus-within:bg-raised hover:bg-raised ${COLUMNS} ${isSelected ? 'bg-chosen' : ''}`}
    >
      <Cell>
        <input
          type="checkbox"
          aria-label={`Select run ${shortId(runId)}`}
          checked={isSelected}
          onClick={select}
          onChange={() => {}}
          className="size-4 accent-action"
        />
      </Cell>
      <Cell>
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId/runs/$runId"
          params={{ workspaceId, deploymentId, threadId, runId }}
          search={{}}
          data-open
          title={`Run ${runId}`}
          className="no-underline hover:underline"
        >
          <Status status={status} />
          <span className="sr-only">, run {shortId(runId)}</span>
        </Link>
      </Cell>
      <Cell>
        <Time at={run.created_at} />
      </Cell>
      <Cell>{run.graph_id ?? '–'}</Cell>
      <Cell isNumber>{formatDuration(run.duration_ms)}</Cell>
      <Cell isNumber isWideOnly>
        {run.usage ? run.usage.total_tokens.toLocaleString('en') : '–'}
      </Cell>
      <Cell>
        {error && (
          <span className="text-fault" title={`${error.error}: ${error.message}`}>
            {error.error}: {error.message}
          </span>
        )}
      </Cell>
      <Cell>{deploymentName ?? <code className="text-xs">{shortId(deploymentId)}</code>}</Cell>
      <Cell>
        <Link
          to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
          params={{ workspaceId, deploymentId, threadId }}
          search={{}}
          title={`Thread ${threadId}`}
        >
          <code className="text-xs">{shortId(threadId)}</code>
        </Link>
      </Cell>
      <Cell isNumber>{formatDuration(run.queue_ms)}</Cell>
      <Cell isNumber>{run.attempt === 0 ? '–' : run.attempt}</Cell>
      <Cell>
        {creator ? `${creator.kind.replaceAll('_', ' ')} ${shortId(creator.key_id ?? creator.identity)}` : '–'}
      </Cell>
    </div>
  );
});

interface CellProps {
  isNumber?: boolean;
  /** The cell is of a column that narrow windows leave out. */
  isWideOnly?: boolean;
  children: ReactNode;
}

function Cell({ isNumber = false, isWideOnly = false, children }: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the row
    <div
      role="cell"
      className={`min-w-0 truncate px-2 ${isNumber ? 'text-right tabular-nums' : ''} ${isWideOnly ? 'max-md:hidden' : ''}`}
    >
      {children}
    </div>
  );
}

import { Link, useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Button, missingPermission } from '../../components/button.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { ListedThread } from '../../platform/threads.ts';
import { useWorkspace } from '../../session/session.ts';

interface ThreadTableProps {
  workspaceId: string;
  deploymentId: string;
  threads: readonly ListedThread[];
  total: number;
  isLoadingMore: boolean;
  /** Called when the end of what is there comes into sight. */
  onEnd(): void;
  onDelete(thread: ListedThread): void;
}

const ROW_PX = 40;
const SCROLLER = 'threads';
/** So many lines before the end the next page is asked for. */
const AHEAD = 20;
const CELL = 'px-3 py-0';
const HEAD = 'px-3 py-2 font-medium';

/** A list of any length, of which only the lines in sight are in the page. */
export function ThreadTable({ threads, total, isLoadingMore, onEnd, onDelete, ...place }: ThreadTableProps) {
  const workspace = useWorkspace();
  const scroller = useRef<HTMLDivElement>(null);
  const before = useElementScrollRestoration({ id: SCROLLER });
  const virtualizer = useVirtualizer({
    count: threads.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    ...(before?.scrollY !== undefined && { initialOffset: before.scrollY }),
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const newest = useRef(onEnd);
  newest.current = onEnd;
  useEffect(() => {
    if (last >= threads.length - AHEAD) newest.current();
  }, [last, threads.length]);
  const unavailable = missingPermission(workspace.may('runs:delete'), 'runs:delete');
  const above = rows[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (rows.at(-1)?.end ?? 0);
  return (
    <div
      ref={scroller}
      data-scroll-restoration-id={SCROLLER}
      className="h-[max(16rem,calc(100dvh-18rem))] overflow-auto rounded border border-line bg-card"
    >
      <table
        aria-label="Threads"
        aria-rowcount={total + 1}
        aria-busy={isLoadingMore}
        className="w-full table-fixed border-separate border-spacing-0 text-left"
      >
        <thead className="text-xs text-faint">
          <tr aria-rowindex={1} className="*:sticky *:top-0 *:z-10 *:border-b *:border-line *:bg-card">
            <th className={HEAD}>Thread</th>
            <th className={`${HEAD} w-30`}>Status</th>
            <th className={`${HEAD} hidden w-32 sm:table-cell`}>Changed</th>
            <th className={`${HEAD} hidden w-32 lg:table-cell`}>Graph</th>
            <th className={`${HEAD} hidden lg:table-cell`}>Metadata</th>
            <th className={`${HEAD} w-14`}>
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Space px={above} />
          {rows.map(({ index }) => {
            const thread = threads[index]!;
            const id = thread.thread_id;
            return (
              <tr
                key={id}
                aria-rowindex={index + 2}
                style={{ height: ROW_PX }}
                className="*:truncate *:border-b *:border-line"
              >
                <td className={`${CELL} font-mono text-xs`}>
                  <Link
                    to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
                    params={{ ...place, threadId: id }}
                    className="block truncate py-1.5 focus-visible:-outline-offset-1"
                  >
                    {id}
                  </Link>
                </td>
                <td className={CELL}>
                  <Status status={thread.status} />
                </td>
                <td className={`${CELL} hidden text-xs text-faint sm:table-cell`}>
                  <Time at={thread.updated_at} />
                </td>
                <td className={`${CELL} hidden lg:table-cell`}>{String(thread.metadata.graph_id ?? '–')}</td>
                <td className={`${CELL} hidden font-mono text-xs text-faint lg:table-cell`}>{metadataText(thread)}</td>
                <td className={CELL}>
                  <Button
                    size="small"
                    look="quiet"
                    aria-label={`Delete thread ${id}`}
                    unavailable={unavailable}
                    onClick={() => onDelete(thread)}
                  >
                    ✕
                  </Button>
                </td>
              </tr>
            );
          })}
          <Space px={below} />
        </tbody>
      </table>
    </div>
  );
}

/** Stands for the lines that are not in the page. */
function Space({ px }: { px: number }) {
  return (
    px > 0 && (
      // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it is no line of the table
      <tr role="presentation">
        <td role="presentation" colSpan={6} style={{ height: px }} className="p-0" />
      </tr>
    )
  );
}

/** Returns the metadata that people gave, without those that every thread has. */
function metadataText({ metadata }: ListedThread): string {
  const { graph_id: _graph, assistant_id: _assistant, ...own } = metadata;
  return Object.entries(own)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

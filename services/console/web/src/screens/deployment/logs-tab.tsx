import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { LogView } from '../../components/log-view.tsx';
import { LogFilters } from './logs/log-filters.tsx';
import type { LogSnapshot } from './logs/log-reader.ts';
import { useLog } from './logs/use-log.ts';
import { useLogFilter } from './logs/use-log-filter.ts';
import { useRunLink } from './logs/use-run-link.ts';
import { useDeployment } from './use-deployment.ts';

/** Shows the output of a deployment's servers as they print it. */
export function LogsTab() {
  const { deployment } = useDeployment();
  const deploymentId = deployment.id;
  const { filter, setFilter } = useLogFilter();
  const log = useLog({ kind: 'deployment', deploymentId }, filter);
  const { entries, phase, hasOlder, isReadingOlder, isFull, error, reader } = log;
  const linkOf = useRunLink(deploymentId);
  const isFiltered = filter.level !== undefined || filter.query !== undefined;
  const isPaused = phase === 'paused';
  return (
    <section className="flex min-h-96 flex-1 flex-col gap-2">
      <h2 className="sr-only">Logs</h2>
      <div className="flex flex-wrap items-end gap-3">
        <LogFilters filter={filter} onChange={setFilter} />
        <Button onClick={() => (isPaused ? reader.resume() : reader.pause())}>{isPaused ? 'Go on' : 'Pause'}</Button>
        {hasOlder && (
          <Button
            unavailable={
              isReadingOlder ? 'They are being read' : isFull ? 'A page holds no more lines: filter them' : undefined
            }
            onClick={() => void reader.readOlder()}
          >
            Older lines
          </Button>
        )}
        <p role="status" className="ml-auto text-xs text-faint">
          {sentence(log)}
        </p>
      </div>
      <Fault error={error} onRetry={() => reader.retry()} />
      {phase === 'loading' && !error && <Loading what="the log" />}
      {phase !== 'loading' && entries.length === 0 && (
        <Empty title={isFiltered ? 'No line matches' : 'Nothing has been printed yet'}>
          {hasOlder
            ? 'There are older lines that were not searched yet.'
            : 'New lines appear here as they are printed.'}
        </Empty>
      )}
      {entries.length > 0 && (
        <LogView
          label={`Log of ${deployment.name}`}
          entries={entries}
          linkOf={linkOf}
          onOlder={hasOlder ? () => void reader.readOlder() : undefined}
          className="min-h-80 flex-1 basis-0"
        />
      )}
    </section>
  );
}

/** Only what changes seldom: it is read out. */
function sentence({ phase, isFull }: LogSnapshot): string {
  const kept = isFull ? '; the newest 100,000 lines are kept here' : '';
  if (phase === 'paused') return `Paused${kept}`;
  return phase === 'live' ? `Live${kept}` : '';
}

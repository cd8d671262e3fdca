import type { ReactNode } from 'react';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { LogView } from '../../../components/log-view.tsx';
import type { LogSource } from '../../../platform/logs.ts';
import { useLog } from '../logs/use-log.ts';
import { useRunLink } from '../logs/use-run-link.ts';

export interface RolloutLogProps {
  title: string;
  source: LogSource;
  /** True while lines may still come. */
  isLive: boolean;
  /** The text that is shown while there are no lines. */
  empty: string;
  /** How many lines are read at first. */
  first?: number;
  className?: string;
  children?: ReactNode;
}

/** A log of a revision beside its roll-out. */
export function RolloutLog({ title, source, isLive, empty, first, className = 'h-80', children }: RolloutLogProps) {
  const log = useLog(source, {}, { isLive, ...(first !== undefined && { first }) });
  const { entries, phase, hasOlder, error, reader } = log;
  const linkOf = useRunLink(source.deploymentId);
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <header className="flex flex-wrap items-baseline justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {children}
      </header>
      <Fault error={error} onRetry={() => reader.retry()} />
      {phase === 'loading' && !error && <Loading what={title.toLowerCase()} />}
      {phase !== 'loading' && entries.length === 0 && <p className="text-faint">{empty}</p>}
      {entries.length > 0 && (
        <LogView
          label={title}
          entries={entries}
          linkOf={linkOf}
          onOlder={hasOlder ? () => void reader.readOlder() : undefined}
          className={className}
        />
      )}
    </section>
  );
}

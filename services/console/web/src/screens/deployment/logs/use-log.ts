import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { type LogSource, readLog } from '../../../platform/logs.ts';
import { useWorkspace } from '../../../session/session.ts';
import { type LogFilter, LogReader, type LogSnapshot } from './log-reader.ts';

export interface Log extends LogSnapshot {
  reader: LogReader;
}

/** Reads a log for as long as a part of a page is shown. */
export function useLog(
  source: LogSource,
  filter: LogFilter = {},
  { isLive = true, first }: { isLive?: boolean; first?: number } = {},
): Log {
  const { id: workspaceId } = useWorkspace();
  const key = JSON.stringify({ source, filter });
  const reader = useMemo(() => {
    const { source, filter } = JSON.parse(key) as { source: LogSource; filter: LogFilter };
    const read: ConstructorParameters<typeof LogReader>[0] = (request, signal) =>
      readLog(workspaceId, source, request, signal);
    return new LogReader(read, filter, first === undefined ? {} : { first });
  }, [key, workspaceId, first]);
  useEffect(() => {
    reader.start();
    return () => reader.stop();
  }, [reader]);
  useEffect(() => reader.setLive(isLive), [reader, isLive]);
  return { reader, ...useSyncExternalStore(reader.subscribe, reader.snapshot) };
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Fault } from '../../components/fault.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Loading } from '../../components/loading.tsx';
import { formatDuration } from '../../components/time.tsx';
import { checkpointStateQuery } from '../../platform/run-states.ts';
import type { RunPlace } from '../../platform/runs.ts';
import type { RunFeed } from './run-feed.ts';
import type { Entry } from './timeline.ts';
import { KIND_NAMES, statusText } from './timeline-row.tsx';
import { useFeed } from './use-run-feed.ts';

interface InspectorProps {
  feed: RunFeed;
  place: RunPlace;
  selected: string | undefined;
  isRunning: boolean;
}

/** Shows everything that is known of the selected entry of a timeline. */
export function Inspector({ feed, place, selected, isRunning }: InspectorProps) {
  const entry = useFeed(feed, () => (selected === undefined ? undefined : feed.timeline.get(selected)));
  return (
    <section aria-label="Inspector" className="flex min-w-0 flex-col gap-3 rounded border border-line bg-card p-3">
      {entry ? (
        <Inspected key={entry.id} {...{ entry, place, isRunning }} />
      ) : (
        <p className="text-faint">
          {selected === undefined
            ? 'Select an entry of the timeline to see its input and output.'
            : 'The selected entry is not in the timeline.'}
        </p>
      )}
    </section>
  );
}

function Inspected({ entry, place, isRunning }: { entry: Entry; place: RunPlace; isRunning: boolean }) {
  const { kind, title, startedAt, endedAt, text, details, checkpoint } = entry;
  const status = statusText(entry, isRunning);
  const duration = startedAt !== undefined && endedAt !== undefined ? formatDuration(endedAt - startedAt) : undefined;
  const isSaid =
    text !== undefined && text !== '' && (kind === 'message' || kind === 'error' || entry.status === 'error');
  return (
    <>
      <header className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="min-w-0 font-semibold break-words">{title}</h2>
        <p className="text-xs text-faint">
          {[KIND_NAMES[kind], status, duration].filter(Boolean).join(' · ')}
          {startedAt !== undefined && <> · {new Date(startedAt).toLocaleTimeString()}</>}
        </p>
      </header>
      {isSaid && (
        <p
          className={`max-h-80 overflow-auto rounded border border-line p-2 break-words whitespace-pre-wrap ${kind === 'message' ? '' : 'text-fault'}`}
          // A long text is read by the keyboard too.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
          tabIndex={0}
        >
          {text}
        </p>
      )}
      {kind === 'gap' && <p className="text-wait">{text}</p>}
      {Object.entries(details)
        .filter(([, value]) => value !== undefined)
        .sort(([a], [b]) => placeOf(a) - placeOf(b))
        .map(([name, value]) => (
          <Detail key={name} name={name} value={value} />
        ))}
      {checkpoint && <StateAt key={checkpoint.id} {...{ place, checkpoint }} />}
    </>
  );
}

/** Inputs and outputs come before metadata, as people look for them first. */
function placeOf(name: string): number {
  return name === 'metadata' ? 1 : 0;
}

function Detail({ name, value }: { name: string; value: unknown }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold capitalize">{name}</h3>
      <JsonView value={value} name={name} />
    </div>
  );
}

function StateAt({ place, checkpoint }: { place: RunPlace; checkpoint: { id: string; namespace: string } }) {
  const [isAsked, setIsAsked] = useState(false);
  const { data, error, isFetching, refetch } = useQuery({
    ...checkpointStateQuery(place, checkpoint),
    enabled: isAsked,
  });
  const { workspaceId, deploymentId, threadId } = place;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        {!isAsked && (
          <Button size="small" onClick={() => setIsAsked(true)}>
            Show the state
          </Button>
        )}
        {checkpoint.namespace === '' && (
          <Link
            to="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
            params={{ workspaceId, deploymentId, threadId }}
            search={{ checkpoint: checkpoint.id }}
          >
            Open in the thread
          </Link>
        )}
      </div>
      <Fault error={error} onRetry={() => void refetch()} />
      {isAsked && isFetching && <Loading what="the state" />}
      {data && <Detail name="state" value={data.values} />}
      {data && data.next.length > 0 && <p className="text-xs text-faint">Next: {data.next.join(', ')}</p>}
    </div>
  );
}

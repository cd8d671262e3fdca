import { useEffect, useRef, useState } from 'react';
import type { AssistantPlace } from '../../platform/assistants.ts';
import type { Direction } from '../graph/graph-layout.ts';
import { readableId } from '../graph/graph-model.ts';
import { GraphView } from '../graph/graph-view.tsx';
import { type NodeStatus, type RunPosition, STATUS_LOOKS } from '../graph/node-status.ts';
import type { RunFeed } from './run-feed.ts';
import { isSamePosition, positionOf } from './run-position.ts';

/** A run may bring thousands of events a second; a drawing that changes this often is all that eyes can follow. */
const EVERY_MS = 250;
const SAY_EVERY_MS = 3_000;
/** Windows in which a graph is too small to read where its edges lead to the right. */
const NARROW = '(max-width: 48rem)';

interface RunGraphProps {
  place: AssistantPlace;
  feed: RunFeed;
  isRunning: boolean;
}

/** The graph of a run, with where that is in it. */
export default function RunGraph({ place, feed, isRunning }: RunGraphProps) {
  const position = usePosition(feed, isRunning);
  const [direction] = useState<Direction>(() => (window.matchMedia(NARROW).matches ? 'down' : 'right'));
  const active = useSlowly(namesOfRunning(position));
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <GraphView place={place} direction={direction} position={position} />
      <ul aria-label="Signs of the drawing" className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {[...new Set([...position.values()].map(({ status }) => status))].map((status) => (
          <Sign key={status} status={status} />
        ))}
      </ul>
      <p role="status" className="sr-only">
        {active !== '' && `Running: ${active}`}
      </p>
    </div>
  );
}

function namesOfRunning(position: RunPosition): string {
  const running = [...position].filter(([, { status }]) => status === 'running');
  return running.map(([id]) => readableId(id)).join(', ');
}

/** Follows a text every few seconds: one that changes faster nobody can listen to. */
function useSlowly(text: string): string {
  const newest = useRef(text);
  newest.current = text;
  const [said, setSaid] = useState(text);
  useEffect(() => {
    const timer = setInterval(() => setSaid(newest.current), SAY_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return said;
}

function Sign({ status }: { status: NodeStatus }) {
  const { sign, word, colour } = STATUS_LOOKS[status];
  return (
    <li className={colour}>
      <span aria-hidden="true">{sign}</span> {word}
    </li>
  );
}

/** Follows a feed, a few times a second. The position stays the same object until it says something else. */
function usePosition(feed: RunFeed, isRunning: boolean): RunPosition {
  const [position, setPosition] = useState<RunPosition>(new Map());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      const { timeline } = feed;
      const next = positionOf({ rows: feed.getSnapshot().rows, get: (id) => timeline.get(id) }, isRunning);
      setPosition((known) => (isSamePosition(known, next) ? known : next));
    };
    read();
    const leave = feed.subscribe(() => {
      timer ??= setTimeout(read, EVERY_MS);
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [feed, isRunning]);
  return position;
}

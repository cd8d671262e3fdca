import { useEffect, useRef } from 'react';
import { trustWorkerUrl } from '../worker-url.ts';
import workerUrl from './live.worker.ts?sharedworker&url';
import { type Followed, LiveConnection, type LiveEvent } from './live-connection.ts';
import type { FromPage, FromWorker } from './messages.ts';

type Follow = (followed: Followed, listener: (event: LiveEvent) => void) => () => void;

let follow: Follow | undefined;

/** Follows something live, over the one stream of this browser. @returns what ends it */
function followLive(followed: Followed, listener: (event: LiveEvent) => void): () => void {
  follow ??= typeof SharedWorker === 'undefined' ? openHere() : openWorker();
  return follow(followed, listener);
}

/**
 * Follows something for as long as a part of a page is shown; undefined follows nothing. The newest `listener` gets the
 * events.
 */
export function useLive(followed: Followed | undefined, listener: (event: LiveEvent) => void): void {
  const newest = useRef(listener);
  newest.current = listener;
  const key = JSON.stringify(followed);
  useEffect(() => {
    if (key === undefined) return;
    return followLive(JSON.parse(key) as Followed, (event) => newest.current(event));
  }, [key]);
}

/** Browsers without shared workers have a stream for each window. */
function openHere(): Follow {
  const connection = new LiveConnection();
  onReturn(() => connection.wake());
  return (followed, listener) => connection.follow(followed, listener);
}

function openWorker(): Follow {
  const { port } = new SharedWorker(trustWorkerUrl(workerUrl), { type: 'module', name: 'runyard live' });
  const post = (message: FromPage) => port.postMessage(message);
  const listeners = new Map<number, (event: LiveEvent) => void>();
  let last = 0;
  port.onmessage = ({ data: { number, event } }: MessageEvent<FromWorker>) => listeners.get(number)?.(event);
  const lock = crypto.randomUUID();
  const never = new Promise<void>(() => {});
  void navigator.locks.request(lock, () => {
    post({ type: 'hello', lock });
    return never;
  });
  onReturn(() => post({ type: 'wake' }));
  return (followed, listener) => {
    const number = ++last;
    listeners.set(number, listener);
    post({ type: 'follow', number, followed });
    return () => {
      listeners.delete(number);
      post({ type: 'leave', number });
    };
  };
}

/** Calls when the network is back, or the machine has slept. */
function onReturn(callback: () => void): void {
  window.addEventListener('online', callback);
  window.addEventListener('pageshow', ({ persisted }) => persisted && callback());
}

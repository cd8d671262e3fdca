import { lookup } from 'node:dns';
import type { Lookup } from './checked-lookup.ts';

/**
 * Limits the machine's resolver to a few queries at a time. Each occupies one of the four threads that Node has for
 * files and names together, for as long as a name server takes: names chosen by callers must not occupy them all.
 */
export function limitLookups(ask: Lookup, atOnce: number): Lookup {
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  return (host, options, callback) => {
    const start = () => {
      inFlight += 1;
      ask(host, options, (error, addresses) => {
        inFlight -= 1;
        waiting.shift()?.();
        callback(error, addresses);
      });
    };
    if (inFlight < atOnce) start();
    else waiting.push(start);
  };
}

/** The resolver of the process, shared because its threads are. */
export const systemLookup = limitLookups(lookup, 2);

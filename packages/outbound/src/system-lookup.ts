import { lookup } from 'node:dns';
import type { Lookup } from './checked-lookup.ts';

/**
 * The machine's resolver, a few questions at a time. Each takes one of the four threads that Node has for files and names
 * together, for as long as a name server likes: names chosen by others must not take them all.
 */
export function limitedLookup(ask: Lookup, atOnce: number): Lookup {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  return (host, options, callback) => {
    const start = () => {
      underWay += 1;
      ask(host, options, (error, addresses) => {
        underWay -= 1;
        waiting.shift()?.();
        callback(error, addresses);
      });
    };
    if (underWay < atOnce) start();
    else waiting.push(start);
  };
}

/** One for the process, as its threads are. */
export const systemLookup = limitedLookup(lookup, 2);

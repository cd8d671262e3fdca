import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** Probes in a row that a service leaves unanswered before it counts as unresponsive: it, or this process, may be slow. */
const PROBES = 3;

/**
 * Returns whether a service answers on a new connection, for callers whose other connection is silent. The content of
 * the answer does not matter.
 *
 * @param url any URL of the service
 * @param withinMs milliseconds for the answer to one of three probes
 */
export async function isResponsive(url: string, withinMs: number): Promise<boolean> {
  for (let probe = 1; probe <= PROBES; probe += 1) if (await answers(url, withinMs)) return true;
  return false;
}

function answers(url: string, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const address = new URL('/ok', url);
    const asked = (address.protocol === 'https:' ? httpsRequest : httpRequest)(address, { agent: false });
    const late = setTimeout(() => asked.destroy(new Error('no answer in time')), withinMs);
    asked.once('response', (answer) => {
      resolve(true);
      answer.destroy();
    });
    asked.once('error', () => resolve(false));
    asked.once('close', () => clearTimeout(late));
    asked.end();
  });
}

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

/**
 * Whether a service answers, asked over a connection of its own: for who waits on another connection, where nothing comes. What it
 * answers does not matter.
 *
 * @param url of anything it serves
 */
export function lives(url: string, withinMs: number): Promise<boolean> {
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

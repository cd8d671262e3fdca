import type { RequestListener } from 'node:http';
import { UNPROCESSED_HEADER } from '@runyard/contracts';

const ALIVE = '{"ok":true,"services":{}}';
const STARTING = '{"detail":"The service is starting"}';

/**
 * Answers while the service is starting: it is alive, below any mount prefix, and cannot work yet. A header tells
 * proxies that the request was not processed.
 */
export const answerStarting: RequestListener = (req, res) => {
  const [path = '', query = ''] = (req.url ?? '').split('?', 2);
  const readiness = new URLSearchParams(query).get('check_db') ?? '';
  const isAlive = path.endsWith('/ok') && ['', '0', 'false'].includes(readiness);
  const body = isAlive ? ALIVE : STARTING;
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  if (isAlive) res.writeHead(200, headers).end(body);
  else {
    // The body is not read: closing keeps it from being parsed as the next request.
    const unprocessed = { 'retry-after': '1', connection: 'close', [UNPROCESSED_HEADER]: 'starting' };
    res.writeHead(503, { ...headers, ...unprocessed }).end(body);
  }
};

import { randomUUID } from 'node:crypto';
import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { EXCHANGE_HEADER } from '@runyard/host-protocol';
import type { OutboundRequest, OutboundResponse } from '@runyard/outbound';

/**
 * Sends a request of the platform's own to the project's app, over its socket. It names an exchange that is not open:
 * if the app passed it on to the server, it would otherwise act there with the deployment's rights, for whoever chose
 * the path.
 */
export function sendToApp(
  socketPath: string,
  agent: Agent,
  path: string,
  { method, headers, body, timeoutMs, signal }: OutboundRequest,
): Promise<Pick<OutboundResponse, 'status' | 'headers'>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const appRequest = httpRequest({
      socketPath,
      agent,
      method,
      path,
      headers: { ...headers, host: 'localhost', [EXCHANGE_HEADER]: randomUUID() },
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    appRequest.once('error', (error) => reject(timeout.aborted ? timeout.reason : error));
    appRequest.once('response', (answer: IncomingMessage) => {
      answer.resume();
      answer.once('error', () => undefined);
      resolve({ status: answer.statusCode ?? 502, headers: answer.headers });
    });
    appRequest.end(body);
  });
}

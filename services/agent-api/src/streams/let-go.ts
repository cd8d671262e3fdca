import type { ServerResponse } from 'node:http';
import { abortResponse, type Logger } from '@runyard/service-kit';

/**
 * Lets an answer that takes as long as a run go on by itself. Its handler can return then, and nothing holds the request
 * any more, whose body may be large. A failure breaks the answer off.
 */
export function letGo(sending: Promise<void>, { res, log }: { res: ServerResponse; log: Logger }): void {
  sending.catch((error: unknown) => {
    log.error('sending an answer failed', { error });
    abortResponse(res);
  });
}

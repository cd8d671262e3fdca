import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '@runyard/contracts';
import { type Logger, RequestMetrics, redactPath, type ServiceContext } from '@runyard/service-kit';
import type { Destination } from './routing/resolve-path.ts';

/** The part of a request's record that is known only later. */
interface RequestRecord {
  /** The code of the error that the gateway itself answers with. */
  errorCode: ErrorCode | undefined;
}

/** Counts each request and logs it when its answer is closed. */
export class RequestRecords {
  readonly #metrics: RequestMetrics;
  readonly #logger: Logger;

  constructor({ metrics, logger }: Pick<ServiceContext, 'metrics' | 'logger'>) {
    this.#metrics = new RequestMetrics(metrics, 'runyard_');
    this.#logger = logger;
  }

  begin(
    req: IncomingMessage,
    res: ServerResponse,
    { destination, requestId }: { destination: Destination; requestId: string },
  ): RequestRecord {
    const record: RequestRecord = { errorCode: undefined };
    const startedAt = performance.now();
    this.#metrics.started();
    res.once('close', () => {
      const elapsedMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : 499;
      const method = req.method ?? 'GET';
      this.#metrics.finished(method, labelOf(destination), status, elapsedMs);
      const path = redactPath((req.url ?? '/').split('?', 1)[0] as string);
      this.#logger.http('request', {
        requestId,
        method,
        path,
        status,
        ...(record.errorCode && { code: record.errorCode }),
        ms: Math.round(elapsedMs * 10) / 10,
      });
    });
    return record;
  }
}

function labelOf(destination: Destination): string {
  if (destination.kind === 'service') return `${destination.prefix}/…`;
  return destination.kind === 'deployment' ? '/deployments/{deployment}/…' : 'none';
}

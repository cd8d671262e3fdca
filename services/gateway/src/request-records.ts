import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@runyard/contracts';
import {
  endRequestSpan,
  type Logger,
  RequestMetrics,
  redactPath,
  type ServiceContext,
  startRequestSpan,
} from '@runyard/service-kit';
import type { Tracing } from '@runyard/tracing';
import type { Destination } from './routing/resolve-path.ts';

/** The part of a request's record that is known only later. */
interface RequestRecord {
  /** The code of the error that the gateway itself answers with. */
  errorCode: ErrorCode | undefined;
}

/** The part of the record of an upgrade that is known only later. */
interface UpgradeRecord extends RequestRecord {
  status: number;
}

/** Counts each request, and logs and traces it when its answer is closed. */
export class RequestRecords {
  readonly #metrics: RequestMetrics;
  readonly #logger: Logger;
  readonly #tracing: Tracing;

  constructor({ metrics, logger, tracing }: Pick<ServiceContext, 'metrics' | 'logger' | 'tracing'>) {
    this.#metrics = new RequestMetrics(metrics, 'runyard_');
    this.#logger = logger;
    this.#tracing = tracing;
  }

  begin(
    req: IncomingMessage,
    res: ServerResponse,
    { destination, requestId }: { destination: Destination; requestId: string },
  ): RequestRecord {
    const record: RequestRecord = { errorCode: undefined };
    const startedAt = performance.now();
    const span = startRequestSpan(this.#tracing, req);
    this.#metrics.started();
    res.once('close', () => {
      const elapsedMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : 499;
      const method = req.method ?? 'GET';
      const route = labelOf(destination);
      this.#metrics.finished(method, route, status, elapsedMs);
      if (span) endRequestSpan(span, req, { route, status, errorCode: record.errorCode });
      const path = redactPath((req.url ?? '/').split('?', 1)[0] as string);
      this.#logger.http('request', {
        requestId,
        ...(span && { traceId: span.traceId }),
        method,
        path,
        status,
        ...(record.errorCode && { code: record.errorCode }),
        ms: Math.round(elapsedMs * 10) / 10,
      });
    });
    return record;
  }

  /** Traces a request to change the protocol of its connection, up to the end of that. */
  beginUpgrade(req: IncomingMessage, socket: Duplex, destination: Destination): UpgradeRecord {
    const record: UpgradeRecord = { status: 101, errorCode: undefined };
    const span = startRequestSpan(this.#tracing, req);
    if (span) socket.once('close', () => endRequestSpan(span, req, { route: labelOf(destination), ...record }));
    return record;
  }
}

function labelOf(destination: Destination): string {
  if (destination.kind === 'service')
    return destination.prefix === '' ? destination.service : `${destination.prefix}/…`;
  return destination.kind === 'deployment' ? '/deployments/{deployment}/…' : 'none';
}

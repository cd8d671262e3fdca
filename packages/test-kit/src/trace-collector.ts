import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type CollectedSpan, readTraceRequest } from './otlp-trace.ts';
import { waitFor } from './wait-for.ts';

/**
 * Collects traces sent by OTLP over HTTP with protobuf, on 127.0.0.1. Other processes get the names of a trace's spans,
 * and what they are below, from `/traces/{id}`. Keeps no process alive.
 */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** The headers of each request. */
  readonly requests: IncomingHttpHeaders[] = [];
  readonly #server = createServer(async (req, res) => {
    const asked = /^\/traces\/([0-9a-f]{32})$/.exec(req.url ?? '')?.[1];
    if (asked !== undefined) {
      const withoutTimes = this.of(asked).map(({ startNs: _start, endNs: _end, ...span }) => span);
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(withoutTimes));
      return;
    }
    const isTrace = req.url === '/v1/traces' && req.headers['content-type'] === 'application/x-protobuf';
    const body = await buffer(req);
    this.requests.push(req.headers);
    if (isTrace) this.spans.push(...readTraceRequest(body));
    res.writeHead(isTrace ? 200 : 415, { 'content-type': 'application/x-protobuf' }).end();
  });

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#server.unref();
    return this;
  }

  /** The base URL, for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The variables of a process that sends its spans here without delay. */
  get variables(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  }

  /** Returns the spans of a trace. */
  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** Resolves with the spans of a trace as soon as all of these names are among them. */
  async trace(traceId: string, ...names: string[]): Promise<CollectedSpan[]> {
    return waitFor(
      () => {
        const spans = this.of(traceId);
        return names.every((name) => spans.some((span) => span.name === name)) ? spans : undefined;
      },
      { what: `${names.join(', ')} in trace ${traceId}` },
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

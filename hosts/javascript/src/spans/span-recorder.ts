/**
 * Records the spans of one run and sends them to the parent in batches. What is kept and sent is limited: a graph that
 * loops for days must not fill the memory of its host, nor that of its parent.
 */
import { randomBytes } from 'node:crypto';
import type { HostConnection, RunSpan } from '@runyard/host-protocol/graph-process';

/** Spans of one attempt that are sent; later ones are counted. */
const SPANS_MAX = 2_000;
/** Characters of content that spans of one attempt carry, all together. */
const CONTENT_MAX = 4 * 1024 * 1024;
const BATCH_MAX = 64;
/** Milliseconds that an ended span waits for others: so much is missing from the trace when the process is killed. */
const BATCH_MS = 200;

type Attributes = RunSpan['attributes'];

/** A span that has begun. */
export interface OpenSpan {
  readonly spanId: string;
  setAttributes(attributes: Attributes): void;
  /** Adds an attribute that is content, while there is room for it. */
  setContent(name: string, makeText: () => string | undefined): void;
  end(error?: RunSpan['error']): void;
}

export class SpanRecorder {
  readonly withContent: boolean;
  readonly #connection: HostConnection;
  readonly #use: number;
  readonly #open = new Set<OpenSpan>();
  #ended: RunSpan[] = [];
  #sent = 0;
  #dropped = 0;
  #contentLeft = CONTENT_MAX;
  #timer: NodeJS.Timeout | undefined;

  constructor({ connection, use, withContent }: { connection: HostConnection; use: number; withContent: boolean }) {
    this.withContent = withContent;
    this.#connection = connection;
    this.#use = use;
  }

  start({
    name,
    kind,
    parentSpanId,
    attributes,
  }: Pick<RunSpan, 'name' | 'kind' | 'parentSpanId' | 'attributes'>): OpenSpan {
    const spanId = randomBytes(8).toString('hex');
    const startMs = now();
    const collected: Attributes = { ...attributes };
    const span: OpenSpan = {
      spanId,
      setAttributes: (more) => void Object.assign(collected, more),
      setContent: (attribute, makeText) => {
        if (!this.withContent || this.#contentLeft <= 0) return;
        const text = makeText();
        if (text === undefined) return;
        this.#contentLeft -= text.length;
        collected[attribute] = text;
      },
      end: (error) => {
        if (!this.#open.delete(span)) return;
        this.#add({
          spanId,
          parentSpanId,
          name,
          kind,
          startMs,
          endMs: now(),
          attributes: collected,
          ...(error && { error }),
        });
      },
    };
    this.#open.add(span);
    return span;
  }

  /** Ends the spans that are open still: the run stopped in the middle of them. Sends everything. */
  close(): void {
    for (const span of [...this.#open].reverse()) {
      span.setAttributes({ 'runyard.span.is_cut': true });
      if (this.#dropped > 0) span.setAttributes({ 'runyard.run.dropped_spans': this.#dropped });
      span.end();
    }
    this.#send();
  }

  /** The number of spans left out so far. */
  get dropped(): number {
    return this.#dropped;
  }

  #add(span: RunSpan): void {
    // The last one to end is the one that all others are below: it is always sent.
    if (this.#sent + this.#ended.length >= SPANS_MAX && this.#open.size > 0) {
      this.#dropped += 1;
      return;
    }
    this.#ended.push(span);
    if (this.#ended.length >= BATCH_MAX) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), BATCH_MS).unref();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spans = this.#ended;
    if (spans.length === 0) return;
    this.#ended = [];
    this.#sent += spans.length;
    this.#connection.send(this.#use, { t: 'run.spans', use: this.#use, spans });
  }
}

/** Returns milliseconds since 1970, with fractions, that never go back. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

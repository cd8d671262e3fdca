import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

type Done = Parameters<SpanExporter['export']>[1];
type OnLost = (spans: number, error: Error | undefined) => void;

const SUCCESS = 0;

/** Reports spans that another exporter could not send. */
export class ReportingExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #onLost: OnLost;

  constructor(inner: SpanExporter, onLost: OnLost = () => undefined) {
    this.#inner = inner;
    this.#onLost = onLost;
  }

  export(spans: ReadableSpan[], done: Done): void {
    this.#inner.export(spans, (result) => {
      if (result.code !== SUCCESS) this.#onLost(spans.length, result.error);
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}

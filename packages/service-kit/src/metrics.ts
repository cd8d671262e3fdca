import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/**
 * The numbers one process reports. Asking twice for a name gives the same instrument, so parts need not know of each other.
 */
export class Metrics {
  readonly registry = new Registry();

  constructor(options: { labels?: Record<string, string>; processMetrics?: boolean } = {}) {
    if (options.labels) this.registry.setDefaultLabels(options.labels);
    if (options.processMetrics) collectDefaultMetrics({ register: this.registry });
  }

  counter<Label extends string = string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    const known = this.registry.getSingleMetric(name);
    return (known as Counter<Label> | undefined) ?? new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** With `collect` the value is asked for at each scrape instead of being set. */
  gauge<Label extends string = string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    collect?: (gauge: Gauge<Label>) => void | Promise<void>,
  ): Gauge<Label> {
    const known = this.registry.getSingleMetric(name) as Gauge<Label> | undefined;
    if (known) return known;
    return new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: [this.registry],
      ...(collect && {
        collect(this: Gauge<Label>) {
          return collect(this);
        },
      }),
    });
  }

  histogram<Label extends string = string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    buckets: number[] = [10, 100, 500, 1000, 5000],
  ): Histogram<Label> {
    const known = this.registry.getSingleMetric(name) as Histogram<Label> | undefined;
    return known ?? new Histogram<Label>({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  /** Prometheus text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  async json(): Promise<unknown[]> {
    return this.registry.getMetricsAsJSON();
  }
}

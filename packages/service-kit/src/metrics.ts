import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A metric as it stands. */
export interface MetricValues {
  name: string;
  values: { value: number; labels: Partial<Record<string, string | number>>; metricName?: string }[];
}

/** What metrics of agent servers begin with, unless told otherwise. */
const PREFIX = 'lg_api_';

/**
 * The numbers one process reports. Asking twice for a name gives the same instrument, so parts need not know of each other.
 */
export class Metrics {
  readonly registry = new Registry();
  #prefix = PREFIX;

  constructor(options: { labels?: Record<string, string>; processMetrics?: boolean } = {}) {
    if (options.labels) this.registry.setDefaultLabels(options.labels);
    if (options.processMetrics) collectDefaultMetrics({ register: this.registry });
  }

  /**
   * Labels for every sample, and another beginning of the names that begin with `lg_api_`. To be called before the first
   * instrument is made.
   */
  identify({ labels, prefix }: { labels: Record<string, string>; prefix: string }): void {
    this.#prefix = prefix;
    this.registry.setDefaultLabels(labels);
  }

  counter<Label extends string = string>(plainName: string, help: string, labelNames: Label[] = []): Counter<Label> {
    const name = this.#named(plainName);
    const known = this.registry.getSingleMetric(name);
    return (known as Counter<Label> | undefined) ?? new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** A counter kept elsewhere: its value is asked for at each scrape. */
  countedElsewhere(plainName: string, help: string, read: () => number): void {
    const name = this.#named(plainName);
    if (this.registry.getSingleMetric(name)) return;
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** With `collect` the value is asked for at each scrape instead of being set. */
  gauge<Label extends string = string>(
    plainName: string,
    help: string,
    labelNames: Label[] = [],
    collect?: (gauge: Gauge<Label>) => void | Promise<void>,
  ): Gauge<Label> {
    const name = this.#named(plainName);
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
    plainName: string,
    help: string,
    labelNames: Label[] = [],
    buckets: number[] = [10, 100, 500, 1000, 5000],
  ): Histogram<Label> {
    const name = this.#named(plainName);
    const known = this.registry.getSingleMetric(name) as Histogram<Label> | undefined;
    return known ?? new Histogram<Label>({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  /** Prometheus text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** The same as data. */
  async values(): Promise<MetricValues[]> {
    return (await this.registry.getMetricsAsJSON()) as unknown as MetricValues[];
  }

  #named(name: string): string {
    return name.startsWith(PREFIX) ? this.#prefix + name.slice(PREFIX.length) : name;
  }
}

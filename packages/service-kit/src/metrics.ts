import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { NEVER_MS, replaceEventLoopDelays } from './event-loop-metrics.ts';

/** A metric with its present values. */
export interface MetricValues {
  name: string;
  values: { value: number; labels: Partial<Record<string, string | number>>; metricName?: string }[];
}

export type Samples = ReadonlyMap<string, number>;

export interface AggregatedMetric {
  name: string;
  help: string;
  type: 'counter' | 'histogram';
  /** Upper bounds of a histogram, without the infinite one. */
  buckets?: readonly number[];
}

/** Default prefix of the metrics of agent servers. */
const PREFIX = 'lg_api_';

/**
 * The metrics that one process reports. A second request for a name returns the same instrument, so that parts need not
 * know each other.
 */
export class Metrics {
  readonly registry = new Registry();
  #prefix = PREFIX;

  constructor(options: { labels?: Record<string, string>; processMetrics?: boolean } = {}) {
    if (options.labels) this.registry.setDefaultLabels(options.labels);
    if (options.processMetrics) {
      collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
      replaceEventLoopDelays(this.registry);
    }
  }

  /**
   * Sets labels for every sample, and replaces the prefix `lg_api_` of names. Must be called before the first
   * instrument is created.
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

  /** Creates a counter whose value is read from elsewhere at each scrape. */
  collectCounter(plainName: string, help: string, read: () => number): void {
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

  /** Creates a gauge. With `collect`, its value is read at each scrape instead of being set. */
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

  /**
   * Creates a counter or histogram for the sums of several processes, whose samples are read at each scrape in the form
   * of `samplesOf`. When they are unavailable, the scrape lacks it.
   */
  collectAggregate(
    { name: plainName, help, type, buckets = [] }: AggregatedMetric,
    read: () => Promise<Samples | undefined>,
  ): void {
    const name = this.#named(plainName);
    if (this.registry.getSingleMetric(name)) return;
    const get = async () => {
      const samples = await read();
      const values = samples
        ? type === 'counter'
          ? counterValues(samples)
          : histogramValues(name, buckets, samples)
        : [];
      return { name, help, type, values, aggregator: 'first' };
    };
    this.registry.registerMetric({ name, get } as unknown as Metric);
  }

  /**
   * Returns the samples of a counter or a histogram without its own labels: `''`, or `sum`, `count` and a number for
   * each bound.
   */
  async samplesOf(plainName: string): Promise<Samples> {
    const metric = this.registry.getSingleMetric(this.#named(plainName));
    const { values } = metric ? ((await metric.get()) as unknown as MetricValues) : { values: [] };
    return new Map(
      values.map(({ value, labels, metricName }) => [
        labels.le === undefined ? (metricName?.split('_').at(-1) ?? '') : String(labels.le),
        value,
      ]),
    );
  }

  /** Returns the metrics in Prometheus text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Returns the metrics as data. */
  async values(): Promise<MetricValues[]> {
    return (await this.registry.getMetricsAsJSON()) as unknown as MetricValues[];
  }

  #named(name: string): string {
    return name.startsWith(PREFIX) ? this.#prefix + name.slice(PREFIX.length) : name;
  }
}

function counterValues(samples: Samples): MetricValues['values'] {
  return [{ value: samples.get('') ?? 0, labels: {} }];
}

function histogramValues(name: string, buckets: readonly number[], samples: Samples): MetricValues['values'] {
  const bounds = [...buckets.map(String), '+Inf'];
  return [
    ...bounds.map((le) => ({ metricName: `${name}_bucket`, labels: { le }, value: samples.get(le) ?? 0 })),
    ...['sum', 'count'].map((part) => ({ metricName: `${name}_${part}`, labels: {}, value: samples.get(part) ?? 0 })),
  ];
}

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * Milliseconds between measurements. prom-client takes one every 10 ms, which costs half a percent of a core in a
 * process that does nothing else.
 */
const EVERY_MS = 250;
/** An interval for prom-client's own measurements with which it takes none: timers hold 31 bits of milliseconds. */
export const NEVER_MS = 2 ** 31 - 1;

const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - EVERY_MS / 1e3);

const VALUES: { name: string; help: string; read: (delays: IntervalHistogram) => number }[] = [
  { name: 'min', help: 'The minimum recorded event loop delay.', read: ({ min }) => late(min) },
  { name: 'max', help: 'The maximum recorded event loop delay.', read: ({ max }) => late(max) },
  { name: 'mean', help: 'The mean of the recorded event loop delays.', read: ({ mean }) => late(mean) },
  {
    name: 'stddev',
    help: 'The standard deviation of the recorded event loop delays.',
    read: ({ stddev }) => stddev / 1e9,
  },
  ...[50, 90, 99].map((percent) => ({
    name: `p${percent}`,
    help: `The ${percent}th percentile of the recorded event loop delays.`,
    read: (delays: IntervalHistogram) => late(delays.percentile(percent)),
  })),
];

/**
 * Replaces the delays of the event loop that prom-client put into the registry by less frequent measurements under the
 * same names. A delay is the time that a timer came too late; prom-client adds the interval of its timer.
 */
export function replaceEventLoopDelays(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  const gauges: { gauge: Gauge; read: (delays: IntervalHistogram) => number }[] = [];
  const readAll = () => {
    // Another scrape has just taken all: its values stay.
    if (Number(delays.count) === 0) return;
    for (const { gauge, read } of gauges) gauge.set(read(delays));
    delays.reset();
  };
  for (const [index, { name: value, help, read }] of VALUES.entries()) {
    const name = `nodejs_eventloop_lag_${value}_seconds`;
    registry.removeSingleMetric(name);
    // The registry asks in this order: the first one reads for all.
    const collect = index === 0 ? { collect: readAll } : {};
    gauges.push({ read, gauge: new Gauge({ name, help, registers: [registry], ...collect }) });
  }
}

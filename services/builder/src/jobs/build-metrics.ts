import type { BuildEnd } from '@runyard/contracts';
import type { Metrics } from '@runyard/service-kit';

/** How a build ended here. `withdrawn`: nobody wanted it any more, or another builder has it. */
export type BuildOutcome = 'succeeded' | Exclude<BuildEnd['kind'], 'archive' | 'layer'> | 'withdrawn';

const SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600];

/** Measures the builds of this process, and how long jobs waited for it. */
export class BuildMetrics {
  readonly #ended;
  readonly #duration;
  readonly #wait;
  #running = 0;

  constructor(metrics: Metrics) {
    metrics.gauge('runyard_builder_builds_running', 'Builds that are under way here.', [], (gauge) =>
      gauge.set(this.#running),
    );
    this.#ended = metrics.counter('runyard_builder_builds_total', 'Builds that have ended here, by outcome.', [
      'outcome',
    ]);
    this.#duration = metrics.histogram(
      'runyard_builder_build_seconds',
      'Time from the order of a build to its end, by outcome.',
      ['outcome'],
      SECONDS,
    );
    this.#wait = metrics.histogram(
      'runyard_builder_queue_wait_seconds',
      'Time that a build was in the queue, by the clocks of control-plane and of this machine.',
      [],
      SECONDS,
    );
  }

  /** @param addedAt milliseconds since 1970, by the clock of whoever added the job */
  taken(addedAt: number): void {
    this.#wait.observe(Math.max(Date.now() - addedAt, 0) / 1000);
  }

  /** Counts a build from its order to its end. */
  async measure(build: () => Promise<BuildOutcome>): Promise<void> {
    const begunAt = performance.now();
    this.#running += 1;
    try {
      const outcome = await build();
      this.#ended.inc({ outcome });
      this.#duration.observe({ outcome }, (performance.now() - begunAt) / 1000);
    } finally {
      this.#running -= 1;
    }
  }
}

import type { MeasuredUsage } from '../driver.ts';
import type { ClusterApi } from './cluster-api.ts';
import { MANAGED_BY, selectorOf } from './labels.ts';

interface PodMetrics {
  metadata: { name: string };
  containers: { usage: { cpu: string; memory: string } }[];
}

/** Milliseconds for which callers share an answer; the cluster itself measures less often. */
const FRESH_MS = 5_000;
const TIMEOUT_MS = 5_000;

/** Reads the usage of pods from the cluster's metrics API. Returns null where there is none. */
export class PodUsage {
  readonly #api: ClusterApi;
  #answer: Promise<Map<string, MeasuredUsage>> | undefined;
  #askedAt = -Infinity;

  constructor(api: ClusterApi) {
    this.#api = api;
  }

  async usageOf(pod: string): Promise<MeasuredUsage | null> {
    if (performance.now() - this.#askedAt > FRESH_MS) {
      this.#askedAt = performance.now();
      this.#answer = this.#request().catch(() => new Map());
    }
    return (await this.#answer)?.get(pod) ?? null;
  }

  async #request(): Promise<Map<string, MeasuredUsage>> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${this.#api.namespace}/pods`;
    const query = { labelSelector: selectorOf(MANAGED_BY) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { items } = await this.#api.callOnce<{ items: PodMetrics[] }>({ method: 'GET', path, query }, signal);
    return new Map(
      items.map(({ metadata, containers }) => [
        metadata.name,
        {
          cpuCores: total(containers.map(({ usage }) => usage.cpu)),
          memoryBytes: total(containers.map(({ usage }) => usage.memory)),
        },
      ]),
    );
  }
}

const FACTORS: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Parses a quantity of the Kubernetes API: `12345678n`, `250m`, `64Mi`. */
function quantity(text: string): number {
  const [, number, unit = ''] = /^([0-9.]+)([a-zA-Z]*)$/.exec(text) ?? [];
  return Number(number) * (FACTORS[unit] ?? Number.NaN);
}

function total(quantities: string[]): number {
  return quantities.reduce((sum, each) => sum + quantity(each), 0);
}

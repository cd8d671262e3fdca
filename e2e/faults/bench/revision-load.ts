import { waitFor } from '@runyard/test-kit';
import { History } from './history.ts';
import type { BenchPlatform } from './platform.ts';

const OVER = ['DEPLOYED', 'SKIPPED'];
const FAILED = ['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'INTERRUPTED'];

interface RevisionSeen {
  id: string;
  status: string;
  status_message: string | null;
}

/** Creates revisions at a platform's control-plane, and checks their outcome. */
export class RevisionLoad {
  readonly history = new History();
  /** Ids of the revisions that a client knows to be created. */
  readonly accepted: string[] = [];
  readonly #platform: Pick<BenchPlatform, 'url' | 'deploymentUrl' | 'headers'>;
  readonly #path: string;

  constructor(platform: Pick<BenchPlatform, 'url' | 'deploymentUrl' | 'headers'>) {
    this.#platform = platform;
    this.#path = `${platform.url}/v2/deployments/${platform.deploymentUrl.split('/').at(-1)}`;
  }

  /** Begins one more. Resolves when it is answered, long before it has ended. */
  async begin(): Promise<void> {
    const { headers } = this.#platform;
    const { outcome, body } = await this.history.call('POST', `${this.#path}/revisions`, { headers, body: {} });
    if (outcome === 'ok') this.accepted.push((body as { id: string }).id);
  }

  /** Returns the faults of accepted revisions, once none is in flight: lost, failed, or not the one that serves. */
  async faults(timeoutMs: number): Promise<string[]> {
    let seen: RevisionSeen[] = [];
    await waitFor(
      async () => {
        seen = (await this.#get<{ resources: RevisionSeen[] }>('/revisions?limit=100')).resources;
        return seen.every(({ status }) => OVER.includes(status) || FAILED.includes(status));
      },
      { timeoutMs, intervalMs: 200, what: 'the end of all roll-outs' },
    );
    const byId = new Map(seen.map((revision) => [revision.id, revision]));
    const faults = this.accepted.flatMap((id) => {
      const revision = byId.get(id);
      if (revision && OVER.includes(revision.status)) return [];
      return [`revision ${id} is ${revision?.status ?? 'missing'}: ${revision?.status_message}`];
    });
    const { active_revision_id: active } = await this.#get<{ active_revision_id: string }>('');
    const newest = seen.find(({ status }) => status === 'DEPLOYED')?.id;
    return active === newest ? faults : [...faults, `revision ${active} serves, and not ${newest}`];
  }

  async #get<T>(path: string): Promise<T> {
    const { headers } = this.#platform;
    const { outcome, body, status, error } = await this.history.call('GET', this.#path + path, { headers });
    if (outcome !== 'ok') throw new Error(`GET ${path} was answered with ${status ?? error}`);
    return body as T;
  }
}

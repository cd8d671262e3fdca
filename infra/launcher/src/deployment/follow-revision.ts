import { setTimeout as pause } from 'node:timers/promises';
import type { Revision } from '@runyard/contracts';
import { InfrastructureError } from '@runyard/local-infra';
import type { PlatformClient } from '../platform-client.ts';

const POLL_MS = 50;

/** A revision that did not come to serve. */
export class RevisionFailedError extends InfrastructureError {
  override name = 'RevisionFailedError';
  /** The platform's reason, with the last lines of its processes. */
  readonly reason: string;

  constructor({ status, status_message }: Revision) {
    const reason = status_message ?? 'no reason was given';
    super(`could not be deployed (${status}): ${reason}`);
    this.reason = reason;
  }
}

export interface FollowOptions {
  client: PlatformClient;
  deploymentId: string;
  revisionId: string;
  signal: AbortSignal;
  onStatus?(status: string): void;
}

/** Waits until a revision serves. @throws RevisionFailedError, and the signal's reason */
export async function followRevision({ client, signal, onStatus, ...ids }: FollowOptions): Promise<void> {
  const path = `/v2/deployments/${ids.deploymentId}/revisions/${ids.revisionId}`;
  let shown = '';
  for (;;) {
    signal.throwIfAborted();
    const revision = await client.call<Revision>('GET', path);
    if (revision.status === 'DEPLOYED') return;
    if (/FAILED|SKIPPED|INTERRUPTED/.test(revision.status)) throw new RevisionFailedError(revision);
    if (revision.status !== shown) onStatus?.(revision.status);
    shown = revision.status;
    await pause(POLL_MS, undefined, { signal });
  }
}

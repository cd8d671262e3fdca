import type { Revision } from '@runyard/contracts';
import { type ConnectionFlags, withControlPlane } from '../connection/sign-in.ts';
import { table } from '../output/table.ts';
import type { Surroundings } from '../surroundings.ts';

/** Returns the status for the table; a platform keeps `DEPLOYED` on a revision that another replaced. */
function shownStatus({ id, status }: Revision, activeId: string | null): string {
  return status === 'DEPLOYED' && id !== activeId ? 'REPLACED' : status;
}

export async function listRevisions(
  deploymentId: string,
  flags: ConnectionFlags & { limit: number; json: boolean },
  surroundings: Surroundings,
): Promise<void> {
  const { stdout } = surroundings;
  const { deployment, revisions } = await withControlPlane(flags, surroundings, async ({ controlPlane }) => ({
    revisions: await controlPlane.listRevisions(deploymentId, flags.limit),
    deployment: await controlPlane.getDeployment(deploymentId),
  }));
  if (flags.json) {
    for (const revision of revisions) stdout.write(`${JSON.stringify(revision)}\n`);
  } else if (revisions.length === 0) {
    stdout.write('There are no revisions.\n');
  } else {
    const rows = revisions.map((revision) => [
      revision.id,
      shownStatus(revision, deployment.active_revision_id),
      revision.source,
      revision.created_at,
      firstLine(revision.status_message),
    ]);
    stdout.write(`${table(['ID', 'STATUS', 'SOURCE', 'CREATED', 'REASON'], rows)}\n`);
  }
}

function firstLine(text: string | null): string {
  return text?.split('\n')[0] ?? '';
}

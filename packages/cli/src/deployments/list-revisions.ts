import type { Revision } from '@runyard/contracts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, withControlPlane } from '../connection/connect.ts';
import { formatTable } from '../output/table.ts';

/** Returns the status for the table; a platform keeps `DEPLOYED` on a revision that another replaced. */
function formatStatus({ id, status }: Revision, activeId: string | null): string {
  return status === 'DEPLOYED' && id !== activeId ? 'REPLACED' : status;
}

export async function listRevisions(
  deploymentId: string,
  flags: ConnectionFlags & { limit: number; json: boolean },
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  const { deployment, revisions } = await withControlPlane(flags, context, async ({ controlPlane }) => ({
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
      formatStatus(revision, deployment.active_revision_id),
      revision.source,
      revision.created_at,
      firstLine(revision.status_message),
    ]);
    stdout.write(`${formatTable(['ID', 'STATUS', 'SOURCE', 'CREATED', 'REASON'], rows)}\n`);
  }
}

function firstLine(text: string | null): string {
  return text?.split('\n')[0] ?? '';
}

import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, withControlPlane } from '../connection/connect.ts';
import { formatTable } from '../output/table.ts';

export async function listDeployments(
  flags: ConnectionFlags & { nameContains?: string; json: boolean },
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  const filter = flags.nameContains === undefined ? {} : { nameContains: flags.nameContains };
  const found = await withControlPlane(flags, context, ({ controlPlane }) => controlPlane.listDeployments(filter));
  if (flags.json) {
    // Secrets must not reach screens and logs.
    for (const { secrets: _, ...deployment } of found) stdout.write(`${JSON.stringify(deployment)}\n`);
  } else if (found.length === 0) {
    stdout.write('There are no deployments.\n');
  } else {
    const rows = found.map(({ id, name, status, source_config: { deployment_type: type, custom_url: url } }) => [
      id,
      name,
      type ?? '-',
      status,
      url ?? '-',
    ]);
    stdout.write(`${formatTable(['ID', 'NAME', 'TYPE', 'STATUS', 'URL'], rows)}\n`);
  }
}

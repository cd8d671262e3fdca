import { type ConnectionFlags, withControlPlane } from '../connection/sign-in.ts';
import { table } from '../output/table.ts';
import type { Surroundings } from '../surroundings.ts';

export async function listDeployments(
  flags: ConnectionFlags & { nameContains?: string; json: boolean },
  surroundings: Surroundings,
): Promise<void> {
  const { stdout } = surroundings;
  const filter = flags.nameContains === undefined ? {} : { nameContains: flags.nameContains };
  const found = await withControlPlane(flags, surroundings, ({ controlPlane }) => controlPlane.listDeployments(filter));
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
    stdout.write(`${table(['ID', 'NAME', 'TYPE', 'STATUS', 'URL'], rows)}\n`);
  }
}

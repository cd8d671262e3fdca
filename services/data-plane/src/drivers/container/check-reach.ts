import { once } from 'node:events';
import { connect } from 'node:net';
import { RevisionStartError } from '@runyard/deployments';
import { lastLine, QUICK_MS, runEngine } from './engine-command.ts';
import type { Endpoint } from './machine-addresses.ts';

/** The exit code of an image whose base is too old to know the command `reach`. */
const UNKNOWN_COMMAND = 64;
const CONNECT_MS = 5_000;

/**
 * Checks from a container with the revision's network whether it reaches the revision's database. A service that cannot
 * reach its database waits for it, as it must during an outage, and would wait forever because of a wrong network.
 *
 * @param args of the engine's `run`, for the checking container
 * @param database as this machine reaches it: when it does not reach it either, the network is not at fault
 * @throws RevisionStartError when this machine reaches the database and the container does not
 */
export async function checkDatabaseReach(
  command: string,
  args: string[],
  { database, name }: { database: Endpoint; name: string },
): Promise<void> {
  const { code, stdout, stderr } = await runEngine(command, args, { signal: AbortSignal.timeout(QUICK_MS) });
  if (code === 0 || code === UNKNOWN_COMMAND || !(await isReachable(database))) return;
  throw new RevisionStartError(
    `its containers cannot reach the database, which this machine can: ${lastLine(stdout || stderr)} (${name}; docs/images.md, the network of containers)`,
  );
}

async function isReachable({ host, port }: Endpoint): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

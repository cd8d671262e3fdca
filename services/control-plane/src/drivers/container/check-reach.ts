import { once } from 'node:events';
import { connect } from 'node:net';
import { StartFailure } from '../driver.ts';
import { lastLine, QUICK_MS, runEngine } from './engine-command.ts';
import type { Endpoint } from './machine-addresses.ts';

/** What an image answers whose base does not know how to look. */
const UNKNOWN_COMMAND = 64;
const CONNECT_MS = 5_000;

/**
 * Looks from a container like those of the revision whether its database is there. A service that cannot reach it waits for it,
 * as it must over an outage, and would wait for ever where the network is to blame.
 *
 * @param args of the engine's `run`, for a container that looks
 * @param database as this machine reaches it: where it does not either, the network is not to blame
 * @throws StartFailure when this machine reaches the database and the container does not
 */
export async function checkReach(
  command: string,
  args: string[],
  { database, name }: { database: Endpoint; name: string },
): Promise<void> {
  const { code, stdout, stderr } = await runEngine(command, args, { signal: AbortSignal.timeout(QUICK_MS) });
  if (code === 0 || code === UNKNOWN_COMMAND || !(await isReachable(database))) return;
  throw new StartFailure(
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

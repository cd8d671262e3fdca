import type { RootFile } from '@runyard/contracts';
import { writePrivateFile } from '@runyard/local-infra';

/**
 * The content of a file for other programs that use the platform; it exists exactly while the platform is ready. It
 * contains a key and a link that signs in: private.
 */
export interface ReadyFile {
  url: string;
  apiKey: string;
  /** Address of the console for browsers of this machine. */
  consoleUrl: string;
  /** A link that signs one browser in as an administrator, once. */
  consoleSignInUrl: string;
  /** The project of this start comes first. */
  deployments: ReadyDeployment[];
  eventBus: 'kafka' | 'redis';
}

export interface ReadyDeployment {
  id: string;
  name: string;
  url: string;
  /** The root of a host of its own; null where a listener's data plane has none. */
  host_url: string | null;
}

/** Writes what the gateway reads when it is first asked for something at its root. */
export async function writeRootFile(path: string, root: RootFile): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(root)}\n`);
}

export async function writeReadyFile(path: string, ready: ReadyFile): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(ready, null, 2)}\n`);
}

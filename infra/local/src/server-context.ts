import type { Supervisor } from './supervision/supervisor.ts';

/** Where a server came from, in the order in which they are tried. */
export type Origin = 'environment' | 'machine' | 'registry' | 'docker';

/** What every kind of server needs to be found or started. */
export interface ServerContext {
  supervisor: Supervisor;
  environment: NodeJS.ProcessEnv;
  progress: (line: string) => void;
}

/** A server and its end. Servers that were found running are left running. */
export interface StartedServer {
  origin: Origin;
  stop(): Promise<void>;
}

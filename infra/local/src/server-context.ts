import type { ReportStep } from './report-step.ts';
import type { Supervisor } from './supervision/supervisor.ts';

/** The origin of a server, in the order in which they are tried. */
export type Origin = 'environment' | 'machine' | 'registry' | 'docker';

/** The context in which servers are found or started. */
export interface ServerContext {
  supervisor: Supervisor;
  environment: NodeJS.ProcessEnv;
  progress: ReportStep;
  /** The address that started servers listen on, and are reached at. */
  host: string;
  /** True when a started broker admits everybody, without a login. */
  isKafkaOpen: boolean;
  /** Milliseconds that a started broker may take to answer. */
  kafkaStartMs: number;
}

/** A server and its end. Servers that were already running are left running. */
export interface StartedServer {
  origin: Origin;
  stop(): Promise<void>;
}

import type { Project } from '@runyard/project';

/** The place and the options of the start that is asked about. */
export interface DoctorContext {
  /** The folder of the project. */
  folder: string;
  dataDir: string;
  port: number;
  host: string;
  /** True when events shall go over Kafka. */
  kafka: boolean;
  environment: NodeJS.ProcessEnv;
  /** The project; null where it cannot be read, which a check of its own says. */
  project: Project | null;
}

export interface Finding {
  status: 'ok' | 'missing' | 'not needed';
  /** Names what there is, or what is missing and how to get it; the rest of a line. */
  message: string;
}

/** One thing that a start needs. It changes nothing. */
export interface Check {
  name: string;
  /** @throws InfrastructureError that says what is missing, and how to get it */
  look(context: DoctorContext): Promise<Finding>;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const notNeeded = (message: string): Finding => ({ status: 'not needed', message });
export const missing = (message: string): Finding => ({ status: 'missing', message });

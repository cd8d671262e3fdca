import type { ComputeType } from '@runyard/contracts';
import type { Logger } from '@runyard/service-kit';
import type { TProperties } from 'typebox';
import type { PodRules } from '../compute/pod-overrides.ts';
import type { Counts } from '../compute/scale-bounds.ts';
import type { OpenRevisionLog } from '../logs/revision-log.ts';
import type { Artifact, Driver } from '../revisions/driver.ts';
import type { PullCredentialFactory } from '../revisions/pull-credential.ts';
import type { PlatformSettings } from './deployment-variables.ts';
import type { RunningRevisions } from './running-revisions.ts';

/**
 * One way to run revisions. What the rest of the platform knows of a driver stands in its row: a new driver is a folder
 * and a row.
 */
export interface DriverRow<Config> {
  /** The name by which `DRIVER` chooses it. */
  name: string;
  /** The type of listeners whose data planes run it. */
  computeType: ComputeType;
  /** The variables that it alone reads. */
  variables: TProperties;
  accepts: Artifact['kind'];
  /** True when its revisions keep running when this process ends. Then their routes stay too. */
  outlivesProcess: boolean;
  /** Returns the fields of pods that deployments may choose. Absent: it runs no pods, and knows no namespaces. */
  podRules?(config: Config): PodRules;
  /** @throws ConfigError when a variable that it needs is missing */
  open(config: Config, options: DriverOptions): OpenDriver | Promise<OpenDriver>;
}

/** Everything that a driver gets besides its variables. */
export interface DriverOptions {
  openLog: OpenRevisionLog;
  /** Contains every running revision, from the start of its first process to the end of its last. */
  running: RunningRevisions;
  /** Returns the deployment's last process counts. Without it, each revision begins with the minimum. */
  countsBefore?(deploymentId: string): Promise<Counts>;
  logger: Logger;
  platform: PlatformSettings;
  /** Identifies this process among those that run deployments. */
  leaseOwner: string;
  /** Provides the credentials for pulling images from the platform's registry. */
  credentials: PullCredentialFactory;
}

export interface OpenDriver extends Driver {
  /** Removes what is left of a deleted deployment. @param namespace of the cluster it ran in; default: the usual one */
  removeLeftovers?(deploymentId: string, namespace?: string): Promise<void>;
  close?(): unknown;
}

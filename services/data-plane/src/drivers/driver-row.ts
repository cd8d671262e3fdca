import type { Counts, DriverKind } from '@runyard/deployments';
import type { OpenRevisionLog } from '@runyard/revision-logs';
import type { Logger } from '@runyard/service-kit';
import type { TProperties } from 'typebox';
import type { PlatformSettings } from './deployment-variables.ts';
import type { Driver } from './driver.ts';
import type { PullCredentialFactory } from './pull-credential.ts';
import type { RunningRevisions } from './running-revisions.ts';

/**
 * One way to run revisions. What the rest of the platform knows of a driver stands in its row: a new driver is a folder
 * and a row.
 */
export interface DriverRow<Config> extends DriverKind {
  /** The variables that it alone reads. */
  variables: TProperties;
  /** True when its revisions keep running when this process ends. Then their routes stay too. */
  outlivesProcess: boolean;
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

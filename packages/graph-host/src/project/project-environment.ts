import { machineEnvironment } from '@runyard/contracts';

/**
 * The whole environment of the process that runs the project's code: that of the machine, then what the
 * project's `env` says, then what the deployment was given. Nothing else of the parent's own gets through.
 */
export function projectEnvironment(sources: {
  own: Record<string, string | undefined>;
  project: Record<string, string>;
  deployment: Record<string, string>;
}): Record<string, string> {
  return { ...machineEnvironment(sources.own), ...sources.project, ...sources.deployment };
}

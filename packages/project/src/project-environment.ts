import { machineEnvironment } from '@runyard/contracts';
import { sectionVariables } from './section-variables.ts';

/**
 * Builds the whole environment of the process that runs the project's code. Later sources win: the machine's variables,
 * the project's `env`, sections of `langgraph.json` that the parent got as variables, and the deployment's variables.
 */
export function projectEnvironment(sources: {
  own: Record<string, string | undefined>;
  project: Record<string, string>;
  deployment: Record<string, string>;
}): Record<string, string> {
  const { own, project, deployment } = sources;
  return { ...machineEnvironment(own), ...project, ...sectionVariables(own), ...deployment };
}

import { machineEnvironment } from '@runyard/contracts';
import { sectionVariables } from './section-variables.ts';

/**
 * Builds the whole environment of the process that runs the project's code. Later sources win: the machine's variables,
 * the project's `env`, sections of `langgraph.json` that the parent got as variables, and the deployment's variables.
 * The deployment's URL is the only variable of the parent itself that is passed.
 */
export function projectEnvironment(sources: {
  own: Record<string, string | undefined>;
  project: Record<string, string>;
  deployment: Record<string, string>;
}): Record<string, string> {
  const { own, project, deployment } = sources;
  const { LANGGRAPH_API_URL } = own;
  const address: Record<string, string> = LANGGRAPH_API_URL === undefined ? {} : { LANGGRAPH_API_URL };
  return { ...machineEnvironment(own), ...address, ...project, ...sectionVariables(own), ...deployment };
}

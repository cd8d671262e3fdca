import { machineEnvironment } from '@runyard/contracts';
import { sectionVariables } from './section-variables.ts';

/**
 * The whole environment of the process that runs the project's code: that of the machine, then what the
 * project's `env` says, then sections of `langgraph.json` the parent was given as variables, then what the deployment
 * was given. Nothing else of the parent's own gets through but the URL the deployment is reached at.
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

/** What opens the data of the deployment is for the platform alone, wherever it is given. */
export function withoutKeys(variables: Record<string, string>): Record<string, string> {
  const { LANGGRAPH_AES_KEY: _, ...rest } = variables;
  return rest;
}

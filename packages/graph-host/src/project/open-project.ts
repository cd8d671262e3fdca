import { resolve } from 'node:path';
import { projectEnvironment, withoutEncryptionKey } from './project-environment.ts';
import { type Project, readProject } from './read-project.ts';
import { sectionVariables } from './section-variables.ts';

export interface OpenProject {
  project: Project;
  projectDir: string;
  /** Absolute path of `langgraph.json`. */
  configPath: string;
  /** The whole environment of the project's code. */
  environment: Record<string, string>;
  /** LANGGRAPH_AES_KEY: encrypts the deployment's data at rest. The project's code does not see it. */
  aesKey: string | undefined;
}

/**
 * Reads the project that a service was configured with, and the environment its code gets.
 *
 * @param own the environment of this process
 * @throws GraphLoadError
 */
export async function openProject(
  config: { PROJECT_DIR: string; LANGGRAPH_CONFIG_PATH: string; PROJECT_ENV: Record<string, string> },
  own: Record<string, string | undefined>,
): Promise<OpenProject> {
  const projectDir = config.PROJECT_DIR;
  const deployment = config.PROJECT_ENV;
  const configPath = resolve(projectDir, config.LANGGRAPH_CONFIG_PATH);
  const project = await readProject(projectDir, configPath, { ...sectionVariables(own), ...deployment });
  const variables = projectEnvironment({ own, project: project.env, deployment });
  const aesKey = variables.LANGGRAPH_AES_KEY || own.LANGGRAPH_AES_KEY || undefined;
  return { project, projectDir, configPath, environment: withoutEncryptionKey(variables), aesKey };
}

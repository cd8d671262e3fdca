import { resolve } from 'node:path';
import { DEPLOYMENT_KEYS_VARIABLE } from '@runyard/contracts';
import { encryptionKeys, withoutEncryptionKeys } from './encryption-keys.ts';
import { projectEnvironment } from './project-environment.ts';
import { type Project, readProject } from './read-project.ts';
import { sectionVariables } from './section-variables.ts';

export interface OpenProject {
  project: Project;
  /** Absolute path of `langgraph.json`. */
  configPath: string;
  /** The whole environment of the project's code. */
  environment: Record<string, string>;
  encryption: ProjectEncryptionVariables;
}

/** The settings of the deployment's encryption at rest. The project's code sees none of the keys. */
interface ProjectEncryptionVariables {
  /** LANGGRAPH_AES_KEY, and behind it the keys that only decrypt, separated by commas. */
  aesKey: string | undefined;
  /** LANGGRAPH_AES_JSON_KEYS: the keys of searchable JSON whose values are encrypted too. */
  aesJsonKeys: string | undefined;
  /** Keys that the platform keeps for the deployment; undefined where nobody keeps any. */
  platformKeys: string | undefined;
  /** True for a project with users of its own: they are stored with their runs and crons. */
  mustEncrypt: boolean;
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
  const find = (name: string) => variables[name] || own[name] || undefined;
  // Only the platform names its own keys: a project's `env` may not.
  const platformKeys = deployment[DEPLOYMENT_KEYS_VARIABLE] || undefined;
  const encryption = {
    aesKey: encryptionKeys(find),
    aesJsonKeys: find('LANGGRAPH_AES_JSON_KEYS'),
    platformKeys,
    mustEncrypt: project.auth !== null,
  };
  return { project, configPath, environment: withoutEncryptionKeys(variables), encryption };
}

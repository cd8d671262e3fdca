import type { DeploymentCreate } from '@runyard/contracts';

/** The form of a new deployment, as typed. */
export interface NewDeployment {
  name: string;
  kind: 'repository' | 'image';
  deploymentType: 'dev' | 'prod';
  repoUrl: string;
  branch: string;
  configPath: string;
  imageUri: string;
}

/** The fields of the platform that the form has, by those of the form. */
export const FIELD_PATHS = {
  name: 'name',
  repoUrl: 'source_config.repo_url',
  branch: 'source_revision_config.repo_ref',
  configPath: 'source_revision_config.langgraph_config_path',
  imageUri: 'source_revision_config.image_uri',
} as const;
export type FormField = keyof typeof FIELD_PATHS;

export const EMPTY: NewDeployment = {
  name: '',
  kind: 'repository',
  deploymentType: 'dev',
  repoUrl: '',
  branch: '',
  configPath: 'langgraph.json',
  imageUri: '',
};

/** Returns what is missing, by field. Everything else the platform knows better. */
export function missingFields({ name, kind, repoUrl, configPath, imageUri }: NewDeployment): Map<FormField, string> {
  const needed: [FormField, string, string][] = [
    ['name', name, 'A deployment needs a name'],
    ...(kind === 'repository'
      ? ([
          ['repoUrl', repoUrl, 'From where is it cloned?'],
          ['configPath', configPath, 'Where in the repository is its langgraph.json?'],
        ] as [FormField, string, string][])
      : ([['imageUri', imageUri, 'Which image?']] as [FormField, string, string][])),
  ];
  return new Map(needed.filter(([, value]) => value.trim() === '').map(([field, , sentence]) => [field, sentence]));
}

/** Returns the request that makes the deployment. */
export function requestOf(form: NewDeployment): DeploymentCreate {
  const { name, kind, deploymentType, repoUrl, branch, configPath, imageUri } = form;
  if (kind === 'image')
    return {
      name: name.trim(),
      source: 'external_docker',
      source_config: { deployment_type: deploymentType },
      source_revision_config: { image_uri: imageUri.trim() },
    };
  return {
    name: name.trim(),
    source: 'github',
    source_config: { repo_url: repoUrl.trim(), deployment_type: deploymentType },
    source_revision_config: {
      langgraph_config_path: configPath.trim(),
      ...(branch.trim() !== '' && { repo_ref: branch.trim() }),
    },
  };
}

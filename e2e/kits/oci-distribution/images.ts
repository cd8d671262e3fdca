import type { Deployment, PushToken } from '@runyard/contracts';

/** A place for images: that of a deployment of its own. */
export interface Images {
  /** The address without a scheme, below which images have their names. */
  registryUrl: string;
  user: string;
  password: string;
  /** Deletes the deployment with its images. */
  remove(): Promise<void>;
}

/** Makes a deployment that takes images, and a password for them. */
export async function makeImages(platformUrl: string, apiKey: string): Promise<Images> {
  const ask = async (method: string, path: string, body?: object): Promise<Response> => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const answer = await fetch(platformUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}\n${await answer.text()}`);
    return answer;
  };
  const wanted = {
    name: `kit-${crypto.randomUUID()}`,
    source: 'internal_docker',
    source_config: { deployment_type: 'dev' },
    source_revision_config: {},
  };
  const { id } = (await (await ask('POST', '/v2/deployments', wanted)).json()) as Deployment;
  const remove = async () => void (await ask('DELETE', `/v2/deployments/${id}`));
  const answer = await ask('POST', `/v2/deployments/${id}/push-token`, { supports_registry_username: true });
  const { registry_url, token, username } = (await answer.json()) as PushToken;
  return { registryUrl: registry_url, user: username ?? 'oauth2accesstoken', password: token, remove };
}

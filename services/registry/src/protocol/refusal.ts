import { REGISTRY_SEGMENT, type RegistryAddress, type RegistryResource, repositoryName } from '@runyard/image-registry';
import { type Response, sendReply } from '@runyard/service-kit';
import type { RegistryError } from '../registry-error.ts';

/** Answers with an error. A 401 contains the challenge, which says where to get a token. */
export function refuse(res: Response, error: RegistryError, challenge: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  sendReply(res, {
    status: error.status,
    headers: { ...error.headers, ...(error.status === 401 ? { 'www-authenticate': challenge } : {}) },
    body: error.body,
  });
}

/** Makes the challenge with the address of the token endpoint and the required scope. */
export function challengeOf({ origin, host }: RegistryAddress, resource: RegistryResource, method: string): string {
  const challenge = `Bearer realm="${origin}/v2/${REGISTRY_SEGMENT}/token",service="${host}"`;
  const actions = method === 'DELETE' ? 'pull,push,delete' : 'pull,push';
  return 'name' in resource ? `${challenge},scope="repository:${repositoryName(resource)}:${actions}"` : challenge;
}

import type { RegistryAddress, RegistryTokens } from '@runyard/image-registry';
import type { Request, Response } from '@runyard/service-kit';
import type { Blobs } from '../blobs/blobs.ts';
import type { ImageDeletion } from '../collection/image-deletion.ts';
import type { ControlPlaneQuestions } from '../deployments/control-plane-questions.ts';
import type { ImageOwners } from '../deployments/image-owners.ts';
import type { Manifests } from '../manifests/manifests.ts';
import { RegistryError } from '../registry-error.ts';
import type { RegistryStore } from '../stored-images/registry-store.ts';

export interface RegistryDependencies {
  address: RegistryAddress;
  tokens: RegistryTokens;
  controlPlane: Pick<ControlPlaneQuestions, 'openFormerToken'>;
  owners: ImageOwners;
  store: RegistryStore;
  blobs: Blobs;
  manifests: Manifests;
  deletion: ImageDeletion;
}

/** One request and its answer. */
export interface Exchange {
  dependencies: RegistryDependencies;
  req: Request;
  res: Response;
}

/** @param body is sent as JSON */
export function send(
  { res }: Exchange,
  status: number,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  res.writeHead(status, {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
    ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }),
  });
  res.end(text);
}

export function queryOf({ req }: Exchange): Record<string, string | undefined> {
  return Object.fromEntries(new URL(req.url, 'http://registry').searchParams);
}

export function isRead({ req: { method } }: Exchange): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function unsupported({ req }: Exchange): RegistryError {
  return new RegistryError('UNSUPPORTED', `This registry does not do ${req.method} here.`);
}

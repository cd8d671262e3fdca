import type { Request, Response } from '@runyard/service-kit';
import type { RegistryAddress } from '../images/registry-address.ts';
import type { Blobs } from './blobs.ts';
import type { ImageDeletion } from './image-deletion.ts';
import type { Manifests } from './manifests.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import type { RegistryTokens } from './registry-tokens.ts';

export interface RegistryDependencies {
  address: RegistryAddress;
  tokens: RegistryTokens;
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

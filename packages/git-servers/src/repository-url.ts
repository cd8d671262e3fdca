import { lookup } from 'node:dns/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OutboundPolicy, OutboundRefusedError } from '@runyard/outbound';
import { BadRequestError } from '@runyard/service-kit';

/** The address that git fetches from, with the protocol that it may use. */
export interface RepositoryAddress {
  url: string;
  protocol: 'https' | 'http' | 'file';
  /** `host:port:address`, so that git connects to the address that was checked. Null for a folder. */
  resolved: string | null;
}

export interface RepositoryRules {
  /** True when repositories may be folders of this machine. */
  allowsLocal: boolean;
  /** Networks (CIDR) that are not public and may be fetched from. */
  allowedNetworks?: string[] | undefined;
}

const REF = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9_][\w./+#-]*$/;

/**
 * Returns the full name of a ref: `refs/heads/<branch>`, or an argument that begins with `refs/`.
 *
 * @throws BadRequestError for an invalid name
 */
export function fullRef(ref: string): string {
  if (!REF.test(ref) || /[./]$/.test(ref))
    throw invalidUrl(`'source_revision_config.repo_ref' is no branch or tag: ${ref}`);
  return ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
}

/** Checks the URL as far as possible without any request. @throws BadRequestError */
export function checkRepositoryUrl(repoUrl: string, rules: RepositoryRules): URL | string {
  if (isAbsolute(repoUrl) || repoUrl.startsWith('file:')) {
    if (!rules.allowsLocal) throw invalidUrl('repositories of this machine are switched off here (LOCAL_PROJECTS)');
    return localPath(repoUrl);
  }
  try {
    return policyOf(rules).checkUrl(repoUrl);
  } catch (error) {
    if (error instanceof OutboundRefusedError) throw invalidUrl(`'source_config.repo_url': ${error.message}`);
    throw error;
  }
}

/** Checks the URL and resolves its host, which may have another address each time. @throws BadRequestError */
export async function resolveRepository(repoUrl: string, rules: RepositoryRules): Promise<RepositoryAddress> {
  const url = checkRepositoryUrl(repoUrl, rules);
  if (typeof url === 'string') return { url, protocol: 'file', resolved: null };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // One text for both: nobody learns which names there are inside.
  const unreachable = (cause: unknown) => invalidUrl(`the host ${host} has no address that may be reached`, cause);
  const found = await lookup(host).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  try {
    policyOf(rules).checkResolved(found.address);
  } catch (error) {
    if (error instanceof OutboundRefusedError) throw unreachable(error);
    throw error;
  }
  const protocol = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port || (protocol === 'https' ? '443' : '80');
  const address = found.family === 6 ? `[${found.address}]` : found.address;
  return { url: url.href, protocol, resolved: `${host}:${port}:${address}` };
}

/** Returns whether two URLs are spellings of the same repository. */
export function isSameRepository(one: string, other: string): boolean {
  return normalizeUrl(one) === normalizeUrl(other);
}

function normalizeUrl(url: string): string {
  return url
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/i, '')
    .toLowerCase();
}

/** Returns the outbound policy for requests to Git servers. */
export function policyOf({ allowedNetworks = [] }: RepositoryRules): OutboundPolicy {
  return new OutboundPolicy({ subject: 'Repository', allowedNetworks });
}

function localPath(repoUrl: string): string {
  if (isAbsolute(repoUrl)) return repoUrl;
  try {
    return fileURLToPath(repoUrl);
  } catch (cause) {
    throw invalidUrl("'source_config.repo_url' is no file URL of this machine", cause);
  }
}

function invalidUrl(message: string, cause?: unknown): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message}.`, { code: 'source_invalid', cause });
}

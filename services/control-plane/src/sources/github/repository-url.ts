import { lookup } from 'node:dns/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OutboundPolicy, OutboundRefusedError } from '@runyard/outbound';
import { BadRequestError } from '@runyard/service-kit';

/** Where git fetches from, and what it may do to get there. */
export interface RepositoryAddress {
  url: string;
  protocol: 'https' | 'http' | 'file';
  /** `host:port:address`, so that git connects to what was checked. Empty for a folder. */
  resolved: string | null;
}

export interface RepositoryRules {
  /** Repositories that are folders of this machine. */
  allowsLocal: boolean;
  /** Networks (CIDR) that are not public and may be fetched from. */
  allowedNetworks?: string[] | undefined;
}

const REF = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9_][\w./+#-]*$/;

/** `refs/heads/<branch>`, or the tag as it is. @throws BadRequestError for what is no name of a branch or tag */
export function fullRef(ref: string): string {
  if (!REF.test(ref) || /[./]$/.test(ref)) throw wrong(`'source_revision_config.repo_ref' is no branch or tag: ${ref}`);
  return ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
}

/** The URL as far as it can be judged without asking anybody. @throws BadRequestError */
export function checkRepositoryUrl(repoUrl: string, rules: RepositoryRules): URL | string {
  if (isAbsolute(repoUrl) || repoUrl.startsWith('file:')) {
    if (!rules.allowsLocal) throw wrong('repositories of this machine are switched off here (LOCAL_PROJECTS)');
    return localPath(repoUrl);
  }
  try {
    return policyOf(rules).checkUrl(repoUrl);
  } catch (error) {
    if (error instanceof OutboundRefusedError) throw wrong(`'source_config.repo_url': ${error.message}`);
    throw error;
  }
}

/** The same with its address, which may be another one each time. @throws BadRequestError */
export async function resolveRepository(repoUrl: string, rules: RepositoryRules): Promise<RepositoryAddress> {
  const url = checkRepositoryUrl(repoUrl, rules);
  if (typeof url === 'string') return { url, protocol: 'file', resolved: null };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const found = await lookup(host).catch((cause: unknown) => {
    throw wrong(`the host ${host} is not known`, cause);
  });
  try {
    policyOf(rules).checkAddress(found.address);
  } catch (error) {
    if (error instanceof OutboundRefusedError) throw wrong(error.message, error);
    throw error;
  }
  const protocol = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port || (protocol === 'https' ? '443' : '80');
  const address = found.family === 6 ? `[${found.address}]` : found.address;
  return { url: url.href, protocol, resolved: `${host}:${port}:${address}` };
}

/** Two spellings of one repository. */
export function isSameRepository(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

function plain(url: string): string {
  return url
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '')
    .toLowerCase();
}

/** What may be asked of the servers that repositories are on. */
export function policyOf({ allowedNetworks = [] }: RepositoryRules): OutboundPolicy {
  return new OutboundPolicy({ subject: 'Repository', allowedNetworks });
}

function localPath(repoUrl: string): string {
  if (isAbsolute(repoUrl)) return repoUrl;
  try {
    return fileURLToPath(repoUrl);
  } catch (cause) {
    throw wrong("'source_config.repo_url' is no file URL of this machine", cause);
  }
}

function wrong(message: string, cause?: unknown): BadRequestError {
  return new BadRequestError(`Source configuration error: ${message}.`, { cause });
}

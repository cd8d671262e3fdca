import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GitServerType } from '@runyard/contracts';
import { LocalServer } from './local-server.ts';

const PATHS: Record<GitServerType, RegExp> = {
  github: /^\/api\/v3\/(user\/repos|installation\/repositories)$/,
  gitea: /^\/api\/v1\/user\/repos$/,
  gitlab: /^\/api\/v4\/projects$/,
};
const PAGE_MAX: Record<GitServerType, number> = { github: 100, gitea: 50, gitlab: 100 };

/** Makes a repository with the fields that GitHub and Gitea have in common. */
export function repository(id: number, changes: object = {}) {
  const name = `agent-${id}`;
  return {
    id,
    name,
    full_name: `acme/${name}`,
    owner: { id: 1, login: 'acme', avatar_url: 'https://git.example.com/avatars/1' },
    private: true,
    fork: false,
    html_url: `https://git.example.com/acme/${name}`,
    clone_url: `https://git.example.com/acme/${name}.git`,
    ssh_url: `git@git.example.com:acme/${name}.git`,
    default_branch: 'main',
    permissions: { admin: false, push: false, pull: true },
    ...changes,
  };
}

/** Makes a project as GitLab returns it with `simple=true`. */
export function project(id: number, changes: object = {}) {
  const path = `agent-${id}`;
  return {
    id,
    name: `Agent ${id}`,
    path,
    path_with_namespace: `acme/research/${path}`,
    default_branch: 'main',
    ssh_url_to_repo: `git@git.example.com:acme/research/${path}.git`,
    http_url_to_repo: `https://git.example.com/acme/research/${path}.git`,
    web_url: `https://git.example.com/acme/research/${path}`,
    namespace: { id: 2, name: 'Research', path: 'research', kind: 'group', full_path: 'acme/research' },
    ...changes,
  };
}

/** The part of a Git server's API that lists repositories. It requires the token. */
export class GitServerApi extends LocalServer {
  readonly type: GitServerType;
  readonly token: string;
  repositories: object[] = [];
  /** Answers instead of the API. */
  instead: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  /** Paths and queries of all requests. */
  readonly asked: string[] = [];

  private constructor(type: GitServerType, token: string) {
    super();
    this.type = type;
    this.token = token;
  }

  static open(type: GitServerType, token: string): Promise<GitServerApi> {
    return new GitServerApi(type, token).listening();
  }

  protected override answer(req: IncomingMessage, res: ServerResponse): void {
    const { pathname, searchParams } = new URL(req.url!, this.url);
    this.asked.push(req.url!);
    if (!PATHS[this.type].test(pathname)) this.#missing(res);
    else if (this.instead) this.instead(req, res);
    else this.#list(req, res, pathname, searchParams);
  }

  #list(req: IncomingMessage, res: ServerResponse, pathname: string, searchParams: URLSearchParams): void {
    const scheme = this.type === 'gitea' ? 'token' : 'Bearer';
    if (req.headers.authorization !== `${scheme} ${this.token}`) {
      json(res, 401, { message: 'Bad credentials' });
      return;
    }
    const asked = Number(searchParams.get(this.type === 'gitea' ? 'limit' : 'per_page') ?? 20);
    const size = Math.min(asked, PAGE_MAX[this.type]);
    const page = Number(searchParams.get('page') ?? 1);
    const found = this.repositories.slice((page - 1) * size, page * size);
    if (page * size < this.repositories.length) {
      // Some servers return URLs with a host at which clients do not reach them.
      res.setHeader('link', `<https://git.example.com/next>; rel="next", <https://git.example.com/last>; rel="last"`);
    }
    const isWrapped = pathname.endsWith('/installation/repositories');
    json(res, 200, isWrapped ? { total_count: this.repositories.length, repositories: found } : found);
  }

  #missing(res: ServerResponse): void {
    if (this.type === 'gitlab') json(res, 404, { error: '404 Not Found' });
    else res.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
  }
}

export function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

import { conforms, type GitServerType, OptionalNullable } from '@runyard/contracts';
import Type, { type Static } from 'typebox';

/** A repository, independent of the kind of its server. */
export interface ServerRepository {
  id: number;
  name: string;
  owner: string;
  cloneUrl: string;
  /** Null for an empty repository. */
  defaultBranch: string | null;
}

/** The API of a kind of Git server that lists the repositories of a token, page by page. */
export interface ServerApi {
  /** @param page counts from 1 */
  pageUrl(server: string, token: string, page: number): string;
  headers(token: string): Record<string, string>;
  /** Returns undefined when the body is no page of repositories. */
  repositoriesIn(body: unknown): ServerRepository[] | undefined;
}

/** The fields of a repository that GitHub, Gitea and Forgejo have in common. */
const Repository = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  owner: Type.Object({ login: Type.String() }),
  clone_url: Type.String(),
  default_branch: OptionalNullable(Type.String()),
});
const Repositories = Type.Array(Repository);
const InstallationRepositories = Type.Object({ repositories: Repositories });
const Projects = Type.Array(
  Type.Object({
    id: Type.Integer(),
    path: Type.String(),
    namespace: Type.Object({ full_path: Type.String() }),
    http_url_to_repo: Type.String(),
    default_branch: OptionalNullable(Type.String()),
  }),
);

/** Tokens of a GitHub application's installation represent no user. */
const isOfInstallation = (token: string) => token.startsWith('ghs_');

const github: ServerApi = {
  pageUrl(server, token, page) {
    const list = isOfInstallation(token) ? 'installation/repositories?' : 'user/repos?sort=pushed&';
    return `${githubApi(new URL(server))}/${list}per_page=100&page=${page}`;
  },
  headers: (token) => ({
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'x-github-api-version': '2022-11-28',
  }),
  repositoriesIn: (body) =>
    conforms(InstallationRepositories, body) ? body.repositories.map(fromRepository) : fromRepositories(body),
};

const gitea: ServerApi = {
  // Servers limit a page to 50 repositories unless their administrator changed that.
  pageUrl: (server, _, page) => `${server}/api/v1/user/repos?limit=50&page=${page}`,
  headers: (token) => ({ accept: 'application/json', authorization: `token ${token}` }),
  repositoriesIn: fromRepositories,
};

const gitlab: ServerApi = {
  pageUrl: (server, _, page) =>
    `${server}/api/v4/projects?membership=true&simple=true&order_by=last_activity_at&per_page=100&page=${page}`,
  headers: (token) => ({ accept: 'application/json', authorization: `Bearer ${token}` }),
  repositoriesIn: (body) =>
    conforms(Projects, body)
      ? body.map(({ id, path, namespace, http_url_to_repo, default_branch }) => ({
          id,
          name: path,
          owner: namespace.full_path,
          cloneUrl: http_url_to_repo,
          defaultBranch: default_branch ?? null,
        }))
      : undefined,
};

export const SERVER_APIS: Record<GitServerType, ServerApi> = { github, gitea, gitlab };

/** Returns the kinds a server may have, the most likely one first. */
export function possibleTypes(server: string): GitServerType[] {
  return isGithubDotCom(new URL(server)) ? ['github'] : ['gitea', 'gitlab', 'github'];
}

/** GitHub's own servers have a host for the API; GitHub Enterprise Server has it below a path. */
function githubApi(server: URL): string {
  return isGithubDotCom(server) ? `https://api.${server.host}` : `${server.origin}/api/v3`;
}

function isGithubDotCom({ hostname }: URL): boolean {
  return hostname === 'github.com' || hostname.endsWith('.ghe.com');
}

function fromRepositories(body: unknown): ServerRepository[] | undefined {
  return conforms(Repositories, body) ? body.map(fromRepository) : undefined;
}

function fromRepository({ id, name, owner, clone_url, default_branch }: Static<typeof Repository>): ServerRepository {
  return { id, name, owner: owner.login, cloneUrl: clone_url, defaultBranch: default_branch || null };
}

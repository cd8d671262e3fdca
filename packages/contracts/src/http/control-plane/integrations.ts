import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, OptionalNullable, Uuid } from '../common.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** Maximum number of repositories in one answer; any other can be named by its URL. */
export const LISTED_REPOSITORIES_MAX = 1_000;

/** The API of a Git server: `github` includes enterprise servers, `gitea` includes Forgejo. */
export const GitServerType = Type.Union([Type.Literal('github'), Type.Literal('gitea'), Type.Literal('gitlab')], {
  $id: 'GitServerType',
});
export type GitServerType = Static<typeof GitServerType>;

/** The credentials for the private repositories of one server. */
export const GithubIntegration = Type.Object(
  {
    id: Uuid,
    /** The integration as a number, for clients that expect installations of apps. */
    installation_id: Type.Integer(),
    name: Type.String(),
  },
  { $id: 'GithubIntegration' },
);
export type GithubIntegration = Static<typeof GithubIntegration>;

export const GithubIntegrationCreate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    /** `https://host` of the server. The token is sent nowhere else. */
    url: Type.String({ minLength: 1, maxLength: 2048 }),
    /** An access token that may read the repositories. It is stored encrypted, and never shown again. */
    token: Type.String({ minLength: 1, maxLength: 4096 }),
    /** Selects the API that lists the repositories; default: detected when they are first listed. */
    server_type: OptionalNullable(GitServerType),
  },
  { $id: 'GithubIntegrationCreate' },
);
export type GithubIntegrationCreate = Static<typeof GithubIntegrationCreate>;

const exampleIntegration: GithubIntegration = {
  id: '0192f7a0-0000-7000-8000-000000000009',
  installation_id: 1,
  name: 'acme',
};

/** A repository that the token of an integration may read. */
export const GithubRepository = Type.Object(
  {
    /** The value for `source_config.integration_id`. */
    host_integration_id: Uuid,
    /** The number of the repository on its server. */
    id: Type.Integer(),
    name: Type.String(),
    /** A user, an organization, or a group with its parent groups. */
    owner: Type.String(),
    /** The value for `source_config.repo_url`. */
    url: Type.String(),
    /** The value for `source_revision_config.repo_ref`. */
    default_branch: Type.String(),
  },
  { $id: 'GithubRepository' },
);
export type GithubRepository = Static<typeof GithubRepository>;

const exampleRepository: GithubRepository = {
  host_integration_id: exampleIntegration.id,
  id: 1296269,
  name: 'agent',
  owner: 'acme',
  url: 'https://git.example.com/acme/agent.git',
  default_branch: 'main',
};

const integrationRefusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };

const IntegrationParams = Type.Object({ integration_id: Uuid });
const integrationMissing = {
  ...NotFoundResponse,
  example: { detail: 'Integration ID 0192f7a0-0000-7000-8000-000000000009 not found.' },
};

/** Each list has two addresses: elsewhere, a separate application is behind each; here both are the same. */
const listOfIntegrations = (operationId: string, path: string) =>
  defineOperation({
    operationId,
    method: 'get',
    path,
    summary: 'The integrations of the workspace, oldest first.',
    tags: ['integrations (v1)'],
    access: 'principal',
    permission: 'deployments:read',
    responses: {
      200: {
        description: 'All of them.',
        schema: Type.Array(GithubIntegration),
        example: [exampleIntegration],
      },
      ...integrationRefusals,
    },
  });

const listOfRepositories = (operationId: string, path: string) =>
  defineOperation({
    operationId,
    method: 'get',
    path,
    summary: 'The repositories that the token of an integration may read and that have a branch.',
    tags: ['integrations (v1)'],
    access: 'principal',
    // The names of private repositories are for callers who may deploy them.
    permission: 'deployments:create',
    plan: 'plus',
    params: IntegrationParams,
    responses: {
      200: {
        description: `As their server lists them, ${LISTED_REPOSITORIES_MAX} at most.`,
        schema: Type.Array(GithubRepository),
        example: [exampleRepository],
      },
      400: {
        ...BadRequestResponse,
        example: { detail: 'The Git server https://git.example.com does not take the token of the integration.' },
      },
      404: integrationMissing,
      429: {
        description: 'The Git server takes no more requests for now.',
        schema: ErrorResponse,
        headers: { 'Retry-After': 'Seconds.' },
        example: { detail: 'The Git server https://git.example.com takes no more requests for now.' },
      },
      502: {
        description: 'The Git server did not answer, or what it answered makes no sense.',
        schema: ErrorResponse,
        example: { detail: 'The Git server https://git.example.com cannot be reached.' },
      },
      ...integrationRefusals,
    },
  });

export const listGithubIntegrations = listOfIntegrations('listGithubIntegrations', '/v1/integrations/github/install');
export const listForgeGithubIntegrations = listOfIntegrations(
  'listForgeGithubIntegrations',
  '/v1/integrations/forge/github/install',
);
export const listGithubRepositories = listOfRepositories(
  'listGithubRepositories',
  '/v1/integrations/github/{integration_id}/repos',
);
export const listForgeGithubRepositories = listOfRepositories(
  'listForgeGithubRepositories',
  '/v1/integrations/forge/github/{integration_id}/repos',
);

export const createGithubIntegration = defineCreation('deployments', {
  operationId: 'createGithubIntegration',
  method: 'post',
  path: '/v1/integrations/github/install',
  summary: 'Give the workspace access to private repositories, by a token.',
  tags: ['integrations (v1)'],
  access: 'principal',
  permission: 'deployments:create',
  plan: 'plus',
  body: GithubIntegrationCreate,
  bodyLimitBytes: 65_536,
  responses: {
    201: { description: 'For `source_config.integration_id`.', schema: GithubIntegration, example: exampleIntegration },
    400: { ...BadRequestResponse, example: { detail: 'The URL of an integration is https://host, without a path.' } },
    ...integrationRefusals,
  },
  examples: { body: { name: 'acme', url: 'https://git.example.com', token: 'a token' } },
});

export const deleteGithubIntegration = defineOperation({
  operationId: 'deleteGithubIntegration',
  method: 'delete',
  path: '/v1/integrations/github/install/{integration_id}',
  summary: 'Forget a token. Deployments that use it cannot be built any more; those that run go on.',
  tags: ['integrations (v1)'],
  access: 'principal',
  permission: 'deployments:delete',
  params: IntegrationParams,
  responses: {
    204: { description: 'It is gone.' },
    404: integrationMissing,
    ...integrationRefusals,
  },
});

import Type, { type Static, type TSchema } from 'typebox';
import { DEPLOYMENT_TOKEN_HEADER } from '../../deployment-token.ts';
import { JsonObject } from '../../json-object.ts';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import {
  AgentId,
  AUTH_TAG,
  BadRequest,
  HtmlPageResponse,
  OAUTH_ERROR_RESPONSES,
  ProviderNotFoundResponse,
  ProviderUnavailableResponse,
  Scopes,
} from './responses.ts';

const OptionalNullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

export const AuthenticateRequest = Type.Object(
  {
    /** The `provider_id` of the provider. */
    provider: Type.String(),
    scopes: Scopes,
    /** One of the caller's own users: their tokens are kept apart. Default: the caller itself. */
    user_id: OptionalNullable(Type.String({ minLength: 1, maxLength: 255 })),
    /**
     * The platform user whose token is requested. Another user's token is returned only to a deployment, if that user
     * connected it to its agent.
     */
    ls_user_id: OptionalNullable(Type.String({ minLength: 1, maxLength: 255 })),
    /** The agent whose connected tokens are wanted. Those connected to the id of the deployment need no name. */
    agent_id: OptionalNullable(AgentId),
    /**
     * Selects applications that a hosted platform registered for all its customers. Runyard has none, and refuses true.
     */
    use_agent_builder_public_oauth: Type.Optional(Type.Boolean({ default: false })),
    /** True when to start a new authorization although there is a token. */
    force_new: Type.Optional(Type.Boolean({ default: false })),
    /** The token to use when there are several. */
    token_id: OptionalNullable(Uuid),
    /** True when a new token becomes the default when several match. */
    is_default: Type.Optional(Type.Boolean({ default: true })),
  },
  { $id: 'AuthenticateRequest' },
);
export type AuthenticateRequest = Static<typeof AuthenticateRequest>;

export const AuthenticateResponse = Type.Object(
  {
    /**
     * `completed`: the token is in the answer. `pending`: a person has to visit `url`. `token_expired`: the token
     * cannot be refreshed, and a person has to visit `url` again if there is one. `connection_required`: the named user
     * has connected none.
     */
    status: Type.Union([
      Type.Literal('completed'),
      Type.Literal('pending'),
      Type.Literal('connection_required'),
      Type.Literal('token_expired'),
    ]),
    url: OptionalNullable(Type.String()),
    /** The id for `wait`. */
    auth_id: OptionalNullable(Type.String()),
    token: OptionalNullable(Type.String()),
    user_id: OptionalNullable(Type.String()),
    /** Values that the provider sent with the token, such as the address of its API. */
    metadata: OptionalNullable(JsonObject),
  },
  { $id: 'AuthenticateResponse' },
);
export type AuthenticateResponse = Static<typeof AuthenticateResponse>;

export const WaitResponse = Type.Object(
  {
    /** `pending` when the request did not wait; `not_found` also when the authorization failed or is too old. */
    status: Type.Union([
      Type.Literal('completed'),
      Type.Literal('pending'),
      Type.Literal('timeout'),
      Type.Literal('not_found'),
    ]),
    token: OptionalNullable(Type.String()),
  },
  { $id: 'AuthWaitResponse' },
);
export type WaitResponse = Static<typeof WaitResponse>;

export const authenticate = defineOperation({
  operationId: 'authenticate',
  method: 'post',
  path: '/v2/auth/authenticate',
  summary: 'A token of a provider, or the address where a person gives one.',
  tags: [AUTH_TAG],
  access: 'principal',
  // Whoever has a token can act at its provider.
  permission: 'any key that writes',
  headers: {
    [DEPLOYMENT_TOKEN_HEADER]:
      'The value of `RUNYARD_DEPLOYMENT_TOKEN`, with which the code of a deployment proves that it asks. Only then tokens that others connected to its agent are given, and those of the workspace.',
  },
  body: AuthenticateRequest,
  responses: {
    200: {
      description: 'How it stands.',
      schema: AuthenticateResponse,
      example: {
        status: 'pending',
        url: 'https://agents.example.com/v2/auth/start/3c90c3cc-0d44-4b50-8888-8dd25736052a',
        auth_id: '3c90c3cc-0d44-4b50-8888-8dd25736052a',
        user_id: 'alice',
      },
    },
    400: BadRequest,
    404: ProviderNotFoundResponse,
    502: ProviderUnavailableResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
  examples: { body: { provider: 'github', scopes: ['repo'], user_id: 'alice' } },
});

export const waitForAuthentication = defineOperation({
  operationId: 'waitForAuthentication',
  method: 'get',
  path: '/v2/auth/wait/{auth_id}',
  summary: 'Wait until the person has been at the provider.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key that writes',
  params: Type.Object({ auth_id: Type.String() }),
  query: Type.Object({
    timeout: Type.Number({ default: 30, minimum: 0, maximum: 3600, description: 'Seconds.' }),
  }),
  responses: {
    200: { description: 'How it stands.', schema: WaitResponse, example: { status: 'completed', token: 'gho_…' } },
    ...OAUTH_ERROR_RESPONSES,
  },
});

export const startAuthentication = defineOperation({
  operationId: 'startAuthentication',
  method: 'get',
  path: '/v2/auth/start/{auth_id}',
  summary:
    'Where a person begins an authorization: the page says who asks for what, and its link leads to the provider. The authorization can be finished in the same browser alone.',
  tags: [AUTH_TAG],
  access: 'public',
  params: Type.Object({ auth_id: Type.String({ maxLength: 100 }) }),
  query: Type.Object({
    proof: Type.Optional(Type.String({ maxLength: 100, description: 'From the link of the page, for this browser.' })),
  }),
  responses: {
    200: HtmlPageResponse,
    303: { description: 'To the provider, or to the sign-in.', headers: { Location: 'The page.' } },
    403: { ...HtmlPageResponse, description: 'The authorization is for another person than the one who signed in.' },
    400: { ...HtmlPageResponse, description: 'The authorization is not known, was used, or is too old.' },
    422: OAUTH_ERROR_RESPONSES[422],
    502: { ...HtmlPageResponse, description: 'The provider is not available.' },
  },
});

const text = (description: string) => Type.Optional(Type.String({ maxLength: 8192, description }));

/** The query parameters of a provider's redirect to the callback address (RFC 6749). */
const answer = {
  code: text('Authorization code.'),
  state: text('As it was given to the provider; good for one time.'),
  error: text('Why there is no code.'),
  error_description: text('The same, in words.'),
  iss: text('Who answers (RFC 9207).'),
};
const answered = {
  200: HtmlPageResponse,
  303: { description: 'To the page that is configured.', headers: { Location: 'The page.' } },
  400: { ...HtmlPageResponse, description: 'It did not work: why, for a person.' },
  502: { ...HtmlPageResponse, description: 'The provider did not give a token: why, for a person.' },
};

export const oauthCallback = defineOperation({
  operationId: 'oauthCallback',
  method: 'get',
  path: '/v2/auth/callback/{provider_id}',
  summary: 'Where a provider sends the person back to. Ends on a page that says how it went.',
  tags: [AUTH_TAG],
  access: 'public',
  params: Type.Object({ provider_id: Type.String({ maxLength: 1_000 }) }),
  query: Type.Object(answer),
  responses: answered,
});

export const finishAuthentication = defineOperation({
  operationId: 'finishAuthentication',
  method: 'post',
  path: '/v2/auth/callback/{provider_id}',
  summary: 'The same by a front end, for the user who began it.',
  tags: [AUTH_TAG],
  access: 'principal',
  permission: 'any key that writes',
  params: Type.Object({ provider_id: Type.String({ maxLength: 1_000 }) }),
  body: Type.Object(
    {
      code: Type.String({ minLength: 1, maxLength: 8192 }),
      state: Type.String({ minLength: 1, maxLength: 8192 }),
      iss: Type.Optional(Type.String({ maxLength: 8192 })),
    },
    { $id: 'OAuthCallbackRequest' },
  ),
  responses: {
    200: {
      description: 'The token is stored.',
      schema: Type.Object({ message: Type.String(), provider_id: Type.String() }),
      example: { message: 'The account is connected.', provider_id: 'github' },
    },
    400: BadRequest,
    502: ProviderUnavailableResponse,
    ...OAUTH_ERROR_RESPONSES,
  },
  examples: { body: { code: 'a-code', state: 'as it came back' } },
});

export const oauthSetup = defineOperation({
  operationId: 'oauthSetup',
  method: 'get',
  path: '/v2/auth/setup/{provider_id}',
  summary:
    'Where a Git host sends a person who installed its application, or changed what it may see. One who was asked for an account on the way is back with it.',
  tags: [AUTH_TAG],
  access: 'public',
  params: Type.Object({ provider_id: Type.String({ maxLength: 1_000 }) }),
  query: Type.Object({
    ...answer,
    setup_action: Type.Optional(
      Type.Union([Type.Literal('install'), Type.Literal('update'), Type.Literal('request')], { default: 'install' }),
    ),
    installation_id: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  responses: { ...answered, 422: OAUTH_ERROR_RESPONSES[422] },
});

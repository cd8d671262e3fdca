import Type, { type Static } from 'typebox';
import { defineOperation, type Operation, type OperationResponse } from '../../operation.ts';

const PATH = '/oauth';
/** The page on which people allow a program to act for them. */
export const DEVICE_PAGE_PATH = '/auth/device';
/** The page on which people let an MCP client use a deployment: the `authorization_endpoint` of RFC 6749. */
export const AUTHORIZATION_PAGE_PATH = '/auth/authorize';
/** The only scope: to use the MCP server of one deployment, with the person's rights on it. */
export const MCP_SCOPE = 'mcp';
export const OAUTH_PATHS = {
  metadata: '/.well-known/oauth-authorization-server',
  deviceCode: `${PATH}/device/code`,
  token: `${PATH}/token`,
  register: `${PATH}/register`,
  revoke: `${PATH}/revoke`,
} as const;
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The form of errors in RFC 6749 §5.2. */
const OAuthErrorResponse = Type.Object(
  {
    error: Type.String({ description: 'Code of the error; `slow_down` and `authorization_pending` are asked again.' }),
    error_description: Type.String(),
  },
  { $id: 'OAuthErrorResponse' },
);

export const DeviceCodeAnswer = Type.Object(
  {
    device_code: Type.String({ description: 'The secret of the program.' }),
    user_code: Type.String({ description: 'The code that the person enters.' }),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String(),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    interval: Type.Integer({ description: 'Seconds between two questions.' }),
  },
  { $id: 'DeviceCodeAnswer' },
);
export type DeviceCodeAnswer = Static<typeof DeviceCodeAnswer>;

export const OAuthTokenAnswer = Type.Object(
  {
    access_token: Type.String({ description: 'Goes into `Authorization: Bearer`.' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    refresh_token: Type.String({ description: 'Works once, for the next tokens.' }),
    scope: Type.Optional(Type.String({ description: '`mcp`: the tokens are for one MCP server. Absent for others.' })),
  },
  { $id: 'OAuthTokenAnswer' },
);
export type OAuthTokenAnswer = Static<typeof OAuthTokenAnswer>;

export const OAuthMetadata = Type.Object(
  {
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    registration_endpoint: Type.String(),
    device_authorization_endpoint: Type.String(),
    revocation_endpoint: Type.String(),
    grant_types_supported: Type.Array(Type.String()),
    response_types_supported: Type.Array(Type.String()),
    response_modes_supported: Type.Array(Type.String()),
    code_challenge_methods_supported: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    client_id_metadata_document_supported: Type.Boolean(),
    token_endpoint_auth_methods_supported: Type.Array(Type.String()),
    revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
  },
  { $id: 'OAuthMetadata' },
);
export type OAuthMetadata = Static<typeof OAuthMetadata>;

const Texts = Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 20 });

/** Metadata of a client (RFC 7591). What is not here is ignored. */
export const ClientRegistrationRequest = Type.Object(
  {
    redirect_uris: Type.Optional(Texts),
    client_name: Type.Optional(Type.String({ maxLength: 2000 })),
    grant_types: Type.Optional(Texts),
    response_types: Type.Optional(Texts),
    token_endpoint_auth_method: Type.Optional(
      Type.String({ maxLength: 200, description: 'Whatever it is, the client gets no secret: see the answer.' }),
    ),
  },
  { $id: 'ClientRegistrationRequest' },
);
export type ClientRegistrationRequest = Static<typeof ClientRegistrationRequest>;

export const RegisteredClient = Type.Object(
  {
    client_id: Type.String({ description: 'Says what was registered, so that nothing is stored here.' }),
    client_id_issued_at: Type.Integer({ description: 'Seconds since 1970.' }),
    client_name: Type.String(),
    redirect_uris: Type.Array(Type.String()),
    grant_types: Type.Array(Type.String()),
    response_types: Type.Array(Type.String()),
    token_endpoint_auth_method: Type.Literal('none'),
    scope: Type.String(),
  },
  { $id: 'RegisteredClient' },
);
export type RegisteredClient = Static<typeof RegisteredClient>;

/** A missing field is an error in the form of OAuth, so none is required here. */
const Field = Type.Optional(Type.String({ maxLength: 10_000 }));
const client_id = Type.Optional(
  Type.String({ maxLength: 10_000, description: '`langsmith-cli`, or that of a registered client.' }),
);
const resource = Type.Optional(
  Type.String({
    maxLength: 10_000,
    description: 'Absent, or the `issuer`; for a registered client the MCP server that it was allowed to use.',
  }),
);
const tags = ['oauth'];
const shared = {
  access: 'public',
  errors: OAuthErrorResponse,
  bodyType: 'application/x-www-form-urlencoded',
  bodyLimitBytes: 65_536,
} as const;
const refused = (description: string, error: string): OperationResponse => ({
  description,
  schema: OAuthErrorResponse,
  example: { error, error_description: description },
});
const refusals = {
  400: refused('A parameter is missing or repeated.', 'invalid_request'),
  401: refused('There is no such client.', 'invalid_client'),
  429: refused('There were too many attempts.', 'slow_down'),
};

export const getOAuthMetadata = defineOperation({
  operationId: 'getOAuthMetadata',
  method: 'get',
  path: OAUTH_PATHS.metadata,
  summary: 'Where programs get tokens of people (RFC 8414).',
  tags,
  access: 'public',
  responses: { 200: { description: 'The endpoints.', schema: OAuthMetadata } },
});

export const authorizeDevice = defineOperation({
  ...shared,
  tags,
  operationId: 'authorizeDevice',
  method: 'post',
  path: OAUTH_PATHS.deviceCode,
  summary: 'Ask that a person allows a program to act for them (RFC 8628).',
  body: Type.Object({ client_id, resource }, { $id: 'DeviceCodeForm' }),
  responses: {
    200: { description: 'The codes of the program and of the person.', schema: DeviceCodeAnswer },
    ...refusals,
  },
  examples: { body: { client_id: 'langsmith-cli' } },
});

export const registerOAuthClient = defineOperation({
  tags,
  access: 'public',
  errors: OAuthErrorResponse,
  bodyLimitBytes: 65_536,
  operationId: 'registerOAuthClient',
  method: 'post',
  path: OAUTH_PATHS.register,
  summary: 'Register an MCP client, which people may then let use a deployment (RFC 7591).',
  body: ClientRegistrationRequest,
  responses: {
    201: { description: 'The client. It has no secret.', schema: RegisteredClient },
    400: refused('The metadata cannot be registered.', 'invalid_client_metadata'),
    429: refusals[429],
  },
  examples: { body: { client_name: 'An editor', redirect_uris: ['http://127.0.0.1:33418/callback'] } },
});

export const issueOAuthTokens = defineOperation({
  ...shared,
  tags,
  operationId: 'issueOAuthTokens',
  method: 'post',
  path: OAUTH_PATHS.token,
  summary: 'Give the tokens of a session, for the code of a program that a person allowed or for a refresh token.',
  body: Type.Object(
    {
      grant_type: Type.Optional(
        Type.String({
          maxLength: 10_000,
          description: `\`${DEVICE_GRANT}\`, \`authorization_code\` or \`refresh_token\`.`,
        }),
      ),
      client_id,
      device_code: Field,
      code: Field,
      redirect_uri: Field,
      code_verifier: Field,
      refresh_token: Field,
      resource,
    },
    { $id: 'OAuthTokenForm' },
  ),
  responses: { 200: { description: 'The tokens.', schema: OAuthTokenAnswer }, ...refusals },
  examples: {
    body: { grant_type: 'refresh_token', client_id: 'langsmith-cli', refresh_token: 'from the last answer' },
  },
});

export const revokeOAuthToken = defineOperation({
  ...shared,
  tags,
  operationId: 'revokeOAuthToken',
  method: 'post',
  path: OAUTH_PATHS.revoke,
  summary: 'End the session of a token (RFC 7009).',
  body: Type.Object({ token: Field, token_type_hint: Field, client_id }, { $id: 'OAuthRevocationForm' }),
  responses: { 200: { description: 'The token works no more, if it ever did.' }, ...refusals },
  examples: { body: { token: 'from the last answer', client_id: 'langsmith-cli' } },
});

export const programOperations: readonly Operation[] = [
  getOAuthMetadata,
  authorizeDevice,
  registerOAuthClient,
  issueOAuthTokens,
  revokeOAuthToken,
];

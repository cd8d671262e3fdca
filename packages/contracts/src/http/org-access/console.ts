import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Nullable, Timestamp } from '../common.ts';
import { InvalidResponse, UnauthorizedResponse } from './responses.ts';

const tags = ['internal'];
const internal = { tags, access: 'internal' } as const;

const ConsoleToken = Type.String({ minLength: 1, maxLength: 512 });

const ConsoleSessionRequest = Type.Object(
  {
    code: Type.String({ minLength: 1, maxLength: 200 }),
    /** The secret of which `/auth/console` got the SHA-256 (RFC 7636). */
    code_verifier: Type.String({ minLength: 1, maxLength: 128 }),
  },
  { $id: 'ConsoleSessionRequest', additionalProperties: false },
);

export const ConsoleSession = Type.Object(
  {
    /** The console token of the session, which is stored nowhere else. It replaces an earlier one. */
    token: Type.String(),
    /** When the session ends at the latest. */
    expires_at: Timestamp,
  },
  { $id: 'ConsoleSession' },
);
export type ConsoleSession = Static<typeof ConsoleSession>;

export const openConsoleSession = defineOperation({
  ...internal,
  operationId: 'openConsoleSession',
  method: 'post',
  path: '/internal/console/sessions',
  summary: 'Exchange the code with which a browser came to the console for a token of its session.',
  body: ConsoleSessionRequest,
  responses: {
    200: { description: 'The token.', schema: ConsoleSession },
    400: {
      description: 'The code is unknown, was used or has expired, its session has ended, or the verifier is wrong.',
      schema: ErrorResponse,
      example: { detail: 'The code does not work (any more): begin again' },
    },
    422: InvalidResponse,
  },
  examples: { body: { code: '<the code>', code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' } },
});

const ConsoleTokenRequest = Type.Object(
  { token: ConsoleToken },
  { $id: 'ConsoleTokenRequest', additionalProperties: false },
);

export const ConsoleAccessToken = Type.Object(
  {
    access_token: Type.String(),
    /** Seconds. */
    expires_in: Type.Integer(),
  },
  { $id: 'ConsoleAccessToken' },
);
export type ConsoleAccessToken = Static<typeof ConsoleAccessToken>;

export const issueConsoleAccessToken = defineOperation({
  ...internal,
  operationId: 'issueConsoleAccessToken',
  method: 'post',
  path: '/internal/console/access-tokens',
  summary: 'Make an access token of the session of a console token. This counts as a use of the session.',
  body: ConsoleTokenRequest,
  responses: {
    200: { description: 'It ends with the session too.', schema: ConsoleAccessToken },
    401: { ...UnauthorizedResponse, description: 'The token is unknown, or its session has ended.' },
    422: InvalidResponse,
  },
  examples: { body: { token: 'rys_<the token>' } },
});

export const ConsoleSignOut = Type.Object(
  {
    /** A browser goes here to sign out at the identity provider too; null: it need not. */
    logout_url: Nullable(Type.String()),
  },
  { $id: 'ConsoleSignOut' },
);
export type ConsoleSignOut = Static<typeof ConsoleSignOut>;

export const endConsoleSession = defineOperation({
  ...internal,
  operationId: 'endConsoleSession',
  method: 'post',
  path: '/internal/console/sessions/end',
  summary: 'End the session of a console token, at the console and at the platform. An unknown one has ended already.',
  body: ConsoleTokenRequest,
  responses: { 200: { description: 'It has ended.', schema: ConsoleSignOut }, 422: InvalidResponse },
  examples: { body: { token: 'rys_<the token>' } },
});

export const SignInLink = Type.Object(
  {
    /** Path and query at the gateway; `return_to` may be added. */
    path: Type.String(),
    expires_at: Timestamp,
  },
  { $id: 'SignInLink' },
);
export type SignInLink = Static<typeof SignInLink>;

export const createSignInLink = defineOperation({
  ...internal,
  operationId: 'createSignInLink',
  method: 'post',
  path: '/internal/sign-in-links',
  summary: 'Make a link that signs one browser in as an administrator of the default organization, once.',
  body: Type.Object({}, { $id: 'SignInLinkRequest' }),
  bodyOptional: true,
  responses: {
    200: { description: 'The link.', schema: SignInLink },
    404: {
      description: 'There is no default organization yet.',
      schema: ErrorResponse,
      example: { detail: 'There is no default organization yet' },
    },
    422: InvalidResponse,
  },
  examples: { body: {} },
});

export const consoleOperations = [
  openConsoleSession,
  issueConsoleAccessToken,
  endConsoleSession,
  createSignInLink,
] as const;

import Type, { type Static } from 'typebox';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

const PATH = '/api/v1/sessions';

export const SessionInfo = Type.Object(
  {
    id: Uuid,
    /** True for the session that the request came with. */
    is_current: Type.Boolean(),
    created_at: Timestamp,
    /** The last request, accurate to about a minute. */
    last_seen_at: Timestamp,
    /** The end of the session when it is not used again. */
    expires_at: Timestamp,
    /** The address and the browser that signed in, as far as they are known. */
    address: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
    /** The organization in which requests act that name none; null: the only one, or none. */
    organization_id: Nullable(Uuid),
    /** True when single sign-on opened it: it acts in `organization_id` alone. */
    is_sso: Type.Boolean(),
  },
  { $id: 'SessionInfo' },
);
export type SessionInfo = Static<typeof SessionInfo>;

/** The person who signed in. */
export const SignedInPerson = Type.Object(
  {
    /** The login of the session; the person where it has none. */
    user_id: Uuid,
    ls_user_id: Uuid,
    email: Type.String(),
    full_name: Nullable(Type.String()),
    avatar_url: Nullable(Type.String()),
    /** The member as which the request acts, and where; null when the person acts in no organization. */
    identity_id: Nullable(Uuid),
    organization_id: Nullable(Uuid),
    tenant_id: Nullable(Uuid),
    session_id: Uuid,
    is_sso: Type.Boolean(),
  },
  { $id: 'SignedInPerson' },
);
export type SignedInPerson = Static<typeof SignedInPerson>;

export const AccessTokenAnswer = Type.Object(
  {
    access_token: Type.String({ description: 'Goes into `Authorization: Bearer`.' }),
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Seconds.' }),
  },
  { $id: 'AccessTokenAnswer' },
);
export type AccessTokenAnswer = Static<typeof AccessTokenAnswer>;

const exampleSession: SessionInfo = {
  id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f2c10',
  is_current: true,
  created_at: '2026-12-05T10:00:00.000Z',
  last_seen_at: '2026-12-05T10:30:00.000Z',
  expires_at: '2026-12-05T18:30:00.000Z',
  address: '203.0.113.7',
  user_agent: 'Mozilla/5.0',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  is_sso: false,
};
const tags = ['sessions'];
const person = { tags, access: 'principal', permission: 'signed-in person' } as const;
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse };
const setsCookie = { 'Set-Cookie': "The session's cookie with its new token." };
const clearsCookie = { 'Set-Cookie': "Makes the browser forget the session's cookie, where that was ended." };
const session: OperationResponse = { description: 'The session.', schema: SessionInfo, example: exampleSession };

const listSessions = defineOperation({
  ...person,
  operationId: 'listSessions',
  method: 'get',
  path: PATH,
  summary: "The person's sessions, the one used last first.",
  responses: {
    200: { description: 'The sessions.', schema: Type.Array(SessionInfo), example: [exampleSession] },
    ...refusals,
  },
});

const endSession = defineOperation({
  ...person,
  operationId: 'endSession',
  method: 'delete',
  path: `${PATH}/{session_id}`,
  summary: 'Sign one of the sessions out.',
  params: Type.Object({ session_id: Uuid }),
  responses: {
    204: { description: 'It has ended.', headers: clearsCookie },
    404: { ...NotFoundResponse, example: { detail: 'Session not found' } },
    422: InvalidResponse,
    ...refusals,
  },
});

const endSessions = defineOperation({
  ...person,
  operationId: 'endSessions',
  method: 'delete',
  path: PATH,
  summary: 'Sign out everywhere else, or everywhere.',
  query: Type.Object({
    include_current: Type.Optional(Type.Boolean({ description: 'True: this session too. Default false.' })),
  }),
  responses: {
    200: {
      description: 'How many have ended.',
      schema: Type.Object({ ended: Type.Integer() }, { $id: 'EndedSessions' }),
      example: { ended: 2 },
      headers: clearsCookie,
    },
    422: InvalidResponse,
    ...refusals,
  },
});

const signOut = defineOperation({
  ...person,
  operationId: 'signOut',
  method: 'delete',
  path: `${PATH}/current`,
  summary: 'Sign this session out.',
  responses: { 204: { description: 'It has ended.', headers: clearsCookie }, ...refusals },
});

export const signOutAtProvider = defineOperation({
  ...person,
  operationId: 'signOutAtProvider',
  method: 'post',
  path: `${PATH}/current/logout`,
  summary: 'Sign this session out, and say where the browser signs out at the identity provider.',
  responses: {
    200: {
      description: 'It has ended.',
      schema: Type.Object(
        {
          logout_url: Nullable(
            Type.String({ description: 'A browser goes here to sign out at the provider; null: it need not.' }),
          ),
        },
        { $id: 'LogoutAnswer' },
      ),
      example: { logout_url: 'https://id.example.com/logout?client_id=runyard' },
      headers: clearsCookie,
    },
    ...refusals,
  },
});

const refreshSession = defineOperation({
  ...person,
  operationId: 'refreshSession',
  method: 'post',
  path: `${PATH}/current/refresh`,
  summary: "Replace the token in the session's cookie. Takes the cookie alone, no access token.",
  responses: { 200: { ...session, headers: setsCookie }, ...refusals },
});

const issueAccessToken = defineOperation({
  ...person,
  operationId: 'issueAccessToken',
  method: 'post',
  path: `${PATH}/current/access-token`,
  summary: 'Make an access token, with which a program acts as this session. Takes the cookie alone.',
  responses: {
    200: {
      description: 'It ends with the session too.',
      schema: AccessTokenAnswer,
      example: { access_token: '<token>', token_type: 'bearer', expires_in: 900 },
    },
    ...refusals,
  },
});

const chooseOrganization = defineOperation({
  ...person,
  operationId: 'chooseOrganization',
  method: 'put',
  path: `${PATH}/current/organization`,
  summary: 'Choose the organization of requests of this session that name none.',
  body: Type.Object({ organization_id: Uuid }, { $id: 'OrganizationChoice', additionalProperties: false }),
  responses: { 200: session, 422: InvalidResponse, ...refusals },
  examples: { body: { organization_id: exampleSession.organization_id! } },
});

const whoAmI = defineOperation({
  ...person,
  operationId: 'whoAmI',
  method: 'get',
  path: '/auth/public',
  summary: 'Who is signed in, and where the request acts.',
  responses: {
    200: {
      description: 'The person.',
      schema: SignedInPerson,
      example: {
        user_id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f2c11',
        ls_user_id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f2c12',
        email: 'ada@example.com',
        full_name: 'Ada Lovelace',
        avatar_url: null,
        identity_id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f2c13',
        organization_id: exampleSession.organization_id!,
        tenant_id: null,
        session_id: exampleSession.id,
        is_sso: false,
      },
    },
    ...refusals,
  },
});

export const sessionOperations = {
  listSessions,
  endSession,
  endSessions,
  signOut,
  signOutAtProvider,
  refreshSession,
  issueAccessToken,
  chooseOrganization,
  whoAmI,
};

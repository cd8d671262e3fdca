import Type from 'typebox';
import { defineOperation, type Operation, type OperationResponse } from '../../operation.ts';
import { ErrorResponse, Uuid } from '../common.ts';
import { InvalidResponse } from './responses.ts';

/** Bytes of a form from an identity provider: base64 has characters that a form writes as three. */
const FORM_LIMIT_BYTES = 300_000;

const ReturnTo = Type.Object({
  return_to: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'A path of this site to go on to; anything else counts as `/`.' }),
  ),
});
const page = (description: string): OperationResponse => ({
  description,
  contentType: 'text/html',
  schema: Type.String(),
});
const redirected = (description: string): OperationResponse => ({ description, headers: { Location: description } });
const refused = {
  403: page('The sign-in failed; the page says why.'),
  404: page('There is no such provider.'),
  503: page('The identity provider does not answer.'),
};
const state = Type.Optional(Type.String({ maxLength: 2_000 }));

export const chooseSsoProvider = defineOperation({
  operationId: 'chooseSsoProvider',
  method: 'get',
  path: '/auth/v1/sso/login/{sso_login_slug}',
  summary: 'Sign in at the identity provider of an organization; of several, the person chooses one.',
  tags: ['sso'],
  access: 'public',
  params: Type.Object({ sso_login_slug: Type.String({ minLength: 1, maxLength: 200 }) }),
  query: ReturnTo,
  responses: {
    200: page('The providers.'),
    303: redirected('To the only provider.'),
    404: refused[404],
    422: InvalidResponse,
  },
});

export const beginSsoSignIn = defineOperation({
  operationId: 'beginSsoSignIn',
  method: 'get',
  path: '/auth/v1/sso/start/{sso_provider_id}',
  summary: 'Send a browser to an identity provider.',
  tags: ['sso'],
  access: 'public',
  params: Type.Object({ sso_provider_id: Uuid }),
  query: ReturnTo,
  responses: { 303: redirected('To the identity provider.'), ...refused, 422: InvalidResponse },
});

export const finishOidcSignIn = defineOperation({
  operationId: 'finishOidcSignIn',
  method: 'get',
  path: '/api/v1/oauth/custom-oidc/callback',
  summary: 'Where the OIDC providers of the variables and of earlier releases send a browser back to.',
  tags: ['sso'],
  access: 'public',
  query: Type.Object({ code: state, state, error: state }),
  responses: { 303: redirected('To where the person wanted to go.'), ...refused, 422: InvalidResponse },
});

export const finishOidcSignInOfProvider = defineOperation({
  operationId: 'finishOidcSignInOfProvider',
  method: 'get',
  path: '/api/v1/oauth/custom-oidc/callback/{sso_provider_id}',
  summary: 'Where an OIDC provider with an address of its own sends a browser back to.',
  tags: ['sso'],
  access: 'public',
  params: Type.Object({ sso_provider_id: Uuid }),
  query: Type.Object({ code: state, state, error: state }),
  responses: { 303: redirected('To where the person wanted to go.'), ...refused, 422: InvalidResponse },
});

export const endSsoSessionsByProvider = defineOperation({
  operationId: 'endSsoSessionsByProvider',
  method: 'post',
  path: '/api/v1/oauth/custom-oidc/backchannel-logout',
  summary: 'Where an OIDC provider tells that somebody signed out there.',
  tags: ['sso'],
  access: 'public',
  bodyType: 'application/x-www-form-urlencoded',
  bodyLimitBytes: FORM_LIMIT_BYTES,
  body: Type.Object(
    { logout_token: Type.String({ minLength: 1, maxLength: 100_000 }) },
    { $id: 'BackchannelLogoutForm' },
  ),
  responses: { 200: { description: 'The sessions have ended.' }, 422: InvalidResponse },
  examples: { body: { logout_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImxvZ291dCtqd3QifQ.e30.c2lnbmF0dXJl' } },
});

export const getSamlMetadata = defineOperation({
  operationId: 'getSamlMetadata',
  method: 'get',
  path: '/auth/v1/sso/saml/metadata',
  summary: 'The metadata of this SAML service provider.',
  tags: ['sso'],
  access: 'public',
  responses: {
    200: { description: 'An EntityDescriptor.', contentType: 'application/samlmetadata+xml', schema: Type.String() },
  },
});

export const receiveSamlResponse = defineOperation({
  operationId: 'receiveSamlResponse',
  method: 'post',
  path: '/auth/v1/sso/saml/acs',
  summary: 'Where a SAML provider sends a browser back to.',
  tags: ['sso'],
  access: 'public',
  bodyType: 'application/x-www-form-urlencoded',
  bodyLimitBytes: FORM_LIMIT_BYTES,
  body: Type.Object(
    {
      SAMLResponse: Type.String({ minLength: 1, maxLength: 200_000 }),
      RelayState: Type.Optional(Type.String({ maxLength: 2_000 })),
    },
    { $id: 'SamlResponseForm' },
  ),
  responses: {
    303: redirected('To the end of the sign-in, or to where the person wanted to go.'),
    403: refused[403],
    422: InvalidResponse,
  },
  examples: { body: { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNlPjwvc2FtbHA6UmVzcG9uc2U+' } },
});

export const completeSamlSignIn = defineOperation({
  operationId: 'completeSamlSignIn',
  method: 'get',
  path: '/auth/v1/sso/saml/complete',
  summary: 'The end of a SAML sign-in, in the browser that began it.',
  tags: ['sso'],
  access: 'public',
  query: Type.Object({ state: Type.String({ minLength: 1, maxLength: 200 }) }),
  responses: {
    303: redirected('To where the person wanted to go.'),
    403: refused[403],
    422: InvalidResponse,
  },
});

export const endSsoSession = defineOperation({
  operationId: 'endSsoSession',
  method: 'post',
  path: '/auth/v1/sso/logout',
  summary: 'Sign out here and, where the provider is set so, at the identity provider.',
  tags: ['sso'],
  access: 'public',
  bodyType: 'application/x-www-form-urlencoded',
  bodyLimitBytes: 16_384,
  body: Type.Object({ csrf_token: Type.String({ minLength: 1, maxLength: 200 }) }, { $id: 'SsoLogoutForm' }),
  responses: {
    303: redirected('To the identity provider, or to the page for sign-in.'),
    403: { description: 'The form is not from this session.', schema: ErrorResponse },
    422: InvalidResponse,
  },
  examples: { body: { csrf_token: 'the token of the form' } },
});

/** The operations of a sign-in by an identity provider, and of its end. */
export const ssoSignInOperations: readonly Operation[] = [
  chooseSsoProvider,
  beginSsoSignIn,
  finishOidcSignIn,
  finishOidcSignInOfProvider,
  endSsoSessionsByProvider,
  getSamlMetadata,
  receiveSamlResponse,
  completeSamlSignIn,
  endSsoSession,
];

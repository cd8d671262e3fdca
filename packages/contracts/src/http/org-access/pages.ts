import Type from 'typebox';
import { defineOperation, type Operation } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';
import { AUTHORIZATION_PAGE_PATH, DEVICE_PAGE_PATH } from './oauth.ts';
import {
  Code,
  Credential,
  Csrf,
  Email,
  formOf,
  htmlPage,
  NoQuery,
  Password,
  pageOf,
  ReturnTo,
  Text,
  Token,
} from './page-operations.ts';
import { passkeyPages } from './passkey-pages.ts';
import { UnauthorizedResponse } from './responses.ts';

/** The page where people sign in. */
const SIGN_IN_PATH = '/login';
/** Pages about an account, and the ends of links in emails, are below it. */
const ACCOUNT_PAGES_PATH = '/auth';

/** Returns the path of the page on which the first administrator makes an account. */
export function setupPath(token: string): string {
  return `${ACCOUNT_PAGES_PATH}/setup?token=${encodeURIComponent(token)}`;
}

/** Returns the path of a link that signs a browser in, once. */
export function signInLinkPath(token: string): string {
  return `${ACCOUNT_PAGES_PATH}/link?token=${encodeURIComponent(token)}`;
}

const TokenQuery = Type.Object({ token: Token });

export const signInPages = {
  show: pageOf({
    operationId: 'showSignIn',
    path: SIGN_IN_PATH,
    summary: 'Ask who wants to sign in.',
    query: Type.Object({ return_to: ReturnTo, email: Email }),
  }),
  begin: formOf({
    operationId: 'beginSignIn',
    path: SIGN_IN_PATH,
    summary: 'Ask for the password of an address, or go to its identity provider.',
    body: Type.Object({ email: Email, return_to: ReturnTo, method: Text(20) }),
  }),
  showOrganizationSignIn: {
    ...pageOf({
      operationId: 'showOrganizationSignIn',
      path: `${SIGN_IN_PATH}/{sso_login_slug}`,
      summary: 'Go to the identity provider of an organization.',
      query: Type.Object({ return_to: ReturnTo }),
    }),
    params: Type.Object({ sso_login_slug: Type.String({ minLength: 1, maxLength: 200 }) }),
  },
  password: formOf({
    operationId: 'signInByPassword',
    path: '/auth/password',
    summary: 'Sign in with email and password.',
    body: Type.Object({ email: Email, password: Password, return_to: ReturnTo }),
  }),
  showSecondFactor: pageOf({
    operationId: 'showSecondFactor',
    path: '/auth/second-factor',
    summary: 'Ask for the code of the second factor, or for a passkey.',
    query: Type.Object({ return_to: ReturnTo }),
  }),
  secondFactor: formOf({
    operationId: 'confirmSecondFactor',
    path: '/auth/second-factor',
    summary: 'Sign in with the code of the second factor, or with a passkey after the password.',
    body: Type.Object({ code: Code, credential: Credential, return_to: ReturnTo }),
  }),
  signOut: formOf({
    operationId: 'signOutByForm',
    path: '/auth/sign-out',
    summary: 'End the session of this browser.',
    body: Type.Object({ csrf: Csrf }),
  }),
  showOrganizations: pageOf({
    operationId: 'showOrganizations',
    path: '/auth/organizations',
    summary: 'Ask in which organization the session acts.',
    query: Type.Object({ return_to: ReturnTo }),
  }),
  chooseOrganization: formOf({
    operationId: 'chooseOrganizationByForm',
    path: '/auth/organizations',
    summary: 'Choose the organization in which the session acts.',
    body: Type.Object({ csrf: Csrf, organization_id: Text(36), return_to: ReturnTo }),
  }),
} as const;

export const linkPages = {
  showSetup: pageOf({
    operationId: 'showSetup',
    path: '/auth/setup',
    summary: 'Ask for the account of the first administrator.',
    query: TokenQuery,
  }),
  setUp: formOf({
    operationId: 'setUp',
    path: '/auth/setup',
    summary: 'Make the account of the first administrator.',
    body: Type.Object({ token: Token, email: Email, full_name: Text(200), password: Password }),
  }),
  showInvite: pageOf({
    operationId: 'showInvite',
    path: '/login/invite',
    summary: 'Show an invite by its link.',
    query: TokenQuery,
  }),
  answerInvite: formOf({
    operationId: 'answerInvite',
    path: '/login/invite',
    summary: 'Accept or decline an invite.',
    body: Type.Object({ token: Token, answer: Text(20), csrf: Csrf, full_name: Text(200), password: Password }),
  }),
  showReset: pageOf({
    operationId: 'showReset',
    path: '/auth/reset',
    summary: 'Ask whose password is forgotten.',
    query: NoQuery,
  }),
  requestReset: formOf({
    operationId: 'requestReset',
    path: '/auth/reset',
    summary: 'Send a link for a new password, where there is such an account.',
    body: Type.Object({ email: Email }),
  }),
  showNewPassword: pageOf({
    operationId: 'showNewPassword',
    path: '/auth/new-password',
    summary: 'Ask for a new password, by a link.',
    query: TokenQuery,
  }),
  setNewPassword: formOf({
    operationId: 'setNewPassword',
    path: '/auth/new-password',
    summary: 'Set a new password, by a link.',
    body: Type.Object({ token: Token, password: Password }),
  }),
  showVerification: pageOf({
    operationId: 'showVerification',
    path: '/auth/verify',
    summary: 'Ask to confirm an address, by a link.',
    query: TokenQuery,
  }),
  verify: formOf({
    operationId: 'verifyAddress',
    path: '/auth/verify',
    summary: 'Confirm an address, by a link, and set the password of an account that somebody else may have made.',
    body: Type.Object({ token: Token, password: Password }),
  }),
  followSignInLink: pageOf({
    operationId: 'followSignInLink',
    path: '/auth/link',
    summary: 'Sign a browser in by a link of the operator, which works once.',
    query: Type.Object({ token: Token, return_to: ReturnTo }),
  }),
} as const;

export const accountPages = {
  show: pageOf({
    operationId: 'showAccount',
    path: '/auth/account',
    summary: 'Show the account of the person who signed in.',
    query: NoQuery,
  }),
  changePassword: formOf({
    operationId: 'changePassword',
    path: '/auth/account/password',
    summary: 'Change the password, which ends all other sessions.',
    body: Type.Object({ csrf: Csrf, current_password: Password, password: Password }),
  }),
  endSession: formOf({
    operationId: 'endSessionByForm',
    path: '/auth/account/sessions',
    summary: 'End one other session, or all of them.',
    body: Type.Object({ csrf: Csrf, session_id: Text(36) }),
  }),
  requestVerification: formOf({
    operationId: 'requestVerification',
    path: '/auth/account/verification',
    summary: 'Send a link that confirms the address.',
    body: Type.Object({ csrf: Csrf }),
  }),
  showAuthenticator: pageOf({
    operationId: 'showAuthenticator',
    path: '/auth/account/authenticator',
    summary: 'Show the key for an authenticator app, and ask for its first code.',
    query: NoQuery,
  }),
  beginAuthenticator: formOf({
    operationId: 'beginAuthenticator',
    path: '/auth/account/authenticator',
    summary: 'Begin the set-up of an authenticator app.',
    body: Type.Object({ csrf: Csrf, current_password: Password }),
  }),
  confirmAuthenticator: formOf({
    operationId: 'confirmAuthenticator',
    path: '/auth/account/authenticator/confirm',
    summary: 'End the set-up of an authenticator app, and show recovery codes.',
    body: Type.Object({ csrf: Csrf, code: Code }),
  }),
  removeAuthenticator: formOf({
    operationId: 'removeAuthenticator',
    path: '/auth/account/authenticator/remove',
    summary: 'Remove the authenticator app.',
    body: Type.Object({ csrf: Csrf, current_password: Password }),
  }),
} as const;

/** Pages on which people let programs act for them. */
export const devicePages = {
  show: pageOf({
    operationId: 'showDevice',
    path: DEVICE_PAGE_PATH,
    summary: 'Ask for the code that a program shows.',
    query: Type.Object({ user_code: Code }),
  }),
  answer: formOf({
    operationId: 'answerDevice',
    path: DEVICE_PAGE_PATH,
    summary: 'Show who asks, or let the program act for the person, or refuse it.',
    body: Type.Object({ csrf: Csrf, user_code: Code, answer: Text(20) }),
  }),
} as const;

/** Parameters of an authorization request (RFC 6749, 7636 and 8707). What is missing is said on the page. */
const AuthorizationQuery = Type.Object({
  response_type: Text(100),
  client_id: Text(2000),
  redirect_uri: Text(2000),
  state: Text(2000),
  scope: Text(2000),
  code_challenge: Text(200),
  code_challenge_method: Text(100),
  resource: Text(2000),
});

/** Pages on which people let MCP clients use a deployment. */
export const authorizationPages = {
  show: pageOf({
    operationId: 'showAuthorization',
    path: AUTHORIZATION_PAGE_PATH,
    summary: 'Ask whether an MCP client may use a deployment for the person.',
    query: AuthorizationQuery,
  }),
  answer: formOf({
    operationId: 'answerAuthorization',
    path: AUTHORIZATION_PAGE_PATH,
    summary: 'Let the client use the deployment, or refuse it, and go back to it.',
    body: Type.Object({ csrf: Csrf, request: Text(4000), answer: Text(20) }),
  }),
} as const;

const openConsole = pageOf({
  operationId: 'openConsole',
  path: '/auth/console',
  summary: 'Lead the browser of a signed-in person to the console, with a code for its backend.',
  query: Type.Object({ code_challenge: Text(200), state: Text(200) }),
});

/** The way of a signed-in person to the console. */
export const consolePages = {
  open: { ...openConsole, responses: { ...openConsole.responses, 404: htmlPage('The platform has no console.') } },
} as const;

const BasicLoginAnswer = Type.Object({ access_token: Type.String() }, { $id: 'BasicLoginAnswer' });

/** Signs a program in as a person. */
export const signInByBasicAuth = defineOperation({
  operationId: 'signInByBasicAuth',
  method: 'post',
  path: '/api/v1/login',
  summary: 'Sign in with email and password, for an access token.',
  tags: ['sessions'],
  access: 'public',
  headers: {
    authorization: '`Basic`, with email and password.',
    'x-second-factor': 'Code of the authenticator app, or a recovery code, where the account has them.',
  },
  responses: {
    200: { description: 'The access token of a new session.', schema: BasicLoginAnswer },
    401: { ...UnauthorizedResponse, description: 'The email address, the password or the code is wrong.' },
    403: {
      description: 'The account is disabled, or needs the code of its second factor.',
      schema: ErrorResponse,
      example: { detail: 'The account needs the code of its second factor' },
    },
    429: { description: 'There were too many attempts.', schema: ErrorResponse },
  },
});

export const pageOperations: readonly Operation[] = [
  ...[signInPages, linkPages, accountPages, devicePages, authorizationPages, consolePages, passkeyPages].flatMap(
    (group) => Object.values(group) as unknown as Operation[],
  ),
  signInByBasicAuth,
];

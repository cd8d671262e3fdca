import Type, { type Static, type TObject } from 'typebox';
import { defineOperation, type Operation, type OperationResponse } from '../../operation.ts';
import { ErrorResponse, ValidationErrorResponse } from '../common.ts';
import { DEVICE_PAGE_PATH } from './oauth.ts';
import { UnauthorizedResponse } from './responses.ts';

/** The page where people sign in. */
export const SIGN_IN_PATH = '/login';
/** Pages about an account, and the ends of links in emails, are below it. */
export const ACCOUNT_PAGES_PATH = '/auth';

/** Returns the path of the page on which the first administrator makes an account. */
export function setupPath(token: string): string {
  return `${ACCOUNT_PAGES_PATH}/setup?token=${encodeURIComponent(token)}`;
}

const Html = Type.String({ description: 'A page.' });
const htmlPage = (description: string): OperationResponse => ({ description, contentType: 'text/html', schema: Html });

const RESPONSES: Record<number, OperationResponse> = {
  200: htmlPage('The page.'),
  303: { description: 'The browser goes on elsewhere.', headers: { Location: 'A path of this host.' } },
  400: htmlPage('The link does not work any more.'),
  401: htmlPage('The page again, with what was wrong.'),
  403: htmlPage('The person may not do this, or the form is not from this page.'),
  409: htmlPage('The page again: there is something of the kind already.'),
  422: {
    ...htmlPage('A field is missing or refused.'),
    otherContentTypes: { 'application/json': ValidationErrorResponse },
  },
  429: htmlPage('There were too many attempts.'),
};

/** Fields of forms. What is missing is said on the page. */
const Text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const Token = Text(200);
const ReturnTo = Text(2048);
const Email = Text(320);
const Password = Text(1024);
const Code = Text(64);
/** Proves that the form is from a page of the session. */
const Csrf = Text(200);

/** A page of its own, as a browser shows it: HTML without a script. */
function pageOf<const Query extends TObject>(page: {
  operationId: string;
  path: string;
  summary: string;
  query: Query;
}): Operation<TObject, Query, TObject> {
  return defineOperation<TObject, Query, TObject>({
    ...page,
    method: 'get',
    tags: ['sign-in pages'],
    access: 'public',
    responses: RESPONSES,
  });
}

/** The end of a form of such a page. */
function formOf<const Body extends TObject>(form: {
  operationId: string;
  path: string;
  summary: string;
  body: Body;
}): Operation<TObject, TObject, Body> {
  return defineOperation<TObject, TObject, Body>({
    ...form,
    method: 'post',
    tags: ['sign-in pages'],
    access: 'public',
    bodyType: 'application/x-www-form-urlencoded',
    bodyLimitBytes: 65_536,
    responses: RESPONSES,
    examples: { body: exampleOf(form.body) },
  });
}

/** Example values of fields, by their names. */
const EXAMPLES: Record<string, string> = {
  email: 'ada@example.com',
  full_name: 'Ada Lovelace',
  password: 'seven grey herons asleep',
  current_password: 'a lighthouse keeps no diary',
  code: '123456',
  user_code: 'BCDF-GHJK',
  return_to: '/auth/account',
  answer: 'accept',
  method: 'password',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  session_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a002',
};

/** A secret of a link or of a session has no example value that could be one. */
const SECRET_EXAMPLE = 'from the page';

function exampleOf<Body extends TObject>(body: Body): Static<Body> {
  const values = Object.keys(body.properties).map((name) => [name, EXAMPLES[name] ?? SECRET_EXAMPLE]);
  return Object.fromEntries(values) as Static<Body>;
}

const NoQuery = Type.Object({});
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
    summary: 'Ask for the code of the second factor.',
    query: Type.Object({ return_to: ReturnTo }),
  }),
  secondFactor: formOf({
    operationId: 'confirmSecondFactor',
    path: '/auth/second-factor',
    summary: 'Sign in with the code of the second factor.',
    body: Type.Object({ code: Code, return_to: ReturnTo }),
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
    summary: 'Confirm an address, by a link.',
    body: Type.Object({ token: Token }),
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
    body: Type.Object({ csrf: Csrf }),
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

export const BasicLoginAnswer = Type.Object({ access_token: Type.String() }, { $id: 'BasicLoginAnswer' });

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
  ...[signInPages, linkPages, accountPages, devicePages].flatMap(
    (group) => Object.values(group) as unknown as Operation[],
  ),
  signInByBasicAuth,
];

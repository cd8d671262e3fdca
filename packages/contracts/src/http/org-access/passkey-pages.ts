import Type from 'typebox';
import { Credential, Csrf, formOf, NoQuery, Password, pageOf, ReturnTo, Text } from './page-operations.ts';

const PasskeyId = Text(36);
const Name = Text(100);

export const passkeyPages = {
  showSignIn: pageOf({
    operationId: 'showPasskeySignIn',
    path: '/auth/passkey',
    summary: 'Ask for a passkey.',
    query: Type.Object({ return_to: ReturnTo }),
  }),
  signIn: formOf({
    operationId: 'signInByPasskey',
    path: '/auth/passkey',
    summary: 'Sign in with a passkey alone.',
    body: Type.Object({ credential: Credential, return_to: ReturnTo }),
  }),
  show: pageOf({
    operationId: 'showPasskeys',
    path: '/auth/account/passkeys',
    summary: 'Show the passkeys of the person who signed in.',
    query: NoQuery,
  }),
  begin: formOf({
    operationId: 'beginPasskeyByForm',
    path: '/auth/account/passkeys',
    summary: 'Begin to add a passkey.',
    body: Type.Object({ csrf: Csrf, current_password: Password }),
  }),
  add: formOf({
    operationId: 'addPasskeyByForm',
    path: '/auth/account/passkeys/add',
    summary: 'Add the passkey that the browser made, and show recovery codes.',
    body: Type.Object({ csrf: Csrf, name: Name, credential: Credential }),
  }),
  rename: formOf({
    operationId: 'renamePasskeyByForm',
    path: '/auth/account/passkeys/rename',
    summary: 'Give a passkey another name.',
    body: Type.Object({ csrf: Csrf, passkey_id: PasskeyId, name: Name }),
  }),
  remove: formOf({
    operationId: 'removePasskeyByForm',
    path: '/auth/account/passkeys/remove',
    summary: 'Remove a passkey.',
    body: Type.Object({ csrf: Csrf, passkey_id: PasskeyId, current_password: Password }),
  }),
} as const;

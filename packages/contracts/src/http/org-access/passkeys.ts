import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Nullable, Timestamp, Uuid } from '../common.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

const PATH = '/api/v1/passkeys';
export const PASSKEY_SCRIPT_PATH = '/auth/passkeys.js';

/** Binary data of WebAuthn in its JSON forms. */
const Base64Url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength });
/** Ids of credentials have at most 1,023 bytes. */
const CredentialId = Base64Url(1_364);
const Transports = Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 });
const KeyType = Type.Literal('public-key');

export const Passkey = Type.Object(
  {
    id: Uuid,
    /** The name that its owner gave it. */
    name: Type.String(),
    created_at: Timestamp,
    /** The last sign-in with it. */
    last_used_at: Nullable(Timestamp),
  },
  { $id: 'Passkey' },
);
export type Passkey = Static<typeof Passkey>;

const PasskeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\S\\u0000-\\u001f]*[^\\s\\u0000-\\u001f][^\\u0000-\\u001f]*$',
});
const CurrentPassword = Type.String({ maxLength: 1_024, description: 'The password of the account is asked again.' });

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn: what `navigator.credentials.create` is called with. */
export const PasskeyOptions = Type.Object(
  {
    challenge: Base64Url(100),
    rp: Type.Object({ id: Type.String(), name: Type.String() }),
    user: Type.Object({ id: Base64Url(100), name: Type.String(), displayName: Type.String() }),
    pubKeyCredParams: Type.Array(Type.Object({ alg: Type.Integer(), type: KeyType })),
    timeout: Type.Integer({ description: 'Milliseconds.' }),
    attestation: Type.Literal('none'),
    authenticatorSelection: Type.Object({
      residentKey: Type.Literal('preferred'),
      requireResidentKey: Type.Literal(false),
      userVerification: Type.Literal('preferred'),
    }),
    /** The passkeys that the person has: an authenticator with one of them makes no other. */
    excludeCredentials: Type.Array(
      Type.Object({ id: CredentialId, type: KeyType, transports: Type.Optional(Transports) }),
    ),
  },
  { $id: 'PasskeyOptions' },
);
export type PasskeyOptions = Static<typeof PasskeyOptions>;

/** `RegistrationResponseJSON` of WebAuthn: what a browser made. Fields that browsers add to it are allowed. */
export const PasskeyRegistration = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: KeyType,
    response: Type.Object({
      clientDataJSON: Base64Url(8_192),
      attestationObject: Base64Url(32_768),
      transports: Type.Optional(Transports),
    }),
  },
  { $id: 'PasskeyRegistration' },
);
export type PasskeyRegistration = Static<typeof PasskeyRegistration>;

/** `AuthenticationResponseJSON` of WebAuthn: the proof that somebody has a passkey. */
export const PasskeyAssertion = Type.Object({
  id: CredentialId,
  rawId: CredentialId,
  type: KeyType,
  response: Type.Object({
    clientDataJSON: Base64Url(8_192),
    authenticatorData: Base64Url(8_192),
    signature: Base64Url(8_192),
    userHandle: Type.Optional(Nullable(Base64Url(100))),
  }),
});
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;

export const AddedPasskey = Type.Object(
  {
    passkey: Passkey,
    recovery_codes: Nullable(
      Type.Array(Type.String(), {
        description: 'Each signs in once instead of the second factor. Made with the first one, and never shown again.',
      }),
    ),
  },
  { $id: 'AddedPasskey' },
);
export type AddedPasskey = Static<typeof AddedPasskey>;

const example: Passkey = {
  id: '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f2c20',
  name: 'Laptop',
  created_at: '2026-12-05T10:00:00.000Z',
  last_used_at: null,
};
const exampleOptions: PasskeyOptions = {
  challenge: 'b25lIHRpbWUgb25seSwgdGhpcnR5LXR3byBieXRlcyE',
  rp: { id: 'runyard.example.com', name: 'Runyard' },
  user: { id: 'Cmw_Pi9XT2SaDx87fw8sEg', name: 'ada@example.com', displayName: 'Ada Lovelace' },
  pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
  timeout: 300_000,
  attestation: 'none',
  authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'preferred' },
  excludeCredentials: [],
};
const tags = ['passkeys'];
const person = { tags, access: 'principal', permission: 'signed-in person' } as const;
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse };
const passwordRefusals = {
  ...refusals,
  401: { ...UnauthorizedResponse, description: 'No valid credential, or the password is wrong.' },
  429: { description: 'There were too many attempts.', schema: ErrorResponse },
};
const notFound = { ...NotFoundResponse, example: { detail: 'Passkey not found' } };
const params = Type.Object({ passkey_id: Uuid });

const listPasskeys = defineOperation({
  ...person,
  operationId: 'listPasskeys',
  method: 'get',
  path: PATH,
  summary: "The person's passkeys, the oldest first.",
  responses: {
    200: { description: 'The passkeys.', schema: Type.Array(Passkey), example: [example] },
    ...refusals,
  },
});

const beginPasskey = defineOperation({
  ...person,
  operationId: 'beginPasskey',
  method: 'post',
  path: `${PATH}/options`,
  summary: 'Begin to add a passkey: the options for the browser, with a challenge that works once, for ten minutes.',
  body: Type.Object({ current_password: CurrentPassword }, { $id: 'PasskeyBeginning', additionalProperties: false }),
  responses: {
    200: { description: 'The options.', schema: PasskeyOptions, example: exampleOptions },
    409: conflictResponse('The account has no password'),
    422: InvalidResponse,
    ...passwordRefusals,
  },
  examples: { body: { current_password: 'from the person' } },
});

const addPasskey = defineOperation({
  ...person,
  operationId: 'addPasskey',
  method: 'post',
  path: PATH,
  summary: 'Add the passkey that a browser made with the options, which ends all other sessions.',
  body: Type.Object(
    { name: PasskeyName, credential: PasskeyRegistration },
    { $id: 'PasskeyAddition', additionalProperties: false },
  ),
  responses: {
    201: {
      description: 'The passkey.',
      schema: AddedPasskey,
      example: { passkey: example, recovery_codes: ['abcd-efgh-jkmn-pqrs'] },
    },
    400: {
      description: 'The challenge has expired or was used, or the passkey is none that the browser made with it.',
      schema: ErrorResponse,
      example: { detail: 'The challenge has expired, or was used: begin again' },
    },
    409: conflictResponse('This passkey is registered already'),
    422: InvalidResponse,
    ...refusals,
  },
  examples: {
    body: {
      name: example.name,
      credential: {
        id: 'AQIDBA',
        rawId: 'AQIDBA',
        type: 'public-key',
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
          attestationObject: 'o2NmbXRkbm9uZQ',
          transports: ['internal'],
        },
      },
    },
  },
});

const renamePasskey = defineOperation({
  ...person,
  operationId: 'renamePasskey',
  method: 'patch',
  path: `${PATH}/{passkey_id}`,
  summary: 'Give a passkey another name.',
  params,
  body: Type.Object({ name: PasskeyName }, { $id: 'PasskeyChange', additionalProperties: false }),
  responses: {
    200: { description: 'The passkey.', schema: Passkey, example },
    404: notFound,
    422: InvalidResponse,
    ...refusals,
  },
  examples: { body: { name: 'Old laptop' } },
});

const removePasskey = defineOperation({
  ...person,
  operationId: 'removePasskey',
  method: 'delete',
  path: `${PATH}/{passkey_id}`,
  summary: 'Remove a passkey, which ends all other sessions.',
  params,
  body: Type.Object({ current_password: CurrentPassword }, { $id: 'PasskeyRemoval', additionalProperties: false }),
  responses: {
    204: { description: 'It signs nobody in any more.' },
    404: notFound,
    422: InvalidResponse,
    ...passwordRefusals,
  },
  examples: { body: { current_password: 'from the person' } },
});

/** The only script of the sign-in pages: it hands what the browser's authenticator answers to a form. */
const getPasskeyScript = defineOperation({
  operationId: 'getPasskeyScript',
  method: 'get',
  path: PASSKEY_SCRIPT_PATH,
  summary: 'The script of the pages that offer passkeys.',
  tags: ['sign-in pages'],
  access: 'public',
  responses: {
    200: { description: 'The script.', contentType: 'text/javascript', schema: Type.String() },
    401: UnauthorizedResponse,
  },
});

export const passkeyOperations = {
  listPasskeys,
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  getPasskeyScript,
};

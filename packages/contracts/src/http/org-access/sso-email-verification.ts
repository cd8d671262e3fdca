import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Nullable, Timestamp } from '../common.ts';
import { InvalidResponse } from './responses.ts';

const PATH = '/api/v1/sso/email-verification';

const Done = Type.Object({}, { $id: 'SsoEmailVerificationDone' });
const Subject = {
  email: Type.String({ minLength: 3, maxLength: 320, pattern: '^[^\\u0000-\\u001f]*$' }),
  saml_provider_id: Type.String({ format: 'uuid', description: 'The identity provider, SAML or OIDC.' }),
};
const example = { email: 'ada@example.com', saml_provider_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a010' };

export const SsoEmailVerificationStatus = Type.Object(
  { email_confirmed_at: Nullable(Timestamp) },
  { $id: 'SsoEmailVerificationStatus' },
);
export type SsoEmailVerificationStatus = Static<typeof SsoEmailVerificationStatus>;

const open = { method: 'post', access: 'public', bodyLimitBytes: 16_384 } as const;
const tags = ['sso'];
const refusals = {
  422: InvalidResponse,
  429: { description: 'There were too many requests.', schema: ErrorResponse },
};

export const sendSsoEmailVerification = defineOperation({
  ...open,
  tags,
  operationId: 'sendSsoEmailVerification',
  path: `${PATH}/send`,
  summary:
    'Send a link that confirms the address of a person who signs in by a provider. Says nothing about the person.',
  body: Type.Object(Subject, { $id: 'SsoEmailVerificationSendRequest' }),
  responses: {
    202: {
      description: 'Sent, where there is such a person whose address is not confirmed.',
      schema: Done,
      example: {},
    },
    ...refusals,
  },
  examples: { body: example },
});

export const getSsoEmailVerificationStatus = defineOperation({
  ...open,
  tags,
  operationId: 'getSsoEmailVerificationStatus',
  path: `${PATH}/status`,
  summary: 'When a link that was sent in the last days was confirmed. Says nothing about anybody else.',
  body: Type.Object(Subject, { $id: 'SsoEmailVerificationStatusRequest' }),
  responses: {
    200: {
      description: 'The time; null where no such link was confirmed.',
      schema: SsoEmailVerificationStatus,
      example: { email_confirmed_at: '2026-12-05T10:00:00.000Z' },
    },
    ...refusals,
  },
  examples: { body: example },
});

export const confirmSsoEmail = defineOperation({
  ...open,
  tags,
  operationId: 'confirmSsoEmail',
  path: `${PATH}/confirm`,
  summary: 'Confirm an address by the token of a link.',
  body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { $id: 'SsoConfirmEmailRequest' }),
  responses: {
    200: { description: 'It is confirmed.', schema: Done, example: {} },
    400: {
      description: 'The link was used, or has expired.',
      schema: ErrorResponse,
      example: { detail: 'This link has been used, or has expired' },
    },
    422: InvalidResponse,
  },
  examples: { body: { token: 'from the link' } },
});

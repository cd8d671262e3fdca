import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Timestamp, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

const SsoCheck = Type.Object(
  {
    /** OIDC: `discovery`, `endpoints`, `keys`, `client`. SAML: `metadata`, `sign_in`, `certificates`. Both: `domains`. */
    check: Type.Union([
      Type.Literal('discovery'),
      Type.Literal('endpoints'),
      Type.Literal('keys'),
      Type.Literal('client'),
      Type.Literal('metadata'),
      Type.Literal('sign_in'),
      Type.Literal('certificates'),
      Type.Literal('domains'),
    ]),
    /** `warning`: it is no obstacle, and somebody should look at it. `skipped`: a failure before leaves nothing to check. */
    outcome: Type.Union([
      Type.Literal('passed'),
      Type.Literal('warning'),
      Type.Literal('failed'),
      Type.Literal('skipped'),
    ]),
    detail: Type.String({ description: 'A sentence for the administrator.' }),
  },
  { $id: 'SsoCheck' },
);
export type SsoCheck = Static<typeof SsoCheck>;

export const SsoTestResult = Type.Object(
  {
    /** True when no check failed. */
    ok: Type.Boolean(),
    checks: Type.Array(SsoCheck, { description: 'In the order in which they were made.' }),
    tested_at: Timestamp,
  },
  { $id: 'SsoTestResult' },
);
export type SsoTestResult = Static<typeof SsoTestResult>;

const example: SsoTestResult = {
  ok: true,
  checks: [
    { check: 'discovery', outcome: 'passed', detail: 'https://id.example.com describes itself.' },
    { check: 'endpoints', outcome: 'passed', detail: 'Sign-in and tokens have addresses that are encrypted.' },
    { check: 'keys', outcome: 'passed', detail: '2 keys to sign with can be read.' },
    { check: 'client', outcome: 'passed', detail: 'The provider accepts the client ID and the secret.' },
  ],
  tested_at: '2026-11-20T12:00:00.000Z',
};

/** Checks an identity provider before people depend on it, under both prefixes. */
export const testSsoSettings = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `testSsoSettings${alias}`,
    method: 'post',
    path: `${prefix}/sso-settings/{sso_provider_id}/test`,
    summary:
      'Ask an identity provider for all that sign-in needs of it, also while it is switched off. Nobody is signed in, nothing is changed. Administrators only.',
    tags: ['sso'],
    access: 'principal',
    permission: 'organization:manage',
    refusal: { detail: 'Only organization administrators set up single sign-on', code: 'organization_admin_required' },
    params: Type.Object({ sso_provider_id: Uuid }),
    responses: {
      200: { description: 'The checks. Those that fail are part of the answer.', schema: SsoTestResult, example },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      404: {
        description: 'The organization has no such provider.',
        schema: ErrorResponse,
        example: { detail: 'Identity provider not found' },
      },
      422: InvalidResponse,
    },
  }),
);

import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Timestamp, Uuid } from '../common.ts';
import { OrgMember } from './member-bodies.ts';
import { ORGANIZATIONS_PATHS } from './paths.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** An organization that invites the caller. */
export const PendingOrganization = Type.Object(
  {
    /** The organization. */
    id: Uuid,
    display_name: Type.String(),
    is_personal: Type.Boolean(),
    /** True: after the claim the person has to sign in by single sign-on. */
    sso_only: Type.Boolean(),
    org_role_id: Uuid,
    invited_at: Timestamp,
    expires_at: Timestamp,
  },
  { $id: 'PendingOrganization' },
);
export type PendingOrganization = Static<typeof PendingOrganization>;

const example: PendingOrganization = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  display_name: 'Acme',
  is_personal: false,
  sso_only: false,
  org_role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  invited_at: '2026-11-20T12:00:00.000Z',
  expires_at: '2026-12-04T12:00:00.000Z',
};
const person = { access: 'principal', permission: 'signed-in person' } as const;
const params = Type.Object({ organization_id: Uuid });
const inviteNotFound = { ...NotFoundResponse, example: { detail: 'Invite not found' } };

export const listMyInvites = ORGANIZATIONS_PATHS.map(({ path, alias }) =>
  defineOperation({
    operationId: `listMyInvites${alias}`,
    method: 'get',
    path: `${path}/pending`,
    summary: 'Organizations that invite the signed-in person, by the verified address.',
    tags: ['invites'],
    ...person,
    responses: {
      200: {
        description: 'The organizations, oldest invite first.',
        schema: Type.Array(PendingOrganization),
        example: [example],
      },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
);

export const claimMyInvite = ORGANIZATIONS_PATHS.map(({ path, alias }) =>
  defineOperation({
    operationId: `claimMyInvite${alias}`,
    method: 'post',
    path: `${path}/pending/{organization_id}/claim`,
    summary: 'Accept the invite of an organization.',
    tags: ['invites'],
    ...person,
    params,
    responses: {
      200: { description: 'The identity in the organization.', schema: OrgMember },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      404: inviteNotFound,
      409: conflictResponse('ada@example.com is a member already'),
      422: InvalidResponse,
    },
  }),
);

export const declineMyInvite = ORGANIZATIONS_PATHS.map(({ path, alias }) =>
  defineOperation({
    operationId: `declineMyInvite${alias}`,
    method: 'delete',
    path: `${path}/pending/{organization_id}`,
    summary: 'Decline the invite of an organization.',
    tags: ['invites'],
    ...person,
    params,
    responses: {
      200: { description: 'The invite as it was.', schema: PendingOrganization, example },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      404: inviteNotFound,
      422: InvalidResponse,
    },
  }),
);

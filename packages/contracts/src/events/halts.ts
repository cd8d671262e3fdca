import Type from 'typebox';
import { Nullable } from '../http/common.ts';
import { cloudEvent } from './envelope.ts';

const Halt = Nullable(
  Type.Object({ reason: Type.String(), queued: Type.Union([Type.Literal('keep'), Type.Literal('cancel')]) }),
);
const NullableId = Nullable(Type.String({ format: 'uuid' }));

const organization_id = '7d7c1a52-9d3f-4f0a-8a52-6a2f3f0f9b01';
const deployment_id = 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03';

/**
 * Says that somebody has halted a deployment, a workspace or an organization, has given another reason, or has ended the
 * halt. It is for the audit trail: data planes get halts by their desired state.
 */
export const HaltChanged = cloudEvent(
  'runyard.halt.changed',
  Type.Object({
    organization_id: Type.String({ format: 'uuid' }),
    /** Null for a halt of the organization. */
    workspace_id: NullableId,
    /** Null for a halt of a workspace or the organization. */
    deployment_id: NullableId,
    before: Halt,
    /** Null for a resume. */
    after: Halt,
    /** The caller, and where the request came from. */
    origin: Type.Object({
      actor_kind: Type.Union([
        Type.Literal('service_key'),
        Type.Literal('personal_token'),
        Type.Literal('session'),
        Type.Literal('project_user'),
        Type.Literal('internal'),
        Type.Literal('anonymous'),
      ]),
      actor_id: NullableId,
      person_id: NullableId,
      credential_id: NullableId,
      address: Nullable(Type.String()),
      request_id: Type.String(),
      operation: Type.String(),
      request_method: Type.String(),
      request_path: Type.String({ description: 'With placeholders.' }),
    }),
  }),
  {
    subject: deployment_id,
    data: {
      organization_id,
      workspace_id: '3c2b1a09-8f7e-4d6c-9b5a-4f3e2d1c0b06',
      deployment_id,
      before: null,
      after: { reason: 'It mails customers', queued: 'keep' },
      origin: {
        actor_kind: 'personal_token',
        actor_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c002',
        person_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c003',
        credential_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c004',
        address: '192.0.2.7',
        request_id: '5b1f3c7e-5d0c-4a55-9f0e-0d4f2f6d2a10',
        operation: 'haltDeployment',
        request_method: 'POST',
        request_path: '/v2/deployments/{deployment_id}/halt',
      },
    },
  },
);

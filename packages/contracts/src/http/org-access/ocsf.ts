import Type, { type Static } from 'typebox';
import { Nullable, Timestamp, Uuid } from '../common.ts';

/** An event of the Open Cybersecurity Schema Framework, 1.7.0: API Activity. */
export const OcsfApiActivity = Type.Object(
  {
    class_uid: Type.Literal(6003),
    class_name: Type.Literal('API Activity'),
    category_uid: Type.Literal(6),
    category_name: Type.Literal('Application Activity'),
    severity_id: Type.Literal(99),
    type_uid: Type.Integer({ description: '600300 and the activity.' }),
    activity_id: Type.Integer({ description: '1 create, 2 read, 3 update, 4 delete, 99 other.' }),
    activity_name: Type.String(),
    status_id: Type.Integer({ description: '1 success, 2 failure.' }),
    status: Type.String(),
    time: Type.Integer({ description: 'Milliseconds since the epoch.' }),
    metadata: Type.Object({ uid: Uuid, product: Type.Object({ name: Type.String(), vendor_name: Type.String() }) }),
    api: Type.Object({ operation: Type.String() }),
    http_request: Type.Object({ http_method: Type.String(), url: Type.Object({ path: Type.String() }) }),
    http_response: Type.Object({ code: Nullable(Type.Integer()) }),
    actor: Type.Object({ user: Type.Object({ uid: Nullable(Uuid), credential_uid: Nullable(Uuid) }) }),
    src_endpoint: Type.Object({
      ip: Nullable(Type.String()),
      port: Nullable(Type.Integer()),
      intermediate_ips: Nullable(Type.Array(Type.String())),
    }),
    resources: Type.Array(Type.Object({ uid: Uuid })),
    unmapped: Type.Object({
      original_audit_log: Type.Object({
        id: Uuid,
        operation_name: Type.String(),
        operation_succeeded: Nullable(Type.Boolean()),
        request_time: Timestamp,
        api_key_id: Nullable(Uuid),
        user_id: Nullable(Uuid),
        ls_user_id: Nullable(Uuid),
        organization_id: Nullable(Uuid),
        workspace_id: Nullable(Uuid),
        enrichments: Nullable(
          Type.Object({
            request_method: Type.Optional(Type.String()),
            request_path: Type.Optional(Type.String()),
            client_host: Nullable(Type.String()),
            client_port: Nullable(Type.Integer()),
            x_forwarded_for: Nullable(Type.String()),
            response_status_code: Nullable(Type.Integer()),
            resource_ids: Nullable(Type.Array(Type.String())),
          }),
        ),
      }),
    }),
  },
  { $id: 'OcsfApiActivity' },
);
export type OcsfApiActivity = Static<typeof OcsfApiActivity>;

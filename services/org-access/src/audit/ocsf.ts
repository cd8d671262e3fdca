import type { AuditEvent, OcsfApiActivity } from '@runyard/contracts';
import { isUuid } from '@runyard/contracts';

/** OCSF activities by the verb of an operation. */
const ACTIVITIES = { create: 1, read: 2, update: 3, delete: 4 } as const;
const METHODS: Record<string, keyof typeof ACTIVITIES> = {
  POST: 'create',
  GET: 'read',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};
/** Names of LangSmith's operations that ours do not have. */
const OPERATION_NAMES: Record<string, string> = {
  createWorkspaceKey: 'create_api_key',
  deleteWorkspaceKey: 'delete_api_key',
};

/** Returns an event as LangSmith's audit log has it. What the platform did by itself has its action as operation. */
export function toOcsf(event: AuditEvent): OcsfApiActivity {
  const verb = METHODS[event.request_method ?? ''];
  const activity = verb ? ACTIVITIES[verb] : 99;
  const hasSucceeded = !/\.(denied|refused|failed)$/.test(event.action);
  const operation = event.operation === null ? event.action : nameOfOperation(event.operation);
  const resources = event.resource_id !== null && isUuid(event.resource_id) ? [{ uid: event.resource_id }] : [];
  const isKey = event.actor_kind === 'service_key' || event.actor_kind === 'personal_token';
  return {
    class_uid: 6003,
    class_name: 'API Activity',
    category_uid: 6,
    category_name: 'Application Activity',
    severity_id: 99,
    type_uid: 600_300 + activity,
    activity_id: activity,
    activity_name: verb ? verb[0]!.toUpperCase() + verb.slice(1) : 'Other',
    status_id: hasSucceeded ? 1 : 2,
    status: hasSucceeded ? 'Success' : 'Failure',
    time: Date.parse(event.occurred_at),
    metadata: { uid: event.id, product: { name: 'Runyard', vendor_name: 'Runyard' } },
    api: { operation },
    http_request: { http_method: event.request_method ?? '', url: { path: event.request_path ?? '' } },
    // The event is written before the answer is sent.
    http_response: { code: null },
    actor: { user: { uid: event.actor_id, credential_uid: event.credential_id } },
    src_endpoint: { ip: event.address, port: null, intermediate_ips: null },
    resources,
    unmapped: {
      original_audit_log: {
        id: event.id,
        operation_name: operation,
        operation_succeeded: hasSucceeded,
        request_time: event.occurred_at,
        api_key_id: isKey ? event.credential_id : null,
        user_id: event.actor_id,
        ls_user_id: event.person_id,
        organization_id: event.organization_id,
        workspace_id: event.workspace_id,
        enrichments: {
          ...(event.request_method !== null && { request_method: event.request_method }),
          ...(event.request_path !== null && { request_path: event.request_path }),
          client_host: event.address,
          client_port: null,
          x_forwarded_for: null,
          response_status_code: null,
          resource_ids: event.resource_id === null ? null : [event.resource_id],
        },
      },
    },
  };
}

/** Returns the operationId for a name of LangSmith's. */
export function operationOfName(name: string): string {
  const known = Object.entries(OPERATION_NAMES).find(([, theirs]) => theirs === name);
  return known?.[0] ?? name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function nameOfOperation(operationId: string): string {
  return OPERATION_NAMES[operationId] ?? operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

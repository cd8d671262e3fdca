import type { TSchema } from 'typebox';

const ID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
const WORD = 'forged-by-the-caller';
const TIME = '1999-09-09T09:09:09.999Z';
const NUMBER = 987_654_321_987;

/** Values that are nowhere in a platform that accepts none of `FORGED`. */
export const FORGED_VALUES = [ID, WORD, TIME, '1999-09-09', String(NUMBER)];

/** Fields by which a caller would make a resource another's, or gain rights. */
const FORGED: Record<string, unknown> = {
  ...{ id: ID, organization_id: ID, organizationId: ID, tenant_id: ID, workspace_id: ID, workspaceId: ID },
  ...{ identity_id: ID, identityId: ID, owner: ID, created_by: ID, createdBy: ID, listener_id: ID, revision_id: ID },
  ...{ role: WORD, org_role: WORD, organization_role: WORD, plan: WORD, permissions: [WORD], kind: WORD },
  ...{ status: WORD, lease_owner: ID, lease_epoch: NUMBER, leaseEpoch: NUMBER, epoch: NUMBER, attempt: NUMBER },
  ...{ created_at: TIME, createdAt: TIME, updated_at: TIME, last_used_at: TIME, revoked_at: TIME, lease_until: TIME },
  ...{ is_default: WORD, is_bootstrap: WORD, version: NUMBER, latest_revision_id: ID, active_revision_id: ID },
};

/** Objects whose further fields belong to the caller: LangGraph passes them on. */
const OPEN_FIELDS: ReadonlySet<string> = new Set(['config', 'command', 'checkpoint', 'metadata']);

/** Returns the forged field that an error names as refused; undefined when it names none. */
export function findForgedName(error: string): string | undefined {
  return Object.keys(FORGED).find((name) => error.includes(`.${name}'`));
}

/** Returns a body with every forged field that its schema does not name, in each of its objects, except `without`. */
export function forge(body: unknown, schema: TSchema | undefined, without?: string): unknown {
  if (Array.isArray(body)) return body.map((each) => forge(each, (schema as { items?: TSchema }).items, without));
  const properties = propertiesOf(schema);
  if (!properties || body === null || typeof body !== 'object') return body;
  const own = Object.entries(body).map(([name, value]) => [
    name,
    OPEN_FIELDS.has(name) ? value : forge(value, properties[name], without),
  ]);
  const added = Object.entries(FORGED).filter(([name]) => name !== without && !Object.hasOwn(properties, name));
  return Object.fromEntries([...own, ...added]);
}

function propertiesOf(schema: TSchema | undefined): Record<string, TSchema> | undefined {
  const {
    properties,
    anyOf = [],
    allOf = [],
  } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    anyOf?: TSchema[];
    allOf?: TSchema[];
  };
  const all = [properties, ...[...anyOf, ...allOf].map(propertiesOf)].filter((each) => each !== undefined);
  return all.length === 0 ? undefined : Object.assign({}, ...all);
}

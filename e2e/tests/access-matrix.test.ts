import { createHash, randomUUID } from 'node:crypto';
import {
  type AccessExplanation,
  type AuditEvent,
  type AuditLogPage,
  type AuditLogVerification,
  deleteDeployments,
  listDeployments,
  takeListenerLease,
  updateThreadState,
} from '@runyard/contracts';
import { dumpDatabase } from '@runyard/test-kit';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import {
  type Callers,
  createAdministratorClient,
  isAllowed,
  isBoundByPolicies,
  isPersonal,
  MEMBER_NAMES,
  type Member,
  makeCallers,
  SESSION_COUNT,
} from '../access/callers.ts';
import {
  ACCESS_ROWS,
  type AccessRow,
  type ContractAnswer,
  ContractClient,
  findFaults,
  isKeyless,
  isReadOperation,
  unmatchedRows,
} from '../access/contract-client.ts';
import { FORGED_VALUES, findForgedName, forge } from '../access/forged-fields.ts';
import { FOR_DATA_PLANES, type TaggedResource } from '../access/permissions.ts';
import { findDatabaseUrl } from '../access/platform-database.ts';
import { tagForPolicies } from '../access/policies.ts';
import { findNamesIn, type Ids } from '../access/requests.ts';
import {
  makeFreshIds,
  makeMissingIds,
  makeOrganizationResources,
  makeResources,
  maskIds,
  TAKEN_NAMES,
} from '../access/resources.ts';
import { findUnknownFields } from '../access/unknown-fields.ts';

const { deploymentId, ...platform } = inject('platform');
const asker = new ContractClient(platform);
const keyed = ACCESS_ROWS.filter((row) => !isKeyless(row));
/** A deployment that does not exist, so that its callers find nothing. */
const nowhere = new ContractClient({ ...platform, deploymentUrl: `${platform.url}/deployments/${randomUUID()}` });

/** The key of a role, its session's cookie, and an access token of the session. */
const CREDENTIAL_TURNS = 3;
/** Operations that end a session of their caller, or replace its token. */
const ENDS_SESSION = ['signOut', 'signOutAtProvider', 'endSessions', 'refreshSession'];
/** Operations that take the cookie alone: access tokens must not prolong themselves. */
const NEEDS_COOKIE = ['refreshSession', 'issueAccessToken'];

let callers: Callers;
let real: Ids;
let missing: Ids;
beforeAll(async () => {
  // The first request for them takes seconds, because types of the graph's source are read.
  void createAdministratorClient(platform)('GET', `${platform.deploymentUrl}/assistants/echo/schemas`);
  callers = await makeCallers({ ...platform, deploymentId }, ENDS_SESSION.length * SESSION_COUNT);
  const ids = await makeResources(platform, callers);
  await tagForPolicies(createAdministratorClient(platform), { deployment: [ids.deployment_id!] });
  real = { ...ids, ...TAKEN_NAMES };
  missing = { ...makeMissingIds(ids), ...TAKEN_NAMES };
});

const says = ({ operation }: AccessRow, who: string, { status, text }: ContractAnswer, wanted: string) =>
  `${operation.operationId} answers ${who} ${status}, not ${wanted}: ${text.slice(0, 200)}`;
/**
 * Returns whether the caller was admitted: any answer about ids that do not exist will do, and a server that the
 * operation calls may be away.
 */
const isLetIn = ({ operation }: AccessRow, { status, text }: ContractAnswer) =>
  // The installation forbids it to everybody.
  text.includes('New organizations are disabled') ||
  (![401, 403, 429].includes(status) && (status < 500 || status in operation.responses));
/** Returns the kind of the tagged resource that an operation is about with real ids; undefined: of none. */
const taggedResourceOf = ({ service, operation }: AccessRow): TaggedResource | undefined => {
  if (service === 'oauth-broker') return undefined;
  // Roles let callers in; what policies deny is missing in the answer.
  if (service === 'run-history') return undefined;
  if (service !== 'control-plane') return service === 'agent-server' ? 'deployment' : 'workspace';
  const isAboutDeployments = operation === listDeployments || operation === deleteDeployments;
  return isAboutDeployments || /\{(deployment|project)_id\}/.test(operation.path) ? 'deployment' : undefined;
};
/** Returns whether the tables refuse an operation to a member. */
const isRefusedTo = (member: Member, row: AccessRow) =>
  (isBoundByPolicies(member) && FOR_DATA_PLANES.includes(row.operation.operationId)) ||
  !isAllowed(row.need, member, taggedResourceOf(row));
/** Returns whether two members may do the same, each with a credential of another kind. */
const hasSameRights = (one: Member, other: Member) =>
  one.isReadOnly === other.isReadOnly && one.roles.join() === other.roles.join();
/** Returns whether an operation about the person that keys cannot call did not even look at the key. */
const isUnknownVisitor = ({ need }: AccessRow, { status }: ContractAnswer) => isPersonal(need) && status === 401;
/** Sends a key, or the token in a cookie, where identity providers send their token. */
const asBearer = ({ 'x-api-key': key, cookie = '', ...headers }: Record<string, string>) => ({
  authorization: `Bearer ${key ?? cookie.slice(cookie.indexOf('=') + 1)}`,
  ...headers,
});
const pairs = <A, B>(as: readonly A[], bs: readonly B[]) => as.flatMap((a) => bs.map((b) => [a, b] as const));

it('every operation of the contracts has a row that says who may call it', () => {
  expect(unmatchedRows()).toEqual([]);
});

describe('an operation', () => {
  it('is refused to a caller without a good key', async () => {
    // Each is called without a credential; the others, which one verifier refuses, take turns.
    const [none, ...others] = Object.entries(callers.invalid);
    const cells = keyed.flatMap((row, index) =>
      [none!, others[index % others.length]!].map((who) => [row, who] as const),
    );
    const faults = await findFaults(cells, async ([row, [who, headers]]) => {
      const answer = await asker.request(row, { ids: real, headers });
      return answer.status === 401 ? undefined : says(row, who, answer, '401');
    });
    expect(faults).toEqual([]);
  });

  it('without a key is answered, or requires another proof, as its row says', async () => {
    const faults = await findFaults(ACCESS_ROWS.filter(isKeyless), async (row) => {
      const answer = await asker.request(row, { ids: real });
      const { withoutProof } = row.need as { withoutProof: 'answered' | 'refused' };
      const isRefused = answer.status >= 400 && answer.status < 500;
      const isAsTabled = withoutProof === 'refused' ? isRefused : isLetIn(row, answer);
      return isAsTabled ? undefined : says(row, 'nobody', answer, withoutProof);
    });
    expect(faults).toEqual([]);
  });

  it.each(MEMBER_NAMES.map((name, index) => ({ name, index })))(
    'is for $name as far as the role permits it',
    async ({ name, index }) => {
      const member = callers.members[index]!;
      expect(member.name).toBe(name);
      // Each role calls everything; its key, cookie and access token take turns. What is about the person is called by
      // all of them. At deployments the cookie counts for nothing.
      const holders = callers.members.filter((other) => hasSameRights(other, member));
      const cells = keyed.flatMap((row, rowIndex) => {
        const turn = (callers.members.indexOf(holders[0]!) + rowIndex) % CREDENTIAL_TURNS;
        const isTurnOfOther = holders.length > 1 && member.isSession === (turn === 0);
        if (isTurnOfOther && !isPersonal(row.need)) return [];
        const form =
          row.service === 'agent-server' ? member.headers.at(-1) : member.headers[turn % member.headers.length];
        return [{ row, form: form! }];
      });
      const faults = await findFaults(cells, async ({ row, form }) => {
        const { operationId } = row.operation;
        const isVisit = member.isSession && ENDS_SESSION.includes(operationId);
        const headers = isVisit ? callers.visitors.pop()! : form;
        const own = { own_organization_id: callers.organizationId };
        const lacksCookie = NEEDS_COOKIE.includes(operationId) && headers.cookie === undefined;
        const isRefused = lacksCookie || isRefusedTo(member, row);
        // Policies deny by the tag of what is there; a change that they should refuse is tried on that.
        const isOfTagged = isRefused && isBoundByPolicies(member);
        const reason: Record<string, string> = isRefused ? { halt_reason: 'Nobody may.' } : {};
        const ids = { ...(isReadOperation(row) || isOfTagged ? real : missing), ...own, ...reason };
        const answer = await asker.request(row, { ids, headers });
        if (isRefused) return answer.status === 403 ? undefined : says(row, name, answer, '403');
        return isLetIn(row, answer) ? undefined : says(row, name, answer, 'let in');
      });
      expect(faults).toEqual([]);
    },
  );

  it('of a deployment is refused to the cookie of a session, whichever page sends it', async () => {
    const [{ cookie }] = callers.members.find(({ isSession }) => isSession)!.headers;
    const rows = keyed.filter(({ service }) => service === 'agent-server');
    const faults = await findFaults(pairs(['same-origin', 'cross-site'], rows), async ([site, row]) => {
      const answer = await asker.request(row, { ids: real, headers: { cookie: cookie!, 'sec-fetch-site': site } });
      return answer.status === 401 ? undefined : says(row, `a ${site} page`, answer, '401');
    });
    expect(faults).toEqual([]);
  });

  it('is refused to the cookie of a session when another site sends it', async () => {
    const [{ cookie }] = callers.members.find(({ isSession }) => isSession)!.headers;
    const headers = { cookie: cookie!, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    const rows = keyed.filter(({ service }) => service !== 'agent-server');
    const faults = await findFaults(rows, async (row) => {
      const answer = await asker.request(row, { ids: real, headers });
      // Below the sign-in pages, which are for everybody, such a session counts as none.
      const isNobody = answer.status === 401 && row.operation.path.startsWith('/auth/');
      const isRefused = answer.status === 403 && answer.text.includes('pages of this host');
      return isRefused || isNobody ? undefined : says(row, 'another site', answer, '403');
    });
    expect(faults).toEqual([]);
  });

  it('of SCIM is refused to every caller but an identity provider', async () => {
    const rows = ACCESS_ROWS.filter(({ operation }) => operation.path.startsWith('/scim/'));
    expect(rows.length).toBeGreaterThan(20);
    const administrators = callers.members.filter(({ roles }) => roles.includes('ORGANIZATION_ADMIN'));
    const forms = administrators.flatMap(({ headers }) => [...headers, ...headers.map(asBearer)]);
    const faults = await findFaults(pairs(forms, rows), async ([headers, row]) => {
      const answer = await asker.request(row, { ids: real, headers });
      return answer.status === 401 ? undefined : says(row, JSON.stringify(headers), answer, '401');
    });
    expect(faults).toEqual([]);
  });
});

describe('a permission', () => {
  it('is explained as the tables have it, for every member', async () => {
    const ask = createAdministratorClient(platform);
    const needs = [...new Set(keyed.map(({ need }) => need))].filter(
      (need) => typeof need === 'string' && need.includes(':'),
    );
    const faults = await findFaults(pairs(callers.members, needs), async ([member, need]) => {
      const isOnDeployment = isBoundByPolicies(member) && /^(deployments|runs):/.test(need as string);
      const query = new URLSearchParams({
        identity: member.identityId,
        permission: need as string,
        resource: isOnDeployment ? deploymentId : callers.workspaceId,
        ...(member.keyId && { api_key_id: member.keyId }),
      });
      const { allowed } = await ask<AccessExplanation>('GET', `/api/v1/orgs/current/access/explain?${query}`);
      const isExpected = isAllowed(need, member, isOnDeployment ? 'deployment' : 'workspace');
      return allowed === isExpected ? undefined : `${need} of ${member.name} is explained as ${allowed}`;
    });
    expect(faults).toEqual([]);
  });
});

describe('an organization with an allowlist of addresses', () => {
  it('is used from no other address', async () => {
    // The deployment of another organization is missing for it, wherever it is.
    const rows = keyed.filter(({ service }) => service !== 'agent-server');
    const faults = await findFaults(rows, async (row) => {
      const answer = await asker.request(row, { ids: real, key: callers.outsideKey });
      const isRefused = answer.status === 403 && answer.text.includes('from this address');
      return isRefused || isUnknownVisitor(row, answer) ? undefined : says(row, 'an address outside', answer, '403');
    });
    expect(faults).toEqual([]);
  });
});

describe('a resource of another organization', () => {
  it('is answered byte for byte as a missing one', async () => {
    expect(await findDifferences(callers.otherOrganizationKey, real, missing)).toEqual([]);
  });

  it('shows in no list', async () => {
    const faults = await findFaults(keyed.filter(isReadOperation), async (row) => {
      const { text } = await asker.request(row, { ids: missing, key: callers.otherOrganizationKey });
      const shown = Object.entries(real).find(([name, id]) => !(name in TAKEN_NAMES) && text.includes(id));
      return shown && `${row.operation.operationId} shows the ${shown[0]} ${shown[1]}`;
    });
    expect(faults).toEqual([]);
  });

  it('is not reached by naming its workspace', async () => {
    const rows = keyed.filter(({ service }) => service !== 'agent-server');
    const named = (id: string) => ({ headers: { 'x-tenant-id': id }, key: callers.otherOrganizationKey, ids: real });
    const nobodys = randomUUID();
    const faults = await findFaults(rows, async (row) => {
      const [there, absent] = await Promise.all([
        asker.request(row, named(callers.workspaceId)),
        asker.request(row, named(nobodys)),
      ]);
      if (isUnknownVisitor(row, there)) return undefined;
      if (there.status !== 403) return says(row, 'a caller of another organization', there, '403');
      const isSame = there.text.replaceAll(callers.workspaceId, '') === absent.text.replaceAll(nobodys, '');
      return isSame ? undefined : says(row, 'a caller of another organization', there, absent.text);
    });
    expect(faults).toEqual([]);
  });
});

describe('a resource of another workspace of the organization', () => {
  it('is answered byte for byte as a missing one', async () => {
    // Providers, members, invites, roles and tokens of SCIM belong to the whole organization.
    const { provider_id, identity_id, invite_id, scim_token_id, custom_role_id, access_policy_id } = real;
    const shared = { provider_id, identity_id, invite_id, scim_token_id, custom_role_id, access_policy_id };
    const absent = { ...missing, ...shared } as Ids;
    expect(await findDifferences(callers.otherWorkspaceKey, real, absent)).toEqual([]);
  });
});

describe('an answer', () => {
  it('holds no field outside its contract', async () => {
    expect(findUnknownFields({ properties: { a: { properties: {} } } }, { a: { b: 1 }, c: 2 })).toEqual(['/a/b', '/c']);
    const faults = await findFaults(keyed.filter(isReadOperation), async (row) =>
      fieldsBeyondContract(row, await asker.request(row, { ids: real, key: platform.apiKey })),
    );
    expect(faults).toEqual([]);
  });
});

describe('a body with fields that no caller may set', () => {
  /** The reason why an operation does not do with these resources what its body requests. */
  const UNREACHED: Record<string, string> = {
    cancelRuns: 'its run has ended',
    haltDeployment: 'it would stop what other tests run',
    haltWorkspace: 'it would stop what other tests run',
    haltOrganization: 'it would stop what other tests run',
    createOwnAccessToken: 'keys are refused',
    chooseOrganization: 'its caller is no session',
    beginPasskey: 'its caller is no session',
    addPasskey: 'its caller is no session',
    renamePasskey: 'its caller is no session',
    removePasskey: 'its caller is no session',
    createOrganization: 'it takes sessions, not keys',
    createOrganizationAlias: 'it takes sessions, not keys',
    createPushToken: 'its deployment is no image of the registry',
    createPullToken: 'the registry has no such image',
    discoverMcpProvider: 'no MCP server answers',
    addWorkspaceMember: 'the person it names is nobody',
    updateWorkspaceInvite: 'nobody is invited to the workspace',
    finishAuthentication: 'nobody came back from the provider with a state',
  };

  it('is refused, or has no effect', async () => {
    const writing = keyed.filter((row) => row.operation.body && !isReadOperation(row));
    const unreached: string[] = [];
    const ask = (row: AccessRow, change: (body: unknown) => unknown) =>
      asker.request(row, { ids: { ...real, ...makeFreshIds() }, key: platform.apiKey, change });
    const faultOf = async (row: AccessRow, epoch?: number) => {
      const { operation } = row;
      const current = (body: unknown) =>
        Object.hasOwn(body as object, 'epoch') ? { ...(body as object), epoch } : body;
      const plain = await ask(row, current);
      if (plain.status >= 300) unreached.push(`${operation.operationId} ${plain.status} ${plain.text}`);
      let forged = await ask(row, (body) => forge(current(body), operation.body));
      const refused = forged.status === 400 ? findForgedName(forged.text) : undefined;
      if (refused) forged = await ask(row, (body) => forge(current(body), operation.body, refused));
      if (forged.status === 422) return fieldsBeyondContract(row, plain);
      if (forged.status !== plain.status) return says(row, 'a forged body', forged, String(plain.status));
      const taken = FORGED_VALUES.find((value) => forged.text.includes(value));
      return taken ? `${operation.operationId} answers with ${taken}` : fieldsBeyondContract(row, forged);
    };
    // The first loses to a run on its thread; the other ends the epoch with which a data plane reports.
    const isAskedFirst = ({ operation }: AccessRow) =>
      operation === updateThreadState || operation === takeListenerLease;
    const ofFirst = await findFaults(writing.filter(isAskedFirst), (row) => faultOf(row));
    const { epoch } = await leaseOfListener();
    const others = writing.filter((row) => !isAskedFirst(row));
    const faults = [...ofFirst, ...(await findFaults(others, (row) => faultOf(row, epoch)))];
    expect(faults).toEqual([]);
    expect(unreached.filter((each) => !(each.split(' ')[0]! in UNREACHED))).toEqual([]);
    expect(unreached).toHaveLength(Object.keys(UNREACHED).length);
    for (const name of ['org_access', 'control_plane', deploymentId]) {
      const stored = await dumpDatabase(await findDatabaseUrl(platform.dataDir, name));
      const rows = stored.split('\n').filter((line) => FORGED_VALUES.some((value) => line.includes(value)));
      expect(rows, name).toEqual([]);
    }
  });
});

describe('a change in an organization', () => {
  const CANARY = 'canary-in-a-secret-field';
  /** The reason why an operation changes nothing here. */
  const UNCHANGED: Record<string, string> = {
    updateOrganizationLoginMethods: 'only who signed in by single sign-on may require it of others',
    setDefaultSsoProvision: 'the organization is the default one already',
    testSsoSettings: 'it asks the identity provider, and changes nothing here',
    addWorkspaceMember: 'the member of its example does not exist',
    withdrawWorkspaceInvite: 'nobody is invited to the workspace',
    updateWorkspaceInvite: 'nobody is invited to the workspace',
  };
  /** Bodies that change something, where the example of the contract does not. */
  const CHANGES: Record<string, (suffix: string) => object> = {
    updateOrganizationInfo: (suffix) => ({ display_name: `Audited ${suffix}` }),
    updateWorkspaceMember: () => ({ role_id: '5a7d6f2e-0000-4000-8000-000000000014' }),
    setWorkspaceSecrets: () => [{ key: 'AUDITED', value: CANARY }],
    updateOrganizationMember: () => ({ role_id: '5a7d6f2e-0000-4000-8000-000000000003' }),
  };
  const SECRET_FIELDS = new Set(['client_secret', 'password']);
  const withCanaries = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withCanaries);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        SECRET_FIELDS.has(name) && typeof each === 'string' ? CANARY : withCanaries(each),
      ]),
    );
  };

  it('leaves an event with actor, address and request, and without a secret', async () => {
    const rows = ACCESS_ROWS.filter((row) => row.service === 'org-access' && !isReadOperation(row)).filter(
      ({ operation, need }) =>
        typeof need === 'string' && !isPersonal(need) && !(operation.operationId.replace(/Alias$/, '') in UNCHANGED),
    );
    const ask = createAdministratorClient(platform);
    const secrets: string[] = [];
    const faults = await findFaults(rows, async (row) => {
      const { operationId } = row.operation;
      const operation = operationId.replace(/Alias$/, '');
      const isOfInvite = operation === 'withdrawOrganizationInvite';
      const wanted = isOfInvite ? ['invite_id'] : findNamesIn(row.operation, Object.keys(real));
      const made = await makeOrganizationResources(platform, callers.workspaceId, wanted);
      const ids = { ...real, ...made, ...makeFreshIds(), ...(isOfInvite && { identity_id: made.invite_id! }) };
      const requestId = `audited-${operationId}`;
      const headers = { 'x-request-id': requestId };
      const change = (body: unknown) => CHANGES[operation]?.(operationId) ?? withCanaries(body);
      const answer = await asker.request(row, { ids, key: platform.apiKey, headers, change });
      if (answer.status >= 300) return says(row, 'the audit test', answer, 'a change');
      secrets.push(...findSecrets(answer.text));
      const { items } = await ask<AuditLogPage>('GET', `/api/v1/orgs/current/audit-logs?operation=${operation}`);
      const events = items.filter(({ request_id }) => request_id === requestId);
      const isWhole = (event: AuditEvent) =>
        event.actor_id && event.credential_id && event.address && event.request_path;
      const saysWhat = ({ before, after, details }: AuditEvent) => before ?? after ?? details;
      if (events.length > 0 && events.every(isWhole) && events.some(saysWhat)) return undefined;
      return `${operationId} leaves ${events.length === 0 ? 'no event' : JSON.stringify(events)}`;
    });
    expect(faults).toEqual([]);
    expect(secrets.length).toBeGreaterThan(5);
    const exported = await fetch(`${platform.url}/api/v1/orgs/current/audit-logs/export`, {
      headers: { 'x-api-key': platform.apiKey },
    });
    const trail = await exported.text();
    expect([CANARY, ...secrets].filter((secret) => trail.includes(secret))).toEqual([]);
    const { valid } = await ask<AuditLogVerification>('GET', '/api/v1/orgs/current/audit-logs/verify');
    expect(valid).toBe(true);
  });
});

/** Returns the keys and tokens in an answer, and their hashes. */
function findSecrets(text: string): string[] {
  const found = text.match(/\b(lsv2_\w+_[0-9a-f]{48}_\w+|(?:rys|ryscim)_[\w-]{30,})/g) ?? [];
  return found.flatMap((secret) => [secret, createHash('sha256').update(secret).digest('hex')]);
}

/** Takes the lease with the example of the contract, so that the operation itself keeps it. */
function leaseOfListener(): Promise<{ epoch: number }> {
  return createAdministratorClient(platform)(
    'POST',
    `/v2/listeners/${real.listener_id}/lease`,
    takeListenerLease.examples?.body,
  );
}

function fieldsBeyondContract(
  { operation }: AccessRow,
  { status, contentType, text }: ContractAnswer,
): string | undefined {
  const { schema } = operation.responses[status] ?? {};
  if (!schema || status >= 300 || !contentType.startsWith('application/json')) return undefined;
  const unknown = findUnknownFields(schema, JSON.parse(text));
  return unknown.length === 0 ? undefined : `${operation.operationId} answers with ${unknown.join(', ')}`;
}

/**
 * Returns operations whose answers differ between existing and absent things; lists are read before anything is
 * created.
 */
async function findDifferences(key: string, there: Ids, absent: Ids): Promise<string[]> {
  const differenceOf = (row: AccessRow) =>
    difference(row, key, { ...there, ...makeFreshIds() }, { ...absent, ...makeFreshIds() });
  const ofReading = await findFaults(keyed.filter(isReadOperation), differenceOf);
  return [
    ...ofReading,
    ...(await findFaults(
      keyed.filter((row) => !isReadOperation(row)),
      differenceOf,
    )),
  ];
}

/** Returns how two answers differ that should be the same; new resources have ids and times of their own. */
async function difference(row: AccessRow, key: string, there: Ids, absent: Ids): Promise<string | undefined> {
  const asks = [asker.request(row, { ids: there, key }), nowhere.request(row, { ids: absent, key })] as const;
  const [one, other] = await Promise.all(asks);
  const isCreated = one.status < 300 && other.status < 300;
  const told = ({ status, contentType, text }: ContractAnswer, ids: Ids) => {
    const masked = maskIds(text, ids);
    return `${status} ${contentType} ${isCreated ? withoutOwn(masked) : masked}`;
  };
  const [first, second] = [told(one, there), told(other, absent)];
  return first === second ? undefined : `${row.operation.operationId}: ${first} | ${second}`;
}

function withoutOwn(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/(?<="last_used_at":)(null|"<time>")/g, '<time>')
    .replaceAll(/(lsv2|ryscim)_\w+(\.{3}\w+)?/g, '<key>')
    .replaceAll(/(?<=\/login\/invite\?token=)[\w-]+/g, '<token>')
    .replaceAll(/(?<=state=<id>\.)[\w-]+/g, '<state>')
    .replaceAll(/(?<="installation_id":)\d+/g, '<number>');
}

import { randomUUID } from 'node:crypto';
import { takeListenerLease, updateThreadState } from '@runyard/contracts';
import { dumpDatabase } from '@runyard/test-kit';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { type Callers, createAdministratorClient, isAllowed, makeCallers } from '../access/callers.ts';
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
import { findDatabaseUrl } from '../access/platform-database.ts';
import type { Ids } from '../access/requests.ts';
import { makeFreshIds, makeMissingIds, makeResources, maskIds, TAKEN_NAMES } from '../access/resources.ts';
import { findUnknownFields } from '../access/unknown-fields.ts';

const { deploymentId, ...platform } = inject('platform');
const asker = new ContractClient(platform);
const keyed = ACCESS_ROWS.filter((row) => !isKeyless(row));
/** A deployment that does not exist, so that its callers find nothing. */
const nowhere = new ContractClient({ ...platform, deploymentUrl: `${platform.url}/deployments/${randomUUID()}` });

let callers: Callers;
let real: Ids;
let missing: Ids;
beforeAll(async () => {
  // The first request for them takes seconds, because types of the graph's source are read.
  void createAdministratorClient(platform)('GET', `${platform.deploymentUrl}/assistants/echo/schemas`);
  callers = await makeCallers(platform);
  const ids = await makeResources(platform, callers);
  real = { ...ids, ...TAKEN_NAMES };
  missing = { ...makeMissingIds(ids), ...TAKEN_NAMES };
});

const says = ({ operation }: AccessRow, who: string, { status, text }: ContractAnswer, wanted: string) =>
  `${operation.operationId} answers ${who} ${status}, not ${wanted}: ${text.slice(0, 200)}`;
/**
 * Returns whether the caller was admitted: any answer about ids that do not exist will do, and a server that the
 * operation calls may be away.
 */
const isLetIn = ({ operation }: AccessRow, { status }: ContractAnswer) =>
  ![401, 403, 429].includes(status) && (status < 500 || status in operation.responses);
const pairs = <A, B>(as: readonly A[], bs: readonly B[]) => as.flatMap((a) => bs.map((b) => [a, b] as const));

it('every operation of the contracts has a row that says who may call it', () => {
  expect(unmatchedRows()).toEqual([]);
});

describe('an operation', () => {
  it('is refused to a caller without a good key', async () => {
    const cells = pairs(keyed, Object.entries(callers.invalidKeys));
    const faults = await findFaults(cells, async ([row, [who, key]]) => {
      const answer = await asker.request(row, { ids: real, key });
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

  it('is for members whose role permits it, and for nobody else of the workspace', async () => {
    // One caller after another calls slow operations, which so leave room for others.
    const cells = pairs(callers.members, keyed);
    const faults = await findFaults(cells, async ([member, row]) => {
      const answer = await asker.request(row, { ids: isReadOperation(row) ? real : missing, key: member.key });
      if (!isAllowed(row.need, member))
        return answer.status === 403 ? undefined : says(row, member.name, answer, '403');
      return isLetIn(row, answer) ? undefined : says(row, member.name, answer, 'let in');
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
      if (there.status !== 403) return says(row, 'a caller of another organization', there, '403');
      const isSame = there.text.replaceAll(callers.workspaceId, '') === absent.text.replaceAll(nobodys, '');
      return isSame ? undefined : says(row, 'a caller of another organization', there, absent.text);
    });
    expect(faults).toEqual([]);
  });
});

describe('a resource of another workspace of the organization', () => {
  it('is answered byte for byte as a missing one', async () => {
    // Providers belong to the whole organization.
    const absent = { ...missing, provider_id: real.provider_id! };
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
    createOwnAccessToken: 'keys are refused',
    chooseOrganization: 'its caller is no session',
    createOrganization: 'it takes sessions, not keys',
    createPushToken: 'its deployment is no image of the registry',
    createPullToken: 'the registry has no such image',
    discoverMcpProvider: 'no MCP server answers',
    addWorkspaceMember: 'the person it names is nobody',
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
    .replaceAll(/lsv2_\w+(\.{3}\w+)?/g, '<key>')
    .replaceAll(/(?<=\/login\/invite\?token=)[\w-]+/g, '<token>')
    .replaceAll(/(?<=state=<id>\.)[\w-]+/g, '<state>')
    .replaceAll(/(?<="installation_id":)\d+/g, '<number>');
}

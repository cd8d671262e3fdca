import type { ScimDirectory } from './scim-directory.ts';

/** A directory of one size. */
export interface DirectorySize {
  members: number;
  groups: number;
}

/** The medians of an operation in milliseconds, one for each size. */
export interface DirectoryTimes {
  name: string;
  medianMs: number[];
}

/** People and groups who are created while the operations are measured. */
const MEASURED_USERS = 100;
const MEASURED_GROUPS = 10;
const SEARCHES = 50;
/** Members of a group, and of one request that adds many. */
const GROUP_MEMBERS = 10;
const BATCH = 100;

/**
 * Fills a directory, and measures each operation at each of the sizes. What is measured is the time of one person: of one
 * created, of one in a group, of one found.
 *
 * @param sizes ascending; the first has `MEASURED_USERS` people
 */
export async function measureDirectory(
  directory: ScimDirectory,
  sizes: readonly DirectorySize[],
  say: (line: string) => void,
): Promise<DirectoryTimes[]> {
  await directory.createGroup([]);
  const everyone = directory.groups[0]!;
  const times = new Map<string, number[]>();
  for (const { members, groups } of sizes) {
    while (directory.users.length < members - MEASURED_USERS) {
      await directory.createUser();
      if (directory.users.length % BATCH === 0) await directory.addMembers(everyone, directory.users.slice(-BATCH));
      if (directory.users.length % 1_000 === 0) say(`${directory.users.length} people`);
    }
    while (directory.groups.length < groups - MEASURED_GROUPS) await createGroup(directory);
    const medians = await measureAt(directory, { members, groups, everyone });
    for (const [name, ms] of medians) times.set(name, [...(times.get(name) ?? []), ms]);
    say(`measured with ${members} people and ${groups} groups`);
  }
  return [...times].map(([name, medianMs]) => ({ name, medianMs }));
}

async function measureAt(
  directory: ScimDirectory,
  { members, groups, everyone }: DirectorySize & { everyone: string },
): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  const measure = async (name: string, count: number, operation: (index: number) => Promise<unknown>, people = 1) => {
    const all: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const began = performance.now();
      await operation(index);
      all.push((performance.now() - began) / people);
    }
    times.set(name, all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!);
  };
  const first = directory.users.length;
  await measure('create a user', members - first, () => directory.createUser());
  const fresh = directory.users.slice(first);
  const [one, many] = [fresh.slice(0, fresh.length / 2), fresh.slice(fresh.length / 2)];
  await measure('add one person to the group of all', one.length, (index) =>
    directory.addMembers(everyone, [one[index]!]),
  );
  await measure('add many to it, for each', 1, () => directory.addMembers(everyone, many), many.length);
  await measure(
    `create a group of ${GROUP_MEMBERS}, for each`,
    groups - directory.groups.length,
    () => createGroup(directory),
    GROUP_MEMBERS,
  );
  const someone = (index: number) => (index * 7919) % directory.users.length;
  const find = (path: string, filter: (index: number) => string) => (index: number) =>
    directory.search(path, filter(index), 1);
  await measure(
    'find by userName',
    SEARCHES,
    find('/Users', (index) => `userName eq "USER-${someone(index)}"`),
  );
  await measure(
    'find by externalId',
    SEARCHES,
    find('/Users', (index) => `externalId eq "external-user-${someone(index)}"`),
  );
  await measure(
    'find by work address',
    SEARCHES,
    find('/Users', (index) => `emails[type eq "work"].value eq "user-${someone(index)}@example.com"`),
  );
  await measure(
    'find a group by name',
    SEARCHES,
    find(
      '/Groups',
      (index) => `displayName eq "${index % directory.groups.length} Organization User:Workspace 1:Editor"`,
    ),
  );
  await measure(
    'ask whether someone is in the group of all',
    SEARCHES,
    find('/Groups', (index) => `id eq "${everyone}" and members eq "${directory.users[someone(index)]}"`),
  );
  await measure('list 100 users', SEARCHES, () => directory.send('GET', '/Users?startIndex=1&count=100'));
  return times;
}

function createGroup(directory: ScimDirectory): Promise<void> {
  const start = (directory.groups.length * GROUP_MEMBERS) % (directory.users.length - GROUP_MEMBERS);
  return directory.createGroup(directory.users.slice(start, start + GROUP_MEMBERS));
}

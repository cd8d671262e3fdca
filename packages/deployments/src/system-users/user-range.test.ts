import { randomUUID } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import { UserRange } from './user-range.ts';

const isRoot = process.geteuid?.() === 0;
afterEach(() => void vi.restoreAllMocks());

it.runIf(isRoot)(
  'each deployment has a user for its project and another for its builds, the same at every start',
  () => {
    const ids = Array.from({ length: 1000 }, () => randomUUID());
    const usersOf = (range: UserRange) =>
      ids.flatMap((id) => [range.projectUserOf(id), range.buildUserOf(id)]).map(({ uid, gid }) => `${uid}:${gid}`);
    const users = usersOf(new UserRange('100000-999999999'));
    expect(usersOf(new UserRange('100000-999999999'))).toEqual(users);
    expect(new Set(users).size).toBeGreaterThan(1995);
    for (const user of users) {
      const [uid, gid] = user.split(':').map(Number);
      expect(uid).toBe(gid);
      expect(uid).toBeGreaterThanOrEqual(100_000);
      expect(uid).toBeLessThanOrEqual(999_999_999);
    }
  },
);

it.runIf(isRoot)('no build has the user of a project, however small the range is', () => {
  for (const setting of ['100-101', '100-102', '100-109']) {
    const range = new UserRange(setting);
    const ids = Array.from({ length: 100 }, () => randomUUID());
    const projects = new Set(ids.map((id) => range.projectUserOf(id).uid));
    expect(ids.filter((id) => projects.has(range.buildUserOf(id).uid))).toEqual([]);
  }
});

it('a range of users is refused where this service cannot start their processes', () => {
  vi.spyOn(process, 'geteuid').mockReturnValue(1000);
  expect(() => new UserRange('100000-200000')).toThrow('PROJECT_USERS can only be set');
});

it.runIf(isRoot).each(['0-100', '200-100', '100-100', '100000-4294967295'])(
  'a range of users must have two, none of them root, all of whom processes can be started as (%s)',
  (setting) => {
    expect(() => new UserRange(setting)).toThrow('a range of users other than root');
  },
);

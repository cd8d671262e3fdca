import { describe, expect, it } from 'vitest';
import { effectiveRoles, GRANT_SOURCES, type Grant, type GrantSource } from './effective-roles.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

const WORKSPACE = '0192f7a0-0000-7000-8000-000000000001';
const grant = (source: GrantSource, change: Partial<Grant> = {}): Grant => ({
  workspaceId: WORKSPACE,
  roleId: source,
  source,
  sourceId: null,
  sourceCreatedAt: new Date('2026-01-01'),
  ...change,
});
const inWorkspace = (...grants: Grant[]) => effectiveRoles(grants).workspaces.get(WORKSPACE);

describe('of several grants', () => {
  it.each(GRANT_SOURCES.slice(1).map((weaker, index) => [GRANT_SOURCES[index]!, weaker] as const))(
    'that from %s overrides that from %s, in whichever order they are read',
    (stronger, weaker) => {
      const newer = grant(weaker, { sourceCreatedAt: new Date('2026-06-01') });
      expect(inWorkspace(grant(stronger), newer)?.source).toBe(stronger);
      expect(inWorkspace(newer, grant(stronger))?.source).toBe(stronger);
    },
  );

  it('of groups for one workspace that of the newest group decides, and the next newest when it is gone', () => {
    const [older, newer] = ['2026-01-01', '2026-02-01'].map((day) =>
      grant('scim_group', { sourceCreatedAt: new Date(day), sourceId: day, roleId: day }),
    ) as [Grant, Grant];
    expect(inWorkspace(newer, older)?.roleId).toBe('2026-02-01');
    expect(inWorkspace(older)?.roleId).toBe('2026-01-01');
  });

  it('a group of administrators decides in the organization, however old it is', () => {
    const administrators = grant('scim_group', { workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin });
    const users = grant('scim_group', {
      workspaceId: null,
      sourceCreatedAt: new Date('2026-06-01'),
      sourceId: 'users',
    });
    expect(effectiveRoles([users, administrators]).organization).toBe(administrators);
  });

  it('those for other workspaces and for the organization do not matter', () => {
    const other = grant('scim_group', { workspaceId: '0192f7a0-0000-7000-8000-000000000002' });
    const organization = grant('scim_group', { workspaceId: null });
    expect(inWorkspace(grant('jit'), other, organization)?.source).toBe('jit');
  });
});

it('a person without a grant has no role', () => {
  expect(effectiveRoles([])).toEqual({ organization: null, workspaces: new Map() });
});

import { describe, expect, it } from 'vitest';
import { type GroupNameContext, readGroupName } from './group-names.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

const context = (separator = ':'): GroupNameContext => ({
  separator,
  workspaces: ['Production', 'Data-Science', 'A-B', 'A', 'production'].map((name) => ({ id: name, displayName: name })),
  workspaceRoles: ['Admin', 'Editor', 'Viewer', 'B-Reviewer', 'Reviewer'].map((name) => ({
    id: name,
    displayName: name,
  })),
});
const workspace = (organizationRoleId: string, workspaceId: string, workspaceRoleId: string) => ({
  kind: 'workspace',
  organizationRoleId,
  workspaceId,
  workspaceRoleId,
});
const { organizationUser, organizationViewer, organizationAdmin, organizationOperator } = PLATFORM_ROLES;

describe('the name of a group', () => {
  it.each([
    'Organization Admin',
    'Organization Admins',
    'LS-Organization Admins',
    'acme:organization admin',
    '  Organization Admin ',
  ])('%j makes its members administrators of the organization', (name) => {
    expect(readGroupName(name, context())).toEqual({ kind: 'administrators' });
  });

  it.each([
    ['Organization User:Production:Editor', ':', workspace(organizationUser, 'Production', 'Editor')],
    ['LS: Organization Viewer:production:viewer', ':', workspace(organizationViewer, 'production', 'Viewer')],
    ['x_Organization Operator_PRODUCTION_Admin', '_', workspace(organizationOperator, 'Production', 'Admin')],
    ['Organization Admin&Production&Reviewer', '&', workspace(organizationAdmin, 'Production', 'Reviewer')],
    ['Organization User Production Editor', ' ', workspace(organizationUser, 'Production', 'Editor')],
    ['LS-Organization User-Data-Science-Editor', '-', workspace(organizationUser, 'Data-Science', 'Editor')],
    ['Organization User-A-B-Reviewer', '-', workspace(organizationUser, 'A', 'B-Reviewer')],
  ])(
    '%j with the separator %j gives a role in the organization and one in the workspace',
    (name, separator, wanted) => {
      expect(readGroupName(name, context(separator))).toEqual(wanted);
    },
  );

  it.each([
    ['Engineering', ':'],
    ['Organization User', ':'],
    ['Organization User:Production', ':'],
    ['Organization User:Nowhere:Editor', ':'],
    ['Organization User:Production:Emperor', ':'],
    ['Organization User-Production-Editor', ':'],
    ['Production:Editor', ':'],
    ['Organization Admins and others', ':'],
    ['', ':'],
  ])('%j with the separator %j gives nothing', (name, separator) => {
    expect(readGroupName(name, context(separator))).toBeNull();
  });

  it('is read in time, whatever an identity provider makes of it', () => {
    const workspaces = Array.from({ length: 500 }, (_, index) => `workspace ${index}`.padEnd(200, '-'));
    const many = { ...context(), workspaces: workspaces.map((name) => ({ id: name, displayName: name })) };
    const slow = 'organization user:'.repeat(28) + ':'.repeat(500);
    const before = process.cpuUsage();
    for (const name of [slow, slow, slow, slow.repeat(200)]) expect(readGroupName(name, many)).toBeNull();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(300);
  });

  it('means nothing when it is longer than names are', () => {
    const long = (length: number) => 'Organization User:Production:Editor'.padStart(length, 'x');
    expect(readGroupName(long(1_024), context())).toEqual(workspace(organizationUser, 'Production', 'Editor'));
    expect(readGroupName(long(1_025), context())).toBeNull();
  });
});

import type { EventBus } from '@runyard/event-bus';
import type { BoundOperation } from '@runyard/service-kit';
import { accessRoutes } from './access/access-routes.ts';
import { apiKeyRoutes } from './api-keys/api-key-routes.ts';
import { PersonalTokenService } from './api-keys/personal-token-service.ts';
import { ServiceAccountService } from './api-keys/service-account-service.ts';
import { ServiceKeyService } from './api-keys/service-key-service.ts';
import { controlPlaneOf } from './control-plane.ts';
import type { EmailOutbox } from './email/email-outbox.ts';
import type { Foundation } from './foundation.ts';
import { InviteMaker } from './invites/create-invites.ts';
import { InviteLinks } from './invites/invite-links.ts';
import { inviteRoutes } from './invites/invite-routes.ts';
import { InviteService } from './invites/invite-service.ts';
import { InviteeService } from './invites/invitee-service.ts';
import { memberRoutes } from './members/member-routes.ts';
import { MemberService } from './members/member-service.ts';
import type { Credentials } from './open-credentials.ts';
import { MyOrganizationsService } from './organizations/my-organizations-service.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { OrganizationService } from './organizations/organization-service.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { PolicyService } from './policies/policy-service.ts';
import { roleRoutes } from './roles/role-routes.ts';
import { RoleService } from './roles/role-service.ts';
import { secretRoutes } from './secrets/secret-routes.ts';
import { SecretService } from './secrets/secret-service.ts';
import type { LiveSessions } from './sessions/live-sessions.ts';
import { followDeletedDeployments } from './tags/deleted-deployments.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { TagService } from './tags/tag-service.ts';
import { TaggingService } from './tags/tagging-service.ts';
import { DeploymentCounts } from './workspaces/deployment-counts.ts';
import { WorkspaceInviteService } from './workspaces/workspace-invite-service.ts';
import { WorkspaceInviteeService } from './workspaces/workspace-invitee-service.ts';
import { workspaceMemberRoutes } from './workspaces/workspace-member-routes.ts';
import { WorkspaceMemberService } from './workspaces/workspace-member-service.ts';
import { workspaceRoutes } from './workspaces/workspace-routes.ts';
import { WorkspaceService } from './workspaces/workspace-service.ts';

/** Opens what administrators keep: organizations, workspaces, their members, keys, roles, policies, secrets and tags. */
export function openDirectory(
  foundation: Foundation,
  { sessions }: Pick<Credentials, 'sessions'>,
  bus: EventBus,
  emails: EmailOutbox,
): BoundOperation[] {
  const { database, cipher } = foundation;
  const { prisma } = database;
  return [
    ...organizationOperations(foundation),
    ...memberOperations(foundation, emails),
    ...keyOperations(foundation, sessions),
    ...secretRoutes(new SecretService({ database, cipher })),
    ...roleRoutes(new RoleService({ database }), foundation.keys),
    ...policyRoutes({ prisma, policies: new PolicyService({ database }) }),
    ...tagOperations(foundation, bus),
    ...accessRoutes({ prisma }),
  ];
}

function organizationOperations({ config, context, database, keys }: Foundation): BoundOperation[] {
  const { prisma } = database;
  const installationAllowsJit = config.SELF_HOSTED_JIT_PROVISIONING_ENABLED;
  const rules = {
    isCreationDisabled: config.FF_ORG_CREATION_DISABLED,
    arePersonalDisabled: config.PERSONAL_ORGS_DISABLED,
    plan: config.DEFAULT_ORGANIZATION_PLAN,
  };
  const deployments = new DeploymentCounts({ controlPlane: controlPlaneOf(config), logger: context.logger });
  return [
    ...organizationRoutes({
      organizations: new OrganizationService({ database, installationAllowsJit }),
      mine: new MyOrganizationsService({ database, rules }),
      keys,
    }),
    ...workspaceRoutes({ workspaces: new WorkspaceService({ database }), prisma, deployments }, keys),
  ];
}

function memberOperations({ config, database, keys }: Foundation, emails: EmailOutbox): BoundOperation[] {
  const members = new MemberService({ database });
  const invitees = new InviteeService({ database });
  const maker = new InviteMaker({ emails, links: new InviteLinks(config.PUBLIC_URL), ttlDays: config.INVITE_TTL_DAYS });
  const isAlwaysAllowed = config.WORKSPACE_SCOPE_ORG_INVITES_ENABLED;
  return [
    ...memberRoutes(members),
    ...inviteRoutes({ members, invites: new InviteService({ database, maker }), invitees, keys }),
    ...workspaceMemberRoutes(
      {
        members: new WorkspaceMemberService({ database }),
        invites: new WorkspaceInviteService({ database, maker, isAlwaysAllowed }),
        invitees: new WorkspaceInviteeService({ database, invitees }),
      },
      keys,
    ),
  ];
}

function keyOperations({ config, database, keys }: Foundation, sessions: LiveSessions): BoundOperation[] {
  const isCreationDisabled = config.PAT_CREATION_DISABLED;
  return apiKeyRoutes(
    {
      keys: new ServiceKeyService({ database }),
      tokens: new PersonalTokenService({ database, sessions, isCreationDisabled }),
      accounts: new ServiceAccountService({ database }),
    },
    keys,
  );
}

function tagOperations({ config, context, database }: Foundation, bus: EventBus): BoundOperation[] {
  const taggings = new TaggingService({ database });
  const { lifecycle, logger } = context;
  followDeletedDeployments({ bus, database, controlPlane: controlPlaneOf(config), lifecycle, logger });
  return tagRoutes({ prisma: database.prisma, tags: new TagService({ database }), taggings });
}

import type { BoundOperation } from '@runyard/service-kit';
import type { Foundation } from '../foundation.ts';
import { SsoUrls } from '../sso-urls.ts';
import type { EmailOutbox } from './email/email-outbox.ts';
import { InviteMaker } from './invites/create-invites.ts';
import { InviteLinks } from './invites/invite-links.ts';
import { inviteRoutes } from './invites/invite-routes.ts';
import { InviteService } from './invites/invite-service.ts';
import { InviteeService } from './invites/invitee-service.ts';
import { memberRoutes } from './members/member-routes.ts';
import { MemberService } from './members/member-service.ts';
import { MyOrganizationsService } from './organizations/my-organizations-service.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { OrganizationService } from './organizations/organization-service.ts';
import { secretRoutes } from './secrets/secret-routes.ts';
import { SecretService } from './secrets/secret-service.ts';
import { DeploymentCounts } from './workspaces/deployment-counts.ts';
import { WorkspaceInviteService } from './workspaces/workspace-invite-service.ts';
import { WorkspaceInviteeService } from './workspaces/workspace-invitee-service.ts';
import { workspaceMemberRoutes } from './workspaces/workspace-member-routes.ts';
import { WorkspaceMemberService } from './workspaces/workspace-member-service.ts';
import { workspaceRoutes } from './workspaces/workspace-routes.ts';
import { WorkspaceService } from './workspaces/workspace-service.ts';

/** Opens what administrators keep: organizations, workspaces, their members, invites and secrets. */
export function openDirectory(foundation: Foundation, emails: EmailOutbox): BoundOperation[] {
  const { database, cipher } = foundation;
  return [
    ...organizationOperations(foundation),
    ...memberOperations(foundation, emails),
    ...secretRoutes(new SecretService({ database, cipher })),
  ];
}

function organizationOperations({ config, context, database, keys, controlPlane }: Foundation): BoundOperation[] {
  const { prisma } = database;
  const installation = {
    allowsJit: config.SELF_HOSTED_JIT_PROVISIONING_ENABLED,
    urls: new SsoUrls(config.PUBLIC_URL),
  };
  const rules = {
    isCreationDisabled: config.FF_ORG_CREATION_DISABLED,
    arePersonalDisabled: config.PERSONAL_ORGS_DISABLED,
    plan: config.DEFAULT_ORGANIZATION_PLAN,
  };
  const deployments = new DeploymentCounts({ controlPlane, logger: context.logger });
  return [
    ...organizationRoutes({
      organizations: new OrganizationService({ database, installation }),
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

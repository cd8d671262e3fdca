/**
 * Tables of who may call what, written beside the services and not derived from them: a test compares the platform with
 * them. A new operation of a contract needs a row here.
 */
import type { OPEN_API_INFO } from '@runyard/contracts';

/** The permissions of each role of the platform, in the organization or in a workspace. */
export const ROLE_PERMISSIONS = {
  ORGANIZATION_ADMIN: ['organization:manage', 'organization:read', 'organization:pats:create'],
  ORGANIZATION_OPERATOR: ['organization:manage', 'organization:read', 'organization:pats:create'],
  ORGANIZATION_USER: ['organization:read', 'organization:pats:create'],
  ORGANIZATION_VIEWER: ['organization:read'],
  WORKSPACE_ADMIN: [
    ...['workspaces:read', 'workspaces:manage', 'workspaces:manage-members', 'workspaces:manage-keys'],
    ...['deployments:create', 'deployments:read', 'deployments:update', 'deployments:delete', 'deployments:halt'],
    ...['runs:create', 'runs:read', 'runs:update', 'runs:delete'],
  ],
  WORKSPACE_EDITOR: [
    ...['workspaces:read', 'deployments:create', 'deployments:read', 'deployments:update', 'deployments:halt'],
    ...['runs:create', 'runs:read', 'runs:update'],
  ],
  WORKSPACE_USER: ['workspaces:read', 'deployments:read', 'runs:create', 'runs:read', 'runs:update'],
  WORKSPACE_VIEWER: ['workspaces:read', 'deployments:read', 'runs:read'],
  /** A custom role, with a choice of permissions that no role of the platform has. */
  ACCESS_MATRIX: ['deployments:read', 'deployments:delete', 'runs:delete'],
  /** Custom roles with policies, which `ROLE_POLICIES` has. */
  ACCESS_MATRIX_DENIED: [
    ...['workspaces:read', 'workspaces:manage', 'deployments:create', 'deployments:read', 'deployments:update'],
    ...['deployments:delete', 'runs:create', 'runs:read', 'runs:update', 'runs:delete'],
  ],
  ACCESS_MATRIX_ALLOWED: ['workspaces:read', 'runs:read'],
} as const;
export type RoleName = keyof typeof ROLE_PERMISSIONS;
export const CUSTOM_ROLES = ['ACCESS_MATRIX', 'ACCESS_MATRIX_DENIED', 'ACCESS_MATRIX_ALLOWED'] as const;

/** A resource of the matrix whose tag policies match. */
export type TaggedResource = 'deployment' | 'workspace';

/** The policies of roles: what they deny or allow on the tagged deployments and the tagged workspace. */
export const ROLE_POLICIES: Partial<
  Record<RoleName, { effect: 'deny' | 'allow' } & Record<TaggedResource, readonly string[]>>
> = {
  ACCESS_MATRIX_DENIED: {
    effect: 'deny',
    deployment: ['deployments:update', 'deployments:delete', 'runs:create', 'runs:update', 'runs:delete'],
    workspace: ['workspaces:manage'],
  },
  ACCESS_MATRIX_ALLOWED: {
    effect: 'allow',
    deployment: ['deployments:read', 'runs:create', 'runs:update'],
    workspace: ['workspaces:manage'],
  },
};

/** Operations on a whole workspace or listener, whatever the tags: nobody whom policies concern may call them. */
export const FOR_DATA_PLANES: readonly string[] = [
  ...['takeListenerLease', 'getListenerDesiredState', 'createPullToken', 'createListenerKey', 'getListenerKeySet'],
  ...['reportRevisionStatus', 'reportDeploymentStatus', 'reportDeploymentMetrics', 'reportRevisionLogs'],
  ...['checkListenerCaller', 'reportDeploymentHalt', 'reportDeploymentBudgets', 'haltWorkspace', 'resumeWorkspace'],
  ...['createWorkspaceBudget', 'patchWorkspaceBudget', 'deleteWorkspaceBudget'],
];

/** A person who signed in and may make personal tokens. */
export const TOKEN_MAKER = 'signed-in person who makes tokens';

export type Need =
  | (typeof ROLE_PERMISSIONS)['ORGANIZATION_ADMIN' | 'WORKSPACE_ADMIN'][number]
  /**
   * The operation is about the platform or another organization: its answer is limited to what the key itself may see.
   */
  | 'any key'
  /** The operation changes what belongs to the caller itself: it takes any key but a read-only one. */
  | 'any key that writes'
  /** Operators may manage the organization, and yet not do this. */
  | 'organization administrator'
  /** The operation is about a person who signed in: keys are refused. */
  | 'signed-in person'
  | typeof TOKEN_MAKER
  /** The operation needs no key; `because` says what proves the caller instead, or why nothing has to. */
  | { keyless: true; because: string; withoutProof: 'answered' | 'refused' };

const answeredToAll = (because: string): Need => ({ keyless: true, because, withoutProof: 'answered' });
const provenOtherwise = (because: string): Need => ({ keyless: true, because, withoutProof: 'refused' });

function rows<const Ids extends string>(need: Need, ids: readonly Ids[]): Record<Ids, Need> {
  return Object.fromEntries(ids.map((id) => [id, need])) as Record<Ids, Need>;
}

/** Rows of operations that are served below both paths of the organization. */
function bothPaths(need: Need, ids: readonly string[]): Record<string, Need> {
  return rows(
    need,
    ids.flatMap((id) => [id, `${id}Alias`]),
  );
}

const AGENT_SERVER = {
  ...rows('runs:create', ['createAssistant', 'createThread', 'copyThread', 'createRun', 'streamRun', 'waitRun']),
  ...rows('runs:create', ['createStatelessRun', 'createRunBatch', 'streamStatelessRun', 'waitStatelessRun']),
  ...rows('runs:create', ['createCron', 'createThreadCron']),
  ...rows('runs:read', ['searchAssistants', 'countAssistants', 'getAssistant', 'listAssistantVersions']),
  ...rows('runs:read', ['getAssistantGraph', 'getAssistantSchemas', 'getAssistantSummary', 'getAssistantSubgraphs']),
  ...rows('runs:read', ['getAssistantSubgraphsIn', 'searchThreads', 'countThreads', 'getThread', 'getThreadStorage']),
  ...rows('runs:read', ['getThreadState', 'getThreadStateAtCheckpoint', 'getThreadStateAtCheckpointId']),
  ...rows('runs:read', [
    'getThreadHistory',
    'searchThreadHistory',
    'joinThreadStream',
    'streamEvents',
    'sendCommand',
    'listRuns',
    'getRun',
    'joinRun',
  ]),
  ...rows('runs:read', ['joinRunStream', 'joinRunStreamAlias', 'getStatelessRun', 'joinStatelessRunStream']),
  ...rows('runs:read', [
    'listFeedback',
    'listWebhookDeliveries',
    'searchCrons',
    'countCrons',
    'getCron',
    'getCronAlias',
  ]),
  ...rows('runs:read', ['getItem', 'searchItems', 'listNamespaces', 'getUi', 'getInfo']),
  ...rows('runs:update', ['patchAssistant', 'setLatestAssistantVersion', 'patchThread', 'updateThreadState']),
  ...rows('runs:update', ['cancelRun', 'cancelRuns', 'updateCron', 'updateCronAlias', 'putItem', 'deleteItem']),
  ...rows('runs:update', ['redeliverWebhook']),
  ...rows('runs:delete', ['deleteAssistant', 'deleteThread', 'pruneThreads', 'deleteRun', 'deleteCron']),
  ...rows('runs:delete', ['deleteCronAlias']),
  ...rows('runs:create', ['sendA2aMessage', 'streamA2aMessage', 'runAgUi']),
  ...rows('runs:create', ['sendA2aMessageV03', 'streamA2aMessageV03']),
  ...rows('runs:read', ['joinAgUi']),
  // Its example is a method that reads.
  ...rows('runs:read', ['callA2a', 'listA2aTasks', 'getA2aTask', 'subscribeToA2aTask', 'subscribeToA2aTaskAlias']),
  ...rows('runs:read', ['callMcp']),
  ...rows('runs:read', ['listA2aPushConfigs', 'getA2aPushConfig', 'getExtendedAgentCard']),
  ...rows('runs:read', ['getA2aTaskV03', 'subscribeToA2aTaskV03', 'subscribeToA2aTaskV03Alias']),
  ...rows('runs:read', ['listA2aPushConfigsV03', 'getA2aPushConfigV03', 'getExtendedAgentCardV03']),
  ...rows('runs:update', ['cancelA2aTask', 'createA2aPushConfig', 'deleteA2aPushConfig']),
  ...rows('runs:update', ['cancelA2aTaskV03', 'createA2aPushConfigV03', 'deleteA2aPushConfigV03']),
  ...rows(answeredToAll('other agents look for it before they have a key'), [
    ...['getAgentCard', 'getAssistantCard', 'getPinnedAssistantCard'],
  ]),
  ...rows(answeredToAll('whoever has a card verifies its signature'), ['getCardKeys']),
  ...rows('any key', ['getMetrics']),
  ...rows(provenOtherwise('the token in the path is signed for one run'), ['giveFeedback', 'giveFeedbackByLink']),
  ...rows(answeredToAll('a browser loads it as a script, which sends no key'), ['getUiFile']),
  ...rows(answeredToAll('what watches the platform has no key'), ['getHealth', 'getRoot']),
  ...rows(answeredToAll('it says the same of every deployment'), ['getOpenApi', 'getDocs']),
};

const CONTROL_PLANE = {
  ...rows('deployments:read', ['listDeployments', 'getDeployment', 'listRevisions', 'getRevision']),
  ...rows('deployments:read', ['readBuildLogs', 'readRevisionDeployLogs', 'readDeployLogs', 'getRevisionLogs']),
  ...rows('deployments:read', ['getDeploymentMetrics', 'listGithubIntegrations', 'listForgeGithubIntegrations']),
  ...rows('deployments:read', ['listListeners', 'getListener', 'listListenerKeys']),
  // Names of private repositories are for callers who may deploy them.
  ...rows('deployments:create', ['listGithubRepositories', 'listForgeGithubRepositories']),
  ...rows('deployments:create', ['createDeployment', 'createGithubIntegration', 'createListener']),
  ...rows('deployments:update', ['patchDeployment', 'createRevision', 'redeployRevision', 'interruptRevision']),
  ...rows('deployments:update', ['createUploadUrl', 'createPushToken', 'patchListener']),
  // It shows where deliveries go and whether there is a secret, to callers who set it up.
  ...rows('deployments:update', ['getGithubWebhook', 'replaceGithubWebhookSecret']),
  ...rows('deployments:update', ['createListenerKey', 'deleteListenerKey']),
  // These serve data planes, which get the secrets of deployments.
  ...rows('deployments:update', ['takeListenerLease', 'getListenerDesiredState', 'createPullToken']),
  ...rows('deployments:update', ['reportRevisionStatus', 'reportDeploymentStatus', 'reportDeploymentMetrics']),
  ...rows('deployments:update', ['reportDeploymentHalt', 'reportDeploymentBudgets']),
  ...rows('deployments:read', ['listBudgets', 'listWorkspaceBudgets']),
  ...rows('deployments:update', ['createBudget', 'patchBudget', 'deleteBudget']),
  ...rows('deployments:update', ['createWorkspaceBudget', 'patchWorkspaceBudget', 'deleteWorkspaceBudget']),
  ...rows('deployments:update', ['reportRevisionLogs', 'checkListenerCaller', 'getListenerKeySet']),
  ...rows(provenOtherwise("the key that the platform's own data planes share"), [
    'releaseListenerLease',
    'fetchBuild',
    'reportDeploymentRoute',
    'reportProcessCounts',
    'storeDatabasePassword',
    'readSecretsOfWorkspace',
  ]),
  ...rows('deployments:delete', ['deleteDeployments', 'deleteDeployment', 'deleteGithubIntegration', 'deleteListener']),
  ...rows('deployments:halt', ['haltDeployment', 'resumeDeployment', 'haltWorkspace', 'resumeWorkspace']),
  ...rows('deployments:read', ['getDeploymentHalt', 'getWorkspaceHalt']),
  ...rows('organization:manage', ['haltOrganization', 'resumeOrganization', 'getOrganizationHalt']),
  ...rows(provenOtherwise('the address is signed'), ['putUpload']),
  ...rows(provenOtherwise('the server of the repository signs the body'), ['receiveGithubDelivery']),
};

const OAUTH_BROKER = {
  ...rows('deployments:read', ['listAgentConnections']),
  ...rows('deployments:update', ['importAgentToken']),
  ...rows('runs:create', ['createAgentConnection']),
  ...rows('organization:manage', ['createOAuthProvider', 'discoverMcpProvider', 'patchOAuthProvider']),
  ...rows('organization:manage', ['deleteOAuthProvider', 'deleteWorkspaceSlackTokens']),
  ...rows('any key', ['listOAuthProviders', 'getOAuthProvider', 'listOAuthTokens', 'oauthTokenExists']),
  ...rows('any key', ['oauthTokensExist', 'workspaceSlackTokenExists']),
  // Each issues, stores or ends credentials that may act at a provider.
  ...rows('any key that writes', ['authenticate', 'waitForAuthentication', 'finishAuthentication']),
  ...rows('any key that writes', ['importOAuthToken', 'patchOAuthToken', 'deleteOAuthToken', 'deleteOAuthTokens']),
  ...rows('any key that writes', ['deleteAgentConnection']),
  ...rows(provenOtherwise('a browser brings the state and the cookie that began the authorization'), [
    'oauthCallback',
    'oauthSetup',
  ]),
  ...rows(provenOtherwise('the page shows an authorization by its random id, one of a person to that person alone'), [
    'startAuthentication',
  ]),
};

const RUN_HISTORY = rows('runs:read', [
  ...['searchRunHistory', 'countRunFacets', 'readRunStatistics', 'readUsage', 'exportUsage', 'getRunOfHistory'],
  'watchRunChanges',
]);

const ORG_ACCESS = {
  ...rows('organization:read', ['getOrganizationInfo', 'getOrganizationInfoAlias', 'listRoles', 'listRolesAlias']),
  ...bothPaths('organization:read', ['getOrganizationInfoOfPlatform', 'listEnrichedMembers']),
  ...rows('organization:manage', ['createWorkspace']),
  ...bothPaths('organization administrator', ['updateOrganizationInfo']),
  ...bothPaths('signed-in person', ['listMyOrganizations', 'createOrganization']),
  ...bothPaths('signed-in person', ['listMyInvites', 'claimMyInvite', 'declineMyInvite']),
  ...rows('signed-in person', ['listMyWorkspaceInvites', 'claimMyWorkspaceInvite', 'declineMyWorkspaceInvite']),
  ...bothPaths('organization:read', ['getCurrentOrganization']),
  ...bothPaths('organization administrator', ['updateOrganizationLoginMethods', 'setDefaultSsoProvision']),
  ...bothPaths('any key', ['listMyLoginMethods']),
  ...bothPaths('organization:read', ['listOrganizationMembers', 'listActiveOrganizationMembers']),
  ...bothPaths('organization:read', ['listPendingOrganizationMembers']),
  ...bothPaths('organization:manage', ['addOrganizationMember', 'addOrganizationMembers', 'updateOrganizationMember']),
  ...bothPaths('organization administrator', [
    'addBasicMembers',
    'createMemberPasswordLink',
    'removeMemberSecondFactors',
  ]),
  ...bothPaths('organization:manage', ['removeOrganizationMember', 'withdrawOrganizationInvite']),
  // A key without a list of workspaces is good in all of them.
  ...rows('organization administrator', ['createServiceKey', 'createServiceKeyAlias']),
  // Keys that the caller does not manage look as if they did not exist.
  ...rows('any key', ['listServiceKeys', 'listServiceKeyAliass', 'deleteServiceKey', 'deleteServiceKeyAlias']),
  ...rows('organization:pats:create', ['createPersonalAccessToken', 'createPersonalAccessTokenAlias']),
  ...rows('any key', ['listWorkspaces', 'listPersonalAccessTokens', 'listPersonalAccessTokenAliass']),
  ...rows('any key that writes', ['deletePersonalAccessToken', 'deletePersonalAccessTokenAlias']),
  ...rows('organization administrator', [
    'createScimToken',
    'createScimTokenAlias',
    'updateScimToken',
    'updateScimTokenAlias',
  ]),
  ...rows('organization administrator', ['deleteScimToken', 'deleteScimTokenAlias']),
  ...rows('organization:read', ['listScimTokens', 'listScimTokensAlias', 'getScimToken', 'getScimTokenAlias']),
  ...bothPaths('organization:read', ['listProvisionedUsers', 'listProvisionedGroups']),
  ...rows('workspaces:read', ['listTagKeys', 'getTagKey', 'listTagValues', 'getTagValue', 'listTaggings']),
  ...rows('workspaces:read', ['listTags', 'listResourceTags']),
  ...rows('workspaces:manage', ['createTagKey', 'updateTagKey', 'deleteTagKey', 'createTagging', 'deleteTagging']),
  ...rows('workspaces:manage', ['createTagValue', 'updateTagValue', 'deleteTagValue']),
  ...rows('workspaces:manage', ['updateWorkspace', 'setWorkspaceSecrets']),
  ...rows('workspaces:read', ['listWorkspaceSecrets', 'listWorkspaceMembers']),
  ...rows('workspaces:read', ['listActiveWorkspaceMembers', 'listPendingWorkspaceMembers']),
  ...rows('workspaces:manage-members', ['addWorkspaceMember', 'updateWorkspaceMember', 'removeWorkspaceMember']),
  ...rows('workspaces:manage-members', ['addWorkspaceMembers', 'withdrawWorkspaceInvite', 'updateWorkspaceInvite']),
  ...rows('organization administrator', ['deleteWorkspace']),
  ...bothPaths('organization administrator', ['createRole', 'updateRole']),
  ...rows('organization administrator', ['deleteRole', 'deleteRoleAlias']),
  ...rows('any key', ['listPermissions', 'listPermissionsAlias']),
  ...rows('workspaces:read', ['getWorkspaceStats', 'getWorkspaceUsageLimits', 'listWorkspaceShares']),
  ...rows('organization administrator', ['listSsoSettings', 'listSsoSettingsAlias']),
  ...rows('organization administrator', ['createSsoSettings', 'createSsoSettingsAlias']),
  ...rows('organization administrator', ['updateSsoSettings', 'updateSsoSettingsAlias']),
  ...rows('organization administrator', ['deleteSsoSettings', 'deleteSsoSettingsAlias']),
  ...bothPaths('organization administrator', ['testSsoSettings']),
  ...rows(answeredToAll('people look for their identity provider before they sign in'), [
    'getSsoSettingsBySlug',
    'lookUpSsoEmail',
    'sendSsoEmailVerification',
    'getSsoEmailVerificationStatus',
    'beginSsoSignIn',
    'getSamlMetadata',
    'endSsoSession',
  ]),
  ...rows(provenOtherwise('the identity provider proves who the person is'), [
    'chooseSsoProvider',
    'finishOidcSignIn',
    'finishOidcSignInOfProvider',
    'receiveSamlResponse',
    'completeSamlSignIn',
    'endSsoSessionsByProvider',
  ]),
  // Callers who administer nothing ask about themselves: others look as if they did not exist.
  ...rows('any key', ['explainAccess', 'explainAccessAlias']),
  ...rows('organization:manage', ['listAuditLogs', 'listAuditLogsAlias', 'exportAuditLogs', 'exportAuditLogsAlias']),
  ...rows('organization:manage', ['verifyAuditLogs', 'verifyAuditLogsAlias', 'getAuditLogs']),
  ...rows('any key', ['updateServiceKey', 'updateServiceKeyAlias', 'rotateServiceKey', 'rotateServiceKeyAlias']),
  ...rows('signed-in person', ['listOwnAccessTokens', 'deleteOwnAccessToken']),
  ...rows(TOKEN_MAKER, ['createOwnAccessToken']),
  ...rows('organization:read', ['listAccessPolicies', 'listAccessPoliciesAlias']),
  ...rows('organization:read', ['getAccessPolicy', 'getAccessPolicyAlias']),
  ...rows('any key', ['getPlatformInfo']),
  ...rows('organization administrator', ['createAccessPolicy', 'createAccessPolicyAlias']),
  ...rows('organization administrator', ['updateAccessPolicy', 'updateAccessPolicyAlias']),
  ...rows('organization administrator', ['deleteAccessPolicy', 'deleteAccessPolicyAlias']),
  ...rows('organization administrator', ['attachAccessPolicies', 'attachAccessPoliciesFormer']),
  ...rows('organization administrator', ['attachAccessPoliciesAlias', 'attachAccessPoliciesAliasFormer']),
  ...rows('organization administrator', ['detachAccessPolicies', 'detachAccessPoliciesFormer']),
  ...rows('organization administrator', ['detachAccessPoliciesAlias', 'detachAccessPoliciesAliasFormer']),
  ...rows('any key', ['listServiceAccounts', 'deleteServiceAccount']),
  // An account without a list of workspaces is good in all of them.
  ...rows('signed-in person', ['listSessions', 'endSession', 'endSessions', 'signOut', 'refreshSession']),
  ...rows('signed-in person', ['issueAccessToken', 'chooseOrganization', 'whoAmI', 'signOutAtProvider']),
  ...rows('signed-in person', ['listPasskeys', 'beginPasskey', 'addPasskey', 'renamePasskey', 'removePasskey']),
  ...rows('organization administrator', ['createServiceAccount']),
  ...rows(provenOtherwise('the SCIM token of an organization'), [
    ...['listScimUsers', 'searchScimUsers', 'createScimUser', 'getScimUser', 'replaceScimUser', 'patchScimUser'],
    ...['deleteScimUser', 'listScimGroups', 'searchScimGroups', 'createScimGroup', 'getScimGroup', 'replaceScimGroup'],
    ...['patchScimGroup', 'deleteScimGroup', 'listScimResourceTypes', 'getScimResourceType', 'listScimSchemas'],
    ...['getScimSchema', 'getScimConfiguration', 'getScimMe', 'postScimMe', 'putScimMe', 'patchScimMe'],
    ...['deleteScimMe', 'postScimBulk', 'searchScim'],
  ]),
  ...rows('workspaces:manage-keys', ['createWorkspaceKey', 'listWorkspaceKeys', 'deleteWorkspaceKey']),
};

const SIGN_IN_PAGES = {
  ...rows(provenOtherwise('a person opens it in a window: what programs fetch is refused'), [
    ...['showSignIn', 'beginSignIn', 'signInByPassword', 'showSecondFactor', 'confirmSecondFactor', 'signOutByForm'],
    ...[
      'showOrganizations',
      'showOrganizationSignIn',
      'chooseOrganizationByForm',
      'showSetup',
      'setUp',
      'showInvite',
      'answerInvite',
    ],
    ...['showReset', 'requestReset', 'showNewPassword', 'setNewPassword', 'showVerification', 'verifyAddress'],
    ...['showAccount', 'changePassword', 'endSessionByForm', 'requestVerification', 'showAuthenticator'],
    ...['beginAuthenticator', 'confirmAuthenticator', 'removeAuthenticator', 'showDevice', 'answerDevice'],
    ...['showAuthorization', 'answerAuthorization', 'openConsole', 'followSignInLink'],
    ...['showPasskeySignIn', 'signInByPasskey'],
    ...['showPasskeys', 'beginPasskeyByForm', 'addPasskeyByForm', 'renamePasskeyByForm', 'removePasskeyByForm'],
  ]),
  ...rows(answeredToAll('pages for people who have not signed in load it'), ['getPasskeyScript']),
  ...rows(provenOtherwise('the link of an email'), ['confirmSsoEmail']),
  ...rows(provenOtherwise('a password comes with it'), ['signInByBasicAuth']),
  ...rows(provenOtherwise('a code that a person allowed, or a refresh token'), ['issueOAuthTokens']),
  ...rows(answeredToAll('programs ask before a person signs in'), [
    ...['getOAuthMetadata', 'authorizeDevice', 'registerOAuthClient'],
  ]),
  ...rows(answeredToAll('a token that is none is ended already'), ['revokeOAuthToken']),
};

/** The need of each operation, by service and operation id. */
export const NEEDS: Record<keyof typeof OPEN_API_INFO, Record<string, Need>> = {
  'agent-server': AGENT_SERVER,
  'control-plane': CONTROL_PLANE,
  'oauth-broker': OAUTH_BROKER,
  'org-access': { ...ORG_ACCESS, ...SIGN_IN_PAGES },
  'run-history': RUN_HISTORY,
};

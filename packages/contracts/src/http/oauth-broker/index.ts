import type { Operation } from '../../operation.ts';
import { createAgentConnection, deleteAgentConnection, importAgentToken, listAgentConnections } from './agents.ts';
import {
  authenticate,
  finishAuthentication,
  oauthCallback,
  oauthSetup,
  startAuthentication,
  waitForAuthentication,
} from './authenticate.ts';
import {
  createOAuthProvider,
  deleteOAuthProvider,
  discoverMcpProvider,
  getOAuthProvider,
  listOAuthProviders,
  patchOAuthProvider,
} from './providers.ts';
import {
  deleteOAuthToken,
  deleteOAuthTokens,
  deleteWorkspaceSlackTokens,
  importOAuthToken,
  listOAuthTokens,
  oauthTokenExists,
  oauthTokensExist,
  patchOAuthToken,
  workspaceSlackTokenExists,
} from './tokens.ts';

/** Every operation of oauth-broker. */
export const oauthBrokerOperations: readonly Operation[] = [
  listOAuthProviders,
  createOAuthProvider,
  discoverMcpProvider,
  getOAuthProvider,
  patchOAuthProvider,
  deleteOAuthProvider,
  authenticate,
  waitForAuthentication,
  startAuthentication,
  oauthCallback,
  finishAuthentication,
  oauthSetup,
  listOAuthTokens,
  deleteOAuthTokens,
  oauthTokenExists,
  oauthTokensExist,
  importOAuthToken,
  patchOAuthToken,
  deleteOAuthToken,
  workspaceSlackTokenExists,
  deleteWorkspaceSlackTokens,
  listAgentConnections,
  createAgentConnection,
  deleteAgentConnection,
  importAgentToken,
];

export * from './agents.ts';
export * from './authenticate.ts';
export * from './providers.ts';
export * from './tokens.ts';

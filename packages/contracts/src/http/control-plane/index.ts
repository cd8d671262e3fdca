import type { Operation } from '../../operation.ts';
import { describeAgents, findDeploymentOfToken } from './agents.ts';
import { budgetSumOperations } from './budget-sums.ts';
import { budgetOperations } from './budgets.ts';
import { buildOperations } from './builds.ts';
import { dataPlaneOperations } from './data-planes/index.ts';
import {
  createDeployment,
  deleteDeployment,
  deleteDeployments,
  getDeployment,
  listDeployments,
  patchDeployment,
} from './deployment-operations.ts';
import { handOverFormerRows } from './former-oauth-rows.ts';
import { getGithubWebhook, receiveGithubDelivery, replaceGithubWebhookSecret } from './github.ts';
import { haltOperations } from './halts.ts';
import { describeImageDeployment, handOverFormerImages, listNamedImages, openFormerImageToken } from './images.ts';
import {
  createGithubIntegration,
  deleteGithubIntegration,
  listForgeGithubIntegrations,
  listForgeGithubRepositories,
  listGithubIntegrations,
  listGithubRepositories,
} from './integrations.ts';
import { countDeployments, findDeploymentByUrl, getRoutes } from './internal.ts';
import { createListenerKey, deleteListenerKey, listListenerKeys } from './listener-keys.ts';
import { createListener, deleteListener, getListener, listListeners, patchListener } from './listeners.ts';
import { logOperations } from './logs.ts';
import { getDeploymentMetrics } from './metrics.ts';
import { createPushToken } from './registry.ts';
import { createRevision, getRevision, interruptRevision, listRevisions, redeployRevision } from './revisions.ts';
import { createUploadUrl, putUpload } from './uploads.ts';

/** Every operation of control-plane. */
export const controlPlaneOperations: readonly Operation[] = [
  listDeployments,
  createDeployment,
  deleteDeployments,
  getDeployment,
  patchDeployment,
  deleteDeployment,
  ...haltOperations,
  ...budgetOperations,
  listRevisions,
  createRevision,
  getRevision,
  redeployRevision,
  interruptRevision,
  createUploadUrl,
  putUpload,
  createPushToken,
  getGithubWebhook,
  replaceGithubWebhookSecret,
  receiveGithubDelivery,
  listGithubIntegrations,
  createGithubIntegration,
  deleteGithubIntegration,
  listGithubRepositories,
  listForgeGithubIntegrations,
  listForgeGithubRepositories,
  listListeners,
  createListener,
  getListener,
  patchListener,
  deleteListener,
  createListenerKey,
  listListenerKeys,
  deleteListenerKey,
  ...dataPlaneOperations,
  ...buildOperations,
  ...logOperations,
  getDeploymentMetrics,
  getRoutes,
  ...budgetSumOperations,
  countDeployments,
  findDeploymentByUrl,
  findDeploymentOfToken,
  describeAgents,
  handOverFormerRows,
  describeImageDeployment,
  listNamedImages,
  handOverFormerImages,
  openFormerImageToken,
];

export * from './agents.ts';
export * from './budget-sums.ts';
export * from './budgets.ts';
export * from './builds.ts';
export * from './data-planes/index.ts';
export * from './deployment-operations.ts';
export * from './deployments.ts';
export * from './former-oauth-rows.ts';
export * from './github.ts';
export * from './halts.ts';
export * from './images.ts';
export * from './integrations.ts';
export * from './internal.ts';
export * from './listener-keys.ts';
export * from './listeners.ts';
export * from './logs.ts';
export * from './metrics.ts';
export * from './registry.ts';
export * from './resources.ts';
export * from './revision-status.ts';
export * from './revisions.ts';
export * from './sources.ts';
export * from './uploads.ts';

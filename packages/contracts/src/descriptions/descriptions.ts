import { buildAsyncApi } from '../asyncapi.ts';
import { AGENT_SERVER_LEVEL, AGENT_SERVER_OPERATIONS } from '../http/agent-server/index.ts';
import { controlPlaneOperations } from '../http/control-plane/index.ts';
import { oauthBrokerOperations } from '../http/oauth-broker/index.ts';
import { orgAccessOperations } from '../http/org-access/index.ts';
import { registryOperations } from '../http/registry/index.ts';
import { runHistoryOperations } from '../http/run-history/index.ts';
import { buildOpenApi, type OpenApiInfo } from '../openapi.ts';
import type { Operation } from '../operation.ts';
import { isPublicPath } from '../routing.ts';

/**
 * Title, version and description of each service's OpenAPI document; the services serve the same at `/openapi.json`.
 */
export const OPEN_API_INFO = {
  'agent-server': {
    title: 'Runyard agent server',
    version: AGENT_SERVER_LEVEL,
    description: 'Assistants, threads, runs and the store of one deployment.',
    edge: 'deployment',
  },
  'control-plane': {
    title: 'Runyard control plane',
    version: '0.1.0',
    description: 'Deployments and their revisions.',
    edge: 'platform',
  },
  'oauth-broker': {
    title: 'Runyard OAuth broker',
    version: '0.1.0',
    description: 'OAuth providers, authorizations of people, and the tokens that agents get of them.',
    edge: 'platform',
  },
  'org-access': {
    title: 'Runyard organization access',
    version: '0.1.0',
    description: 'Organizations, workspaces, roles and API keys.',
    edge: 'platform',
  },
  'run-history': {
    title: 'Runyard run history',
    version: '0.1.0',
    description: 'The runs of a workspace, across its deployments: search, attempts and statistics.',
    edge: 'platform',
  },
} as const satisfies Record<string, OpenApiInfo>;

export type DescribedService = keyof typeof OPEN_API_INFO;

export const SERVICE_OPERATIONS: Record<DescribedService, readonly Operation[]> = {
  'agent-server': AGENT_SERVER_OPERATIONS,
  'control-plane': controlPlaneOperations,
  'oauth-broker': oauthBrokerOperations,
  'org-access': orgAccessOperations,
  'run-history': runHistoryOperations,
};

/** Returns the operations of a service that the gateway routes to. It routes every path of a deployment. */
export function publicOperations(service: DescribedService): readonly Operation[] {
  const operations = SERVICE_OPERATIONS[service];
  return service === 'agent-server' ? operations : operations.filter(({ path }) => isPublicPath(path));
}

const INTERNAL_INFO = {
  title: 'Runyard between its services',
  version: '0.1.0',
  description: 'What the services of one platform ask each other. The gateway leads nobody here.',
};
const INTERNAL_OPERATIONS = [
  ...(['control-plane', 'org-access'] as const).flatMap((service) =>
    SERVICE_OPERATIONS[service].filter(({ path }) => !isPublicPath(path)),
  ),
  ...registryOperations,
];

/** Returns every generated document by its name, `control-plane.openapi`. */
export function buildDocuments(): Record<string, object> {
  const documents: Record<string, object> = {
    'events.asyncapi': buildAsyncApi({ title: 'Runyard events and queues', version: '0.1.0' }),
  };
  for (const [service, info] of Object.entries(OPEN_API_INFO)) {
    documents[`${service}.openapi`] = buildOpenApi(publicOperations(service as DescribedService), info);
  }
  documents['internal.openapi'] = buildOpenApi(INTERNAL_OPERATIONS, INTERNAL_INFO);
  return documents;
}

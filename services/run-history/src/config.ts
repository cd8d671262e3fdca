import { ConnectionUri, eventBusVariables, serviceVariables, statefulServiceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

const { DATABASE_URI, DATABASE_POOL_SIZE, DATABASE_PREPARED_STATEMENTS, INTERNAL_TOKEN } = statefulServiceVariables;

export const configSchema = Type.Object({
  ...serviceVariables,
  ...eventBusVariables,
  DATABASE_URI,
  DATABASE_POOL_SIZE,
  DATABASE_PREPARED_STATEMENTS,
  INTERNAL_TOKEN,
  DEPLOYMENTS_REDIS_URI: Type.Optional(
    ConnectionUri('redis', 'Redis of the deployments, which has their events with `EVENT_BUS=redis`: needed then.'),
  ),
  ORG_ACCESS_URL: Type.String({ format: 'uri', description: 'Base URL of org-access, whose keys sign callers.' }),
  CONTROL_PLANE_URL: Type.String({
    format: 'uri',
    description: 'Base URL of control-plane, which knows the workspaces of deployments.',
  }),
  HTTP_MAX_OPEN_STREAMS: Type.Integer({
    default: 1_000,
    minimum: 1,
    description: 'Clients that follow changes at the same time, of one process. More are refused with 503.',
  }),
  RUN_HISTORY_RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 365,
    description: 'Days for which a run is shown from its creation on; it is gone a week later.',
  }),
  RUN_HISTORY_RUNS_PER_DEPLOYMENT_MAX: Type.Integer({
    default: 10_000_000,
    minimum: 1_000,
    description: 'Runs kept of one deployment, about; the oldest go when there are more.',
  }),
  RUN_HISTORY_MINUTES_RETENTION_DAYS: Type.Integer({
    default: 14,
    minimum: 1,
    maximum: 365,
    description: 'Days for which statistics by minute are kept. Those by day are kept for 400 days.',
  }),
});
export type Config = Static<typeof configSchema>;

import type { Dashboard } from './dashboard.ts';
import { largestBy, quantileBy, quantiles, rateBy, sumBy } from './queries.ts';

const CONTROL_PLANE = 'job="runyard-control-plane"';
const DEPLOYMENT = 'deployment_id=~"$deployment"';
const BUILDS_ENDED = 'runyard_builder_builds_total';

/** Selects requests to control-plane by a matcher of the label `path`, which has the template of the path. */
const requests = (matcher: string) => `runyard_http_requests_total{${CONTROL_PLANE},${matcher}}`;
const DESIRED_STATE = requests('path="/v2/listeners/{listener_id}/desired-state"');

export const deployments: Dashboard = {
  title: 'Runyard: deployments',
  description: 'Roll-outs, builds, the processes of deployments, and data planes.',
  variables: [
    {
      name: 'deployment',
      label: 'Deployment',
      query: 'label_values(runyard_deployment_agent_api_replicas, deployment_id)',
      all: '.*',
    },
  ],
  rows: [
    {
      title: 'At a glance',
      panels: [
        {
          title: 'Deployments that run',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: 'count(max by (deployment_id) (runyard_deployment_agent_api_replicas))', legend: 'run' }],
        },
        {
          title: 'Deployments without a server',
          kind: 'number',
          unit: 'short',
          alarmFrom: 1,
          queries: [
            {
              expr: 'count(max by (deployment_id) (runyard_deployment_agent_api_replicas) == 0) or vector(0)',
              legend: 'deployments',
            },
          ],
        },
        {
          title: 'Builds under way',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: 'sum(runyard_builder_builds_running)', legend: 'builds' }],
        },
        {
          title: 'Builds that failed, last hour',
          kind: 'number',
          unit: 'short',
          queries: [
            {
              expr: `sum(increase(${BUILDS_ENDED}{outcome=~"failed|unavailable"}[1h])) or vector(0)`,
              legend: 'builds',
            },
          ],
        },
        {
          title: 'Requests of data planes for changes',
          description: 'Each data plane asks control-plane again within 25 seconds.',
          kind: 'number',
          unit: 'reqps',
          queries: [
            {
              expr: `sum(rate(${DESIRED_STATE}[5m]))`,
              legend: 'requests',
            },
          ],
        },
        {
          title: 'Processes of deployments',
          kind: 'number',
          unit: 'short',
          queries: [
            {
              expr: 'sum(runyard_deployment_agent_api_replicas) + sum(runyard_deployment_run_worker_replicas)',
              legend: 'processes',
            },
          ],
        },
      ],
    },
    {
      title: 'Roll-outs',
      panels: [
        {
          title: 'Requests that change deployments',
          unit: 'reqps',
          queries: [
            rateBy(
              'method, path, status',
              `runyard_http_requests_total{${CONTROL_PLANE},method!="GET",path=~"/v2/deployments.*"}`,
            ),
          ],
        },
        {
          title: 'Reports of data planes about revisions and deployments',
          description: 'Steps of roll-outs, routes and counts of processes, by the status of their answer.',
          unit: 'reqps',
          queries: [rateBy('path, status', requests('path=~"/v2/listeners/[^/]+/(status|deployments/.+)"'))],
        },
        {
          title: 'Published events about deployments',
          unit: 'cps',
          queries: [rateBy('topic', `outbox_published_total{${CONTROL_PLANE}}`)],
        },
        {
          title: 'Age of the oldest unpublished event about deployments',
          description: 'Gateways learn of a new route by event, and else within `ROUTES_REFRESH_SECONDS`.',
          unit: 's',
          alarmFrom: 60,
          queries: [largestBy('job', `outbox_lag_seconds{${CONTROL_PLANE}}`)],
        },
        {
          title: 'Deployments in the route table of gateways',
          unit: 'short',
          queries: [{ expr: 'runyard_gateway_deployments', legend: '{{instance}}' }],
        },
        {
          title: 'Errors of control-plane by code',
          unit: 'reqps',
          queries: [rateBy('code', `runyard_http_errors_total{${CONTROL_PLANE}}`)],
        },
      ],
    },
    {
      title: 'Builds',
      panels: [
        {
          title: 'Ended builds by outcome',
          description: '`failed`: the project is at fault. `unavailable`: something that the build needs was.',
          unit: 'cps',
          isStacked: true,
          queries: [rateBy('outcome', BUILDS_ENDED)],
        },
        {
          title: 'Builds under way',
          unit: 'short',
          queries: [{ expr: 'runyard_builder_builds_running', legend: '{{instance}}' }],
        },
        {
          title: 'Wait in the queue',
          description: 'When it grows, add builders.',
          unit: 's',
          alarmFrom: 300,
          queries: quantiles('runyard_builder_queue_wait_seconds_bucket'),
        },
        {
          title: 'Duration of builds, p95',
          unit: 's',
          queries: [quantileBy('outcome', 'runyard_builder_build_seconds_bucket')],
        },
        {
          title: 'Requests of builders',
          description: 'Orders, reports, ends, sources and archives of builds, by the status of their answer.',
          unit: 'reqps',
          queries: [rateBy('path, status', requests('path=~"/internal/builds/.+"'))],
        },
        {
          title: 'Uploads of sources',
          unit: 'reqps',
          queries: [rateBy('method, status', requests('path="/v2/uploads/{upload_id}"'))],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Servers (agent-api)',
          unit: 'short',
          queries: [sumBy('deployment_id', `runyard_deployment_agent_api_replicas{${DEPLOYMENT}}`)],
        },
        {
          title: 'Workers (run-worker)',
          unit: 'short',
          queries: [sumBy('deployment_id', `runyard_deployment_run_worker_replicas{${DEPLOYMENT}}`)],
        },
        {
          title: 'Runs',
          unit: 'short',
          queries: [
            largestBy('deployment_id', `runyard_deployment_pending_runs{${DEPLOYMENT}}`, '{{deployment_id}} pending'),
            largestBy('deployment_id', `runyard_deployment_active_runs{${DEPLOYMENT}}`, '{{deployment_id}} active'),
          ],
        },
        {
          title: 'Cores in use',
          unit: 'short',
          queries: [
            sumBy(
              'deployment_id',
              `runyard_deployment_agent_api_cpu_cores{${DEPLOYMENT}}`,
              '{{deployment_id}} servers',
            ),
            sumBy(
              'deployment_id',
              `runyard_deployment_run_worker_cpu_cores{${DEPLOYMENT}}`,
              '{{deployment_id}} workers',
            ),
          ],
        },
        {
          title: 'Resident memory',
          unit: 'bytes',
          queries: [
            sumBy(
              'deployment_id',
              `runyard_deployment_agent_api_memory_bytes{${DEPLOYMENT}}`,
              '{{deployment_id}} servers',
            ),
            sumBy(
              'deployment_id',
              `runyard_deployment_run_worker_memory_bytes{${DEPLOYMENT}}`,
              '{{deployment_id}} workers',
            ),
          ],
        },
        {
          title: 'Size of databases',
          unit: 'bytes',
          queries: [largestBy('deployment_id', `runyard_deployment_database_bytes{${DEPLOYMENT}}`)],
        },
        {
          title: 'Connections to databases',
          unit: 'short',
          queries: [largestBy('deployment_id', `runyard_deployment_database_connections{${DEPLOYMENT}}`)],
        },
      ],
    },
    {
      title: 'Data planes and images',
      panels: [
        {
          title: 'Requests of data planes for changes',
          description: '204: nothing has changed. 409: another data plane has the lease.',
          unit: 'reqps',
          queries: [rateBy('status', DESIRED_STATE)],
        },
        {
          title: 'Leases taken and released',
          description: 'Data planes that start or stop. Many mean that one starts again and again.',
          unit: 'reqps',
          queries: [rateBy('method, status', requests('path="/v2/listeners/{listener_id}/lease"'))],
        },
        {
          title: 'Failed requests of data planes',
          unit: 'reqps',
          queries: [
            rateBy(
              'path, status',
              `runyard_http_requests_total{${CONTROL_PLANE},path=~"/v2/listeners/.+",status=~"4..|5.."}`,
            ),
          ],
        },
        {
          title: 'Running data planes of the platform',
          description: 'Those of listeners are elsewhere, and are scraped where they are.',
          unit: 'short',
          queries: [{ expr: 'sum(up{job="runyard-data-plane"})', legend: 'answer' }],
        },
        {
          title: 'Requests to the registry of images',
          unit: 'reqps',
          isStacked: true,
          queries: [rateBy('status', 'runyard_http_requests_total{job="runyard-registry"}')],
        },
        {
          title: '95 % of answers of the registry end within',
          unit: 'ms',
          queries: [quantileBy('path', 'runyard_http_requests_latency_bucket{job="runyard-registry"}')],
        },
      ],
    },
  ],
};

import type { Dashboard } from './dashboard.ts';
import { largestBy, quantileBy, quantiles, rateBy, SERVICE, sumBy } from './queries.ts';

const GATEWAY = 'job="runyard-gateway"';
/** A data plane waits here for changes: its requests last as long as nothing changes. */
const WAITING = 'path!="/v2/listeners/{listener_id}/desired-state"';

/** Probes and scrapes of the gateway itself have no route: they say nothing about callers. */
const CALLERS = `${GATEWAY},path!="none"`;

const rateAtGateway = (matchers: string) => `sum(rate(runyard_http_requests_total{${matchers}}[5m]))`;

export const platform: Dashboard = {
  title: 'Runyard: platform',
  description: 'Gateway and services: requests, errors, latencies, saturation, the event bus and databases.',
  variables: [
    { name: 'service', label: 'Service', query: 'label_values(up{job=~"runyard-.+"}, job)', all: 'runyard-.+' },
  ],
  rows: [
    {
      title: 'At a glance',
      panels: [
        {
          title: 'Processes down',
          description: 'Processes that do not answer a scrape.',
          kind: 'number',
          unit: 'short',
          alarmFrom: 1,
          queries: [{ expr: 'count(up{job=~"runyard-.+"} == 0) or vector(0)', legend: 'down' }],
        },
        {
          title: 'Requests at the gateway',
          kind: 'number',
          unit: 'reqps',
          queries: [{ expr: rateAtGateway(CALLERS), legend: 'requests' }],
        },
        {
          title: 'Share of 5xx at the gateway',
          kind: 'number',
          unit: 'percentunit',
          alarmFrom: 0.05,
          queries: [
            { expr: `${rateAtGateway(`${CALLERS},status=~"5.."`)} / ${rateAtGateway(CALLERS)}`, legend: '5xx' },
          ],
        },
        {
          title: 'Oldest unpublished event',
          kind: 'number',
          unit: 's',
          alarmFrom: 60,
          queries: [{ expr: 'max(outbox_lag_seconds{job=~"runyard-.+"})', legend: 'age' }],
        },
        {
          title: 'Failed event handlers',
          description: 'An event whose handler fails blocks the later ones of its key.',
          kind: 'number',
          unit: 'cps',
          alarmFrom: 0.001,
          queries: [{ expr: 'sum(rate(event_bus_retries_total[5m])) or vector(0)', legend: 'attempts' }],
        },
        {
          title: 'Callers without a connection',
          description: 'Callers in deployments that got no database connection in time.',
          kind: 'number',
          unit: 'cps',
          alarmFrom: 0.001,
          queries: [{ expr: 'sum(rate(lg_api_pg_pool_requests_errors_total[5m])) or vector(0)', legend: 'callers' }],
        },
      ],
    },
    {
      title: 'Gateway',
      panels: [
        {
          title: 'Requests by status',
          description: '499 is a client that left before its answer was complete.',
          unit: 'reqps',
          isStacked: true,
          queries: [rateBy('status', `runyard_http_requests_total{${GATEWAY}}`)],
        },
        {
          title: 'Requests by destination',
          unit: 'reqps',
          isStacked: true,
          queries: [rateBy('path', `runyard_http_requests_total{${GATEWAY}}`)],
        },
        {
          title: '95 % of answers end within',
          description: 'Streams, and requests that wait for a run, are included: they last as long as the run.',
          unit: 'ms',
          queries: [quantileBy('path', `runyard_http_requests_latency_bucket{${GATEWAY}}`)],
        },
        {
          title: 'Refused requests by reason',
          description:
            '`rate_of_…`, `runs_of_…` and `requests_of_key` are limits of callers, the others of the platform.',
          unit: 'reqps',
          queries: [rateBy('reason', `runyard_http_requests_refused_total{${GATEWAY}}`)],
        },
        {
          title: 'Errors of the gateway itself by code',
          description: 'docs/services/errors.md says what each code means.',
          unit: 'reqps',
          queries: [rateBy('code', `runyard_http_errors_total{${GATEWAY}}`)],
        },
        {
          title: 'Requests in flight',
          unit: 'short',
          queries: [
            sumBy('job', `runyard_http_requests_active{${GATEWAY}}`, 'requests'),
            sumBy('job', 'runyard_gateway_open_exchanges', 'with a key'),
            sumBy('job', 'runyard_gateway_open_runs', 'waiting for the end of a run'),
          ],
        },
        {
          title: 'Deployments in the route table',
          description: 'Replicas that differ for long have lost events of control-plane.',
          unit: 'short',
          queries: [{ expr: 'runyard_gateway_deployments', legend: '{{instance}}' }],
        },
        {
          title: 'Cached answers about keys',
          unit: 'short',
          queries: [{ expr: 'runyard_gateway_cached_keys', legend: '{{instance}}' }],
        },
      ],
    },
    {
      title: 'Services',
      panels: [
        {
          title: 'Requests',
          unit: 'reqps',
          queries: [
            rateBy('job', `runyard_http_requests_total{${SERVICE}}`),
            rateBy('job', `lg_api_http_requests_total{${SERVICE}}`),
          ],
        },
        {
          title: 'Requests answered with 5xx',
          unit: 'reqps',
          queries: [
            rateBy('job', `runyard_http_requests_total{${SERVICE},status=~"5.."}`),
            rateBy('job', `lg_api_http_requests_total{${SERVICE},status=~"5.."}`),
          ],
        },
        {
          title: '95 % of answers end within',
          description: 'Waits of data planes for changes are left out. Streams of agent-api are included.',
          unit: 'ms',
          queries: [
            quantileBy('job', `runyard_http_requests_latency_bucket{${SERVICE},${WAITING}}`),
            quantileBy('job', `lg_api_http_requests_latency_bucket{${SERVICE}}`),
          ],
        },
        {
          title: 'Errors by code',
          description: '`internal_error` is a fault of the platform, and is logged in full.',
          unit: 'reqps',
          queries: [
            rateBy('job, code', `runyard_http_errors_total{${SERVICE}}`),
            rateBy('job, code', `lg_api_http_errors_total{${SERVICE}}`),
          ],
        },
        {
          title: 'Refused requests by reason',
          description: '`database`: Postgres is unavailable, or no connection of the pool was free in time.',
          unit: 'reqps',
          queries: [
            rateBy('job, reason', `runyard_http_requests_refused_total{${SERVICE}}`),
            rateBy('job, reason', `lg_api_http_requests_refused_total{${SERVICE}}`),
          ],
        },
        {
          title: 'Requests in flight',
          unit: 'short',
          queries: [
            sumBy('job', `runyard_http_requests_active{${SERVICE}}`),
            sumBy('job', `lg_api_http_requests_active{${SERVICE}}`),
          ],
        },
        {
          title: 'Emails by outcome',
          unit: 'cps',
          queries: [rateBy('outcome', 'emails_total')],
        },
        {
          title: 'Lost spans of traces',
          description: 'Spans that the collector refused or did not get.',
          unit: 'cps',
          queries: [rateBy('job', `runyard_trace_spans_lost_total{${SERVICE}}`)],
        },
      ],
    },
    {
      title: 'Saturation',
      panels: [
        {
          title: 'Processor time',
          description: 'A process of Node.js uses about one core for its own code.',
          unit: 'short',
          queries: [
            {
              expr: `rate(process_cpu_seconds_total{${SERVICE}}[$__rate_interval])`,
              legend: '{{job}} {{instance}}',
            },
          ],
        },
        {
          title: 'Delay of the event loop, p99',
          description: 'How late a process comes to what is due.',
          unit: 's',
          alarmFrom: 0.5,
          queries: [{ expr: `nodejs_eventloop_lag_p99_seconds{${SERVICE}}`, legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Resident memory',
          unit: 'bytes',
          queries: [{ expr: `process_resident_memory_bytes{${SERVICE}}`, legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Heap in use',
          unit: 'bytes',
          queries: [{ expr: `nodejs_heap_size_used_bytes{${SERVICE}}`, legend: '{{job}} {{instance}}' }],
        },
        {
          title: 'Share of file descriptors in use',
          unit: 'percentunit',
          alarmFrom: 0.8,
          queries: [
            {
              expr: `process_open_fds{${SERVICE}} / process_max_fds{${SERVICE}}`,
              legend: '{{job}} {{instance}}',
            },
          ],
        },
        {
          title: 'Starts of processes in an hour',
          unit: 'short',
          queries: [{ expr: `sum by (job) (changes(process_start_time_seconds{${SERVICE}}[1h]))`, legend: '{{job}}' }],
        },
      ],
    },
    {
      title: 'Event bus',
      panels: [
        {
          title: 'Published events',
          unit: 'cps',
          queries: [rateBy('job, topic', `outbox_published_total{${SERVICE}}`)],
        },
        {
          title: 'Age of the oldest unpublished event',
          description: 'It is read from the database: all processes of a service report the same.',
          unit: 's',
          alarmFrom: 60,
          queries: [largestBy('job, project_id', `outbox_lag_seconds{${SERVICE}}`)],
        },
        {
          title: 'Unpublished events',
          description: 'They are counted up to 100,000.',
          unit: 'short',
          queries: [largestBy('job, project_id', `outbox_rows{${SERVICE}}`)],
        },
        {
          title: 'Failed publications',
          unit: 'cps',
          queries: [rateBy('job', `outbox_failures_total{${SERVICE}}`)],
        },
        {
          title: 'Active relays',
          description: 'One relay of each database publishes.',
          unit: 'short',
          queries: [sumBy('job, project_id', `outbox_relay_active{${SERVICE}}`)],
        },
        {
          title: 'Events set aside',
          description: 'They are too large for the bus, and stay in the table `outbox`.',
          unit: 'cps',
          queries: [rateBy('job, topic', `outbox_set_aside_total{${SERVICE}}`)],
        },
        {
          title: 'Handled events',
          unit: 'cps',
          queries: [rateBy('job, topic', `event_bus_delivered_total{${SERVICE}}`)],
        },
        {
          title: 'Failed attempts to handle an event',
          description: 'An event whose handler fails blocks the later ones of its key.',
          unit: 'cps',
          queries: [rateBy('job, topic', `event_bus_retries_total{${SERVICE}}`)],
        },
        {
          title: 'Skipped messages',
          description: 'Messages that are no valid event.',
          unit: 'cps',
          queries: [rateBy('job, topic, reason', `event_bus_skipped_total{${SERVICE}}`)],
        },
      ],
    },
    {
      title: 'Database pools, and Redis connections of deployments',
      panels: [
        {
          title: 'Share of database connections in use',
          unit: 'percentunit',
          queries: [
            {
              expr:
                `(lg_api_pg_pool_size{${SERVICE}} - lg_api_pg_pool_available{${SERVICE}}) ` +
                `/ lg_api_pg_pool_max{${SERVICE}}`,
              legend: '{{job}} {{instance}}',
            },
            {
              expr: `postgres_pool{${SERVICE},state="busy"} / ignoring (state) postgres_pool{${SERVICE},state="max"}`,
              legend: '{{job}} {{instance}}',
            },
          ],
        },
        {
          title: 'Callers that wait for a connection',
          description: 'A scrape of agent-api itself makes a handful of callers wait.',
          unit: 'short',
          queries: [
            sumBy('job, project_id', `lg_api_pg_pool_waiting{${SERVICE}}`),
            sumBy('job', `postgres_pool{${SERVICE},state="waiting"}`),
          ],
        },
        {
          title: 'Callers in deployments that had to wait, or got none',
          unit: 'cps',
          queries: [
            rateBy('job', `lg_api_pg_pool_requests_queued_total{${SERVICE}}`, '{{job}} waited'),
            rateBy('job', `lg_api_pg_pool_requests_errors_total{${SERVICE}}`, '{{job}} got none'),
          ],
        },
        {
          title: 'Database connections',
          unit: 'short',
          queries: [
            sumBy('job, project_id', `lg_api_pg_pool_size{${SERVICE}}`),
            sumBy('job', `postgres_pool{${SERVICE},state=~"busy|idle"}`),
          ],
        },
        {
          title: 'Redis connections',
          unit: 'short',
          queries: [sumBy('job, project_id', `lg_api_redis_pool_size{${SERVICE}}`)],
        },
        {
          title: 'Duration of checkpoint commits',
          unit: 's',
          queries: quantiles(`checkpoint_flush_seconds_bucket{${SERVICE}}`),
        },
      ],
    },
  ],
};

import type { Dashboard } from './dashboard.ts';
import { largestBy, quantileBy, quantiles, rateBy } from './queries.ts';

const RUN_HISTORY = 'job="runyard-run-history"';
const AGENT_API = 'job="runyard-agent-api"';
/** Streams of changes are open for minutes, and no answers. */
const ANSWERED = 'path!="/v2/runs/changes"';

export const history: Dashboard = {
  title: 'Runyard: run history',
  description: 'Events of runs on their way from deployments over the bus into run-history, and its searches.',
  variables: [],
  rows: [
    {
      title: 'At a glance',
      panels: [
        {
          title: 'Lag',
          description: 'How far the history is behind the events of runs.',
          kind: 'number',
          unit: 's',
          alarmFrom: 300,
          queries: [{ expr: 'max(run_history_lag_seconds)', legend: 'lag' }],
        },
        {
          title: 'Runs',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: 'max(run_history_rows)', legend: 'runs' }],
        },
        {
          title: 'Events',
          kind: 'number',
          unit: 'cps',
          queries: [{ expr: 'sum(rate(run_history_events_total[5m]))', legend: 'events' }],
        },
        {
          title: 'Left out events',
          kind: 'number',
          unit: 'cps',
          queries: [{ expr: 'sum(rate(run_history_left_out_total[5m])) or vector(0)', legend: 'events' }],
        },
        {
          title: '95 % of answers end within',
          kind: 'number',
          unit: 'ms',
          queries: quantiles(`runyard_http_requests_latency_bucket{${RUN_HISTORY},${ANSWERED}}`, [0.95]),
        },
        {
          title: 'Oldest unpublished event of a run',
          kind: 'number',
          unit: 's',
          alarmFrom: 60,
          queries: [{ expr: `max(outbox_lag_seconds{${AGENT_API}})`, legend: 'age' }],
        },
      ],
    },
    {
      title: 'Publication by deployments',
      panels: [
        {
          title: 'Published events of runs',
          unit: 'cps',
          queries: [rateBy('project_id', 'outbox_published_total{topic="runs"}')],
        },
        {
          title: 'Age of the oldest unpublished event',
          unit: 's',
          alarmFrom: 60,
          queries: [largestBy('project_id', `outbox_lag_seconds{${AGENT_API}}`)],
        },
        {
          title: 'Unpublished events',
          unit: 'short',
          queries: [largestBy('project_id', `outbox_rows{${AGENT_API}}`)],
        },
        {
          title: 'Events that are not published',
          unit: 'cps',
          queries: [
            rateBy('job', `outbox_failures_total{${AGENT_API}}`, 'failed attempts'),
            rateBy('job', `outbox_set_aside_total{${AGENT_API}}`, 'too large, set aside'),
          ],
        },
      ],
    },
    {
      title: 'Reception',
      panels: [
        {
          title: 'Events by kind',
          unit: 'cps',
          isStacked: true,
          queries: [rateBy('kind', 'run_history_events_total')],
        },
        {
          title: 'Lag',
          unit: 's',
          alarmFrom: 300,
          queries: [{ expr: 'run_history_lag_seconds', legend: '{{instance}}' }],
        },
        {
          title: 'Left out events by reason',
          unit: 'cps',
          queries: [rateBy('reason', 'run_history_left_out_total')],
        },
        {
          title: 'Events that the bus delivered',
          unit: 'cps',
          queries: [rateBy('topic', `event_bus_delivered_total{${RUN_HISTORY}}`)],
        },
        {
          title: 'Failed attempts to handle events',
          description: 'An event whose handler fails blocks the later ones of its key.',
          unit: 'cps',
          alarmFrom: 0.001,
          queries: [rateBy('topic', `event_bus_retries_total{${RUN_HISTORY}}`)],
        },
        {
          title: 'Skipped messages',
          unit: 'cps',
          queries: [rateBy('topic, reason', `event_bus_skipped_total{${RUN_HISTORY}}`)],
        },
      ],
    },
    {
      title: 'Searches and requests',
      panels: [
        {
          title: 'Runs',
          unit: 'short',
          queries: [{ expr: 'max(run_history_rows)', legend: 'runs' }],
        },
        {
          title: 'Open streams of changes',
          unit: 'short',
          queries: [{ expr: 'run_history_open_streams', legend: '{{instance}}' }],
        },
        {
          title: 'Requests by path and status',
          unit: 'reqps',
          queries: [rateBy('path, status', `runyard_http_requests_total{${RUN_HISTORY}}`)],
        },
        {
          title: '95 % of answers end within',
          unit: 'ms',
          queries: [quantileBy('path', `runyard_http_requests_latency_bucket{${RUN_HISTORY},${ANSWERED}}`)],
        },
        {
          title: 'Errors by code',
          unit: 'reqps',
          queries: [rateBy('code', `runyard_http_errors_total{${RUN_HISTORY}}`)],
        },
      ],
    },
  ],
};

import type { Dashboard } from './dashboard.ts';
import { DEPLOYMENT, largestBy, quantileBy, quantiles, rateBy, sumBy, TOTALS, totalRate, WORKERS } from './queries.ts';

const AGENT_API = `job="runyard-agent-api",${DEPLOYMENT}`;

/** Returns how many of something there were in the last hour, over all deployments. */
const inLastHour = (...metrics: string[]) =>
  metrics.map((metric) => `sum(max by (project_id) (increase(${metric}{${TOTALS}}[1h])))`).join(' + ');

export const runs: Dashboard = {
  title: 'Runyard: runs',
  description: 'The queue, how runs end, attempts and lost workers, streams, webhooks and crons of deployments.',
  variables: [
    {
      name: 'deployment',
      label: 'Deployment',
      query: 'label_values(lg_api_num_pending_runs, project_id)',
      all: '.*',
    },
  ],
  rows: [
    {
      title: 'At a glance',
      panels: [
        {
          title: 'Pending runs',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: `sum(max by (project_id) (lg_api_num_pending_runs{${DEPLOYMENT}}))`, legend: 'pending' }],
        },
        {
          title: 'Running runs',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: `sum(max by (project_id) (lg_api_num_running_runs{${DEPLOYMENT}}))`, legend: 'running' }],
        },
        {
          title: 'Oldest waiting run',
          description: 'Runs whose thread is free. All others wait for an earlier run of their thread.',
          kind: 'number',
          unit: 's',
          alarmFrom: 60,
          queries: [{ expr: `max(lg_api_pending_unblocked_runs_wait_time_max{${DEPLOYMENT}})`, legend: 'wait' }],
        },
        {
          title: 'Free slots',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: `sum(max by (project_id) (lg_api_workers_available{${AGENT_API}}))`, legend: 'slots' }],
        },
        {
          title: 'Failed runs, last hour',
          kind: 'number',
          unit: 'short',
          queries: [{ expr: inLastHour('lg_api_run_set_status_error_counter'), legend: 'runs' }],
        },
        {
          title: 'Given up runs, last hour',
          description: 'Runs whose attempts failed too often, or that lost their worker too often.',
          kind: 'number',
          unit: 'short',
          alarmFrom: 1,
          queries: [
            {
              expr: inLastHour(
                'lg_api_run_failed_after_retry_counter',
                'lg_api_run_exceed_max_attempts_at_start_counter',
              ),
              legend: 'runs',
            },
          ],
        },
      ],
    },
    {
      title: 'Queue',
      panels: [
        {
          title: 'Pending runs',
          unit: 'short',
          queries: [largestBy('project_id', `lg_api_num_pending_runs{${DEPLOYMENT}}`)],
        },
        {
          title: 'Running runs',
          unit: 'short',
          queries: [largestBy('project_id', `lg_api_num_running_runs{${DEPLOYMENT}}`)],
        },
        {
          title: 'Slots of workers',
          unit: 'short',
          queries: ['max', 'active', 'available'].map((state) => ({
            expr: `sum(max by (project_id) (lg_api_workers_${state}{${AGENT_API}}))`,
            legend: state,
          })),
        },
        {
          title: 'Longest wait of a run whose thread is free',
          unit: 's',
          alarmFrom: 60,
          queries: [largestBy('project_id', `lg_api_pending_unblocked_runs_wait_time_max{${DEPLOYMENT}}`)],
        },
        {
          title: 'Waits of all pending runs',
          description: 'A run also waits for the earlier runs of its thread.',
          unit: 's',
          queries: [
            largestBy('project_id', `lg_api_pending_runs_wait_time_max{${DEPLOYMENT}}`, '{{project_id}} longest'),
            largestBy('project_id', `lg_api_pending_runs_wait_time_med{${DEPLOYMENT}}`, '{{project_id}} median'),
          ],
        },
        {
          title: 'Wait until the first attempt',
          unit: 'ms',
          queries: quantiles(`lg_api_run_queue_wait_time_1st_attempt_bucket{${WORKERS}}`),
        },
        {
          title: 'Time from acceptance to a later attempt',
          unit: 'ms',
          queries: quantiles(`lg_api_run_queue_wait_time_retry_attempt_bucket{${WORKERS}}`),
        },
        {
          title: 'Runs that wait for an encryption key',
          unit: 'short',
          alarmFrom: 1,
          queries: [largestBy('project_id', `lg_api_runs_awaiting_keys{${DEPLOYMENT}}`)],
        },
        {
          title: 'Failed claims',
          unit: 'cps',
          queries: [totalRate('lg_api_failed_to_fetch_runs_counter', 'claims')],
        },
      ],
    },
    {
      title: 'How runs end',
      panels: [
        {
          title: 'Started attempts and ended runs',
          unit: 'cps',
          queries: [
            totalRate('lg_api_run_attempt_started_counter', 'started'),
            totalRate('lg_api_run_success_counter', 'succeeded'),
            totalRate('lg_api_run_set_status_error_counter', 'failed'),
            totalRate('lg_api_run_canceled_by_request_counter', 'cancelled'),
          ],
        },
        {
          title: 'Share of failed runs',
          description: 'Of those that succeeded or failed.',
          unit: 'percentunit',
          alarmFrom: 0.5,
          queries: [
            {
              expr:
                `max by (project_id) (rate(lg_api_run_set_status_error_counter{${TOTALS}}[$__rate_interval]) ` +
                `/ (rate(lg_api_run_set_status_error_counter{${TOTALS}}[$__rate_interval]) ` +
                `+ rate(lg_api_run_success_counter{${TOTALS}}[$__rate_interval])))`,
              legend: '{{project_id}}',
            },
          ],
        },
        {
          title: 'Duration of attempts',
          unit: 'ms',
          queries: quantiles(`lg_api_run_execution_latency_bucket{${WORKERS}}`),
        },
        {
          title: '95 % of attempts end within',
          unit: 'ms',
          queries: [quantileBy('project_id', `lg_api_run_execution_latency_bucket{${WORKERS}}`)],
        },
        {
          title: '95 % of cancelled runs end within',
          description: 'From the order to the end. Long times mean graphs that do not pass `config.signal` on.',
          unit: 'ms',
          queries: [quantileBy('project_id', `lg_api_run_cancel_latency_bucket{${DEPLOYMENT}}`)],
        },
        {
          title: 'Runs that took too many steps',
          description: 'Runs that ended at the recursion limit of their graph.',
          unit: 'cps',
          queries: [rateBy('project_id', `lg_api_graph_recursion_limit_error_counter{${WORKERS}}`)],
        },
      ],
    },
    {
      title: 'Attempts and lost workers',
      panels: [
        {
          title: 'Share of repeated attempts',
          description: 'Attempts that were not the first of their run. Roll-outs repeat some.',
          unit: 'percentunit',
          alarmFrom: 0.05,
          queries: [
            {
              expr:
                `sum by (project_id) (rate(lg_api_run_attempts_repeated_total{${WORKERS}}[$__rate_interval])) ` +
                `/ sum by (project_id) (rate(lg_api_run_attempt_started_counter{${WORKERS}}[$__rate_interval]))`,
              legend: '{{project_id}}',
            },
          ],
        },
        {
          title: 'Failed attempts',
          unit: 'cps',
          queries: [
            totalRate('lg_api_run_failed_retriable_counter', 'tried again'),
            totalRate('lg_api_run_failed_after_retry_counter', 'given up'),
            totalRate('lg_api_run_exceed_max_attempts_at_start_counter', 'given up after lost workers'),
            totalRate('lg_api_run_abandoned_by_shutdown_counter', 'handed back at a stop'),
          ],
        },
        {
          title: 'Workers that lost their lease',
          description: 'A worker was paused, or could not reach Postgres.',
          unit: 'cps',
          queries: [
            rateBy('project_id', `lg_api_worker_lease_losses_total{${WORKERS}}`, '{{project_id}} leases'),
            rateBy('project_id', `lg_api_run_lost_counter{${WORKERS}}`, '{{project_id}} attempts'),
          ],
        },
        {
          title: 'Found by sweeps',
          description:
            '`taken_back`: runs of lost workers. `woken`: ready runs that no worker claimed. ' +
            '`mended`: stuck threads.',
          unit: 'cps',
          queries: [rateBy('what', `lg_api_swept_total{${DEPLOYMENT}}`)],
        },
        {
          title: 'Time from a lost worker to the next attempt',
          unit: 'ms',
          alarmFrom: 20_000,
          queries: quantiles(`lg_api_run_resumption_latency_bucket{${WORKERS}}`),
        },
        {
          title: 'Graph hosts that ended unexpectedly',
          description: 'Often a lack of memory, or an endless loop of the project.',
          unit: 'cps',
          queries: [rateBy('project_id', `lg_api_graph_host_restarts_counter{${WORKERS}}`)],
        },
      ],
    },
    {
      title: 'Writes',
      panels: [
        {
          title: 'Refused stale writes',
          description: 'Another attempt had the thread by then. Each refusal prevented a wrong write.',
          unit: 'cps',
          queries: [rateBy('kind', `lg_api_stale_writes_refused_total{${DEPLOYMENT}}`)],
        },
        {
          title: 'Checkpoints and writes',
          unit: 'cps',
          queries: [
            rateBy('job', `checkpoint_operations_total{${DEPLOYMENT}}`, '{{job}} given to the database'),
            rateBy('job, reason', `checkpoint_operations_refused_total{${DEPLOYMENT}}`, '{{job}} refused: {{reason}}'),
          ],
        },
        {
          title: 'Duration of checkpoint commits',
          unit: 's',
          queries: quantiles(`checkpoint_flush_seconds_bucket{${DEPLOYMENT}}`),
        },
      ],
    },
    {
      title: 'Streams and agent servers',
      panels: [
        {
          title: 'Open streams and waiting answers',
          unit: 'short',
          queries: [sumBy('project_id', `lg_api_open_streams{${DEPLOYMENT}}`)],
        },
        {
          title: 'Lost and trimmed events of streams',
          unit: 'cps',
          queries: [
            totalRate('lg_api_streaming_data_loss_counter', 'did not reach their stream'),
            rateBy('job', `lg_api_stream_trimmed_events_total{${DEPLOYMENT}}`, '{{job}} trimmed'),
          ],
        },
        {
          title: 'Gaps that readers of streams got',
          unit: 'cps',
          queries: [rateBy('reason', `lg_api_stream_gaps_total{${DEPLOYMENT}}`)],
        },
        {
          title: 'Time to append events to a stream',
          unit: 'ms',
          queries: quantiles(`lg_api_stream_publish_latency_bucket{${WORKERS}}`),
        },
        {
          title: 'Streams cut because their client read nothing',
          unit: 'cps',
          queries: [rateBy('project_id', `lg_api_stalled_streams_cut_total{${DEPLOYMENT}}`)],
        },
        {
          title: 'Large results that answers hold',
          unit: 'bytes',
          queries: [sumBy('project_id', `lg_api_results_held_bytes{${DEPLOYMENT}}`)],
        },
        {
          title: 'Requests by status',
          unit: 'reqps',
          isStacked: true,
          queries: [rateBy('status', `lg_api_http_requests_total{${AGENT_API}}`)],
        },
        {
          title: '95 % of answers end within',
          unit: 'ms',
          queries: [quantileBy('path', `lg_api_http_requests_latency_bucket{${AGENT_API}}`)],
        },
        {
          title: 'Refused requests by reason',
          unit: 'reqps',
          queries: [rateBy('reason', `lg_api_http_requests_refused_total{${AGENT_API}}`)],
        },
      ],
    },
    {
      title: 'Webhooks, crons and expiry',
      panels: [
        {
          title: 'Attempts to deliver a webhook',
          unit: 'cps',
          queries: [rateBy('outcome', `lg_api_webhook_attempts_total{${DEPLOYMENT}}`)],
        },
        {
          title: 'Waiting webhooks',
          unit: 'short',
          queries: [largestBy('project_id', `lg_api_webhooks_pending{${DEPLOYMENT}}`)],
        },
        {
          title: 'Fired slots of crons',
          unit: 'cps',
          queries: [rateBy('outcome', `lg_api_cron_slots_total{${DEPLOYMENT}}`)],
        },
        {
          title: 'Delay of thread expiry',
          description: 'How long the thread that has been past its ttl for longest waits to be swept.',
          unit: 's',
          queries: [largestBy('project_id', `lg_api_thread_expiry_delay_seconds{${DEPLOYMENT}}`)],
        },
      ],
    },
  ],
};

import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesBelow } from '../rules/source-files.ts';
import { DASHBOARDS } from './dashboards/all.ts';
import { type Dashboard, toGrafana } from './dashboards/dashboard.ts';
import { printJson } from './dashboards/print-json.ts';
import { findUnreadRegistrations, gatherSeries } from './metric-names.ts';
import { metricsIn } from './promql.ts';
import { promtool } from './promtool.ts';

const repository = join(import.meta.dirname, '../..');
const fileOf = (name: string) => join(import.meta.dirname, name);
const textOf = (path: string) => readFile(join(repository, path), 'utf8');

const dashboards: [string, Dashboard][] = Object.entries(DASHBOARDS);
const queriesOf = ({ rows }: Dashboard) =>
  rows.flatMap(({ panels }) => panels).flatMap(({ title, queries }) => queries.map(({ expr }) => ({ title, expr })));

interface Alert {
  name: string;
  text: string;
  expr: string;
}

/** Returns the alerts of the rules, whose syntax promtool checks. */
async function readAlerts(): Promise<Alert[]> {
  const rules = await textOf('infra/observability/alerts.yaml');
  const alerts = rules.split(/^ {6}- alert: /m).slice(1);
  return alerts.map((text) => ({
    name: text.slice(0, text.indexOf('\n')),
    text,
    expr: /^ {8}expr: (?:>-\n)?([\s\S]*?)^ {8}\w+:/m.exec(text)![1]!.trim(),
  }));
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runyard-observability-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeTemporary(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe('alert rules', () => {
  it('fire and do not fire as their unit tests say', async () => {
    expect(await promtool('check', 'rules', fileOf('alerts.yaml'))).toContain('SUCCESS');
    expect(await promtool('test', 'rules', fileOf('alerts.test.yaml'))).toContain('SUCCESS');
  });

  it('have a unit test each', async () => {
    const tests = await textOf('infra/observability/alerts.test.yaml');
    const alerts = await readAlerts();
    expect(alerts.length).toBeGreaterThan(30);
    expect(alerts.filter(({ name }) => !tests.includes(`alertname="${name}"`))).toEqual([]);
  });

  it('say how severe they are, what happened, what to do, and where the page about monitoring says more', async () => {
    const page = await textOf('docs/monitoring.md');
    const sections = [...page.matchAll(/^### (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-'));
    const incomplete = (await readAlerts()).filter(({ text }) => {
      const runbook = /^ {10}runbook: docs\/monitoring\.md#([\w-]+)$/m.exec(text)?.[1];
      return !(
        /^ {8}labels: \{ severity: (critical|warning) \}$/m.test(text) &&
        /^ {10}summary: .+$/m.test(text) &&
        /^ {10}description: >-\n {12}\S/m.test(text) &&
        runbook !== undefined &&
        sections.includes(runbook)
      );
    });
    expect(incomplete.map(({ name }) => name)).toEqual([]);
  });
});

describe('dashboards', () => {
  it.each(dashboards)('%s.json is as its description (else: npm run generate:dashboards)', async (name, dashboard) => {
    const file = await textOf(`infra/observability/dashboards/${name}.json`);
    expect(file).toBe(printJson(toGrafana(dashboard)));
    expect(JSON.parse(file)).toEqual(toGrafana(dashboard));
  });

  it.each(dashboards)(
    '%s.json names no data source but its variable, and each of its panels by another id',
    async (name) => {
      const file = await textOf(`infra/observability/dashboards/${name}.json`);
      const { schemaVersion, panels } = JSON.parse(file) as { schemaVersion: number; panels: { id: number }[] };
      expect(schemaVersion).toBeGreaterThanOrEqual(38);
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      const uids = new Set([...file.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid));
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills in its variable.
      expect([...uids]).toEqual(['${datasource}']);
    },
  );

  it('have queries that Prometheus understands', async () => {
    const rules = dashboards.flatMap(([name, dashboard]) =>
      queriesOf(dashboard).map(({ expr }, index) => ({ record: `${name}:${index}`, expr: withoutVariables(expr) })),
    );
    expect(rules.length).toBeGreaterThan(100);
    const file = await writeTemporary('queries.yaml', JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    expect(await promtool('check', 'rules', '--lint=none', file)).toContain(`${rules.length} rules found`);
  });
});

const withoutVariables = (expr: string) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');

describe('metrics', () => {
  it('that alerts and dashboards look at are reported by some process of the platform', async () => {
    const series = gatherSeries(repository);
    const queries = [
      ...(await readAlerts()).map(({ name, expr }) => ({ where: name, expr })),
      ...dashboards.flatMap(([name, dashboard]) =>
        queriesOf(dashboard).map(({ title, expr }) => ({ where: `${name}: ${title}`, expr })),
      ),
    ];
    const unknown = queries.flatMap(({ where, expr }) => {
      const metrics = metricsIn(expr);
      if (metrics.length === 0) return [`${where}: no metric in ${expr}`];
      return metrics.filter((metric) => !series.has(metric)).map((metric) => `${where}: ${metric}`);
    });
    expect(unknown).toEqual([]);
  });

  it('are registered in forms that the list of their names can be gathered from', () => {
    expect(findUnreadRegistrations(repository)).toEqual([]);
    const series = gatherSeries(repository);
    const forms = [
      'runyard_http_requests_latency_bucket',
      'lg_api_http_requests_total',
      'lg_api_run_execution_latency_bucket',
      'lg_api_pg_pool_requests_errors_total',
      'lg_api_workers_max',
      'outbox_lag_seconds',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
    ];
    expect(forms.filter((name) => !series.has(name))).toEqual([]);
    expect(
      ['runyard_http_requests_latency', 'lg_api_max', 'http_requests_total'].filter((name) => series.has(name)),
    ).toEqual([]);
  });

  it('of database pools are reported by every service that has one', () => {
    const services = filesBelow(repository, 'services').filter((path) => /\/src\/(?!.*\.test\.ts$).*\.ts$/.test(path));
    const withFunction = (name: RegExp) =>
      new Set(
        services
          .filter((path) => name.test(readFileSync(join(repository, path), 'utf8')))
          .map((path) => path.split('/')[1]),
      );
    const opening = withFunction(/\bopen(?:ServiceDatabase|Pool)\b/);
    const reporting = withFunction(/\breport(?:Deployment)?PoolMetrics\(/);
    expect(opening).toContain('registry');
    expect([...opening].filter((service) => !reporting.has(service))).toEqual([]);
  });

  it('of an expression are its names without functions, labels, words and durations', () => {
    const expression =
      'histogram_quantile(0.9, sum by (le, job) (rate(one_bucket{path=~"two(x)",a="b}"}[5m]))) > 1e3 ' +
      'and on () (max without (three) (four offset 1h) unless four) == bool +Inf or vector(0)';
    expect(metricsIn(expression)).toEqual(['one_bucket', 'four']);
  });
});

it('scrape configurations of the page about monitoring are those that Prometheus accepts', async () => {
  const page = await textOf('docs/monitoring.md');
  const blocks = [...page.matchAll(/^```yaml\n(scrape_configs:[\s\S]*?)^```$/gm)].map(([, text]) => text!);
  expect(blocks).toHaveLength(2);
  for (const [index, block] of blocks.entries()) {
    // Debian builds promtool without what finds pods.
    const text = block.replaceAll('kubernetes_sd_configs: [{ role: pod }]', 'static_configs: [{ targets: [pod] }]');
    const file = await writeTemporary(`prometheus-${index}.yaml`, text);
    expect(await promtool('check', 'config', '--syntax-only', file)).toContain('SUCCESS');
  }
});

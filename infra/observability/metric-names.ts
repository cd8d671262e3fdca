import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { filesBelow } from '../rules/source-files.ts';

/** Prometheus makes it for every target. */
const OF_PROMETHEUS: readonly Metric[] = [{ name: 'up', kind: 'gauge' }];

interface Metric {
  name: string;
  /** Undefined where the source does not say it beside the name. */
  kind: 'counter' | 'gauge' | 'histogram' | undefined;
}

const METHODS: Record<string, Metric['kind']> = {
  counter: 'counter',
  collectCounter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
};
const CALL = String.raw`metrics\??\.(counter|collectCounter|gauge|histogram)\(\s*`;
/** A name that is written out, or that begins with the prefix of the service's HTTP metrics. */
const WRITTEN = new RegExp(`${CALL}(?:'(\\w+)'|\`\\$\\{prefix\\}(\\w+)\`)`, 'g');
/** A function of the file that registers metrics whose names it completes: `gauge = (name) => metrics.gauge(…name…`. */
const HELPER = new RegExp(`const (\\w+) = \\((\\w+): [^;]*?=>\\s*(?:${CALL}|\\(\\{ name: )(?:\`([^\`]*)\`|\\2)`, 'g');
const HTTP_PREFIX = /metricsPrefix(?:: | = )'(\w+_)'/g;
/** A registration whose name is neither written out nor given: it has a template of its own. */
const TEMPLATE = new RegExp(`${CALL}\`[^\`]*\``, 'g');

/**
 * Returns the names of all time series that the processes of the platform report, gathered from their sources: those of
 * services and packages, and of prom-client for what every process of Node.js reports.
 */
export function gatherSeries(repository: string): Set<string> {
  const metrics = [...readSources(repository).flatMap(metricsOf), ...readProcessMetrics(repository)];
  return new Set([...metrics, ...OF_PROMETHEUS].flatMap(seriesOf));
}

/** Returns the registrations of metrics, with their files, whose names `gatherSeries` cannot read. */
export function findUnreadRegistrations(repository: string): string[] {
  return readSources(repository).flatMap(({ path, text }) => {
    const read = [...text.matchAll(WRITTEN), ...text.matchAll(HELPER)].map(([all]) => all);
    return [...text.matchAll(TEMPLATE)]
      .filter(([call]) => !read.some((all) => all.includes(call)))
      .map(([call]) => `${path}: ${call}`);
  });
}

interface Source {
  path: string;
  text: string;
  httpPrefixes: readonly string[];
}

function readSources(repository: string): Source[] {
  const sources = ['services', 'packages']
    .flatMap((folder) => filesBelow(repository, folder))
    .filter((path) => path.includes('/src/') && path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
  const httpPrefixes = sources.flatMap(({ text }) => [...text.matchAll(HTTP_PREFIX)].map(([, prefix]) => prefix!));
  return sources
    .filter(({ text }) => /metrics|name: `/.test(text))
    .map((source) => ({ ...source, httpPrefixes: [...new Set(httpPrefixes)] }));
}

function metricsOf({ text, httpPrefixes }: Source): Metric[] {
  const written = [...text.matchAll(WRITTEN)].flatMap(([, method, name, ending]) =>
    (name === undefined ? httpPrefixes.map((prefix) => prefix + ending) : [name]).map((full) => ({
      name: full,
      kind: METHODS[method!],
    })),
  );
  const completed = [...text.matchAll(HELPER)].flatMap(([, helper, parameter, method, template]) =>
    [...text.matchAll(new RegExp(`(?<![.\\w])${helper}\\(\\s*'(\\w+)'`, 'g'))].map(([, given]) => ({
      name: template === undefined ? given! : template.replace(`\${${parameter}}`, given!),
      kind: method === undefined ? undefined : METHODS[method],
    })),
  );
  return [...written, ...completed];
}

function readProcessMetrics(repository: string): Metric[] {
  const { resolve } = createRequire(join(repository, 'packages/service-kit/package.json'));
  const folder = join(dirname(resolve('prom-client')), 'lib/metrics');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/'((?:process|nodejs)_\w+)'/g)])
    .map(([, name]) => ({ name: name!, kind: undefined }));
}

function seriesOf({ name, kind }: Metric): string[] {
  const parts = ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`);
  if (kind === 'histogram') return parts;
  return kind === undefined ? [name, ...parts] : [name];
}

/** A PromQL expression and the name of its series in the legend. */
export interface Query {
  expr: string;
  legend: string;
}

interface Panel {
  title: string;
  description?: string;
  /** A unit of Grafana, such as `s`, `ms`, `bytes`, `reqps` or `percentunit`. */
  unit: string;
  queries: readonly Query[];
  /** `number`: the newest value in large figures. Default: a line for each series. */
  kind?: 'lines' | 'number';
  /** The value from which the panel turns red: that of the alert where there is one. */
  alarmFrom?: number;
  /** Stacks the series on top of each other, for parts of a whole. */
  isStacked?: boolean;
}

interface Row {
  title: string;
  panels: readonly Panel[];
}

/** A variable whose values Prometheus knows. */
interface Variable {
  name: string;
  label: string;
  /** For example `label_values(up, job)`. */
  query: string;
  /** The regular expression that `All` stands for. */
  all: string;
}

/** A dashboard as the files of this folder describe it. `toGrafana` makes the file that Grafana imports. */
export interface Dashboard {
  title: string;
  description: string;
  variables: readonly Variable[];
  rows: readonly Row[];
}

/** A schema that Grafana knows from 10.4 on; newer ones migrate it while they load it. */
const SCHEMA_VERSION = 39;
const GRID_WIDTH = 24;
const SIZES = { lines: { w: 8, h: 8 }, number: { w: 4, h: 4 } } as const;
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills in its variable.
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Returns the dashboard in Grafana's format. Every data source in it is the variable `datasource`. */
export function toGrafana({ title, description, variables, rows }: Dashboard): object {
  return {
    title,
    description,
    tags: ['runyard'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [] },
    links: [linkToOthers],
    templating: { list: [datasourceVariable, ...variables.map(toGrafanaVariable)] },
    panels: placePanels(rows),
  };
}

/** Links to all dashboards with the tag, and keeps the time that is shown. */
const linkToOthers = {
  type: 'dashboards',
  title: 'Runyard',
  tags: ['runyard'],
  icon: 'external link',
  tooltip: '',
  asDropdown: false,
  targetBlank: false,
  includeVars: false,
  keepTime: true,
};

const datasourceVariable = {
  type: 'datasource',
  name: 'datasource',
  label: 'Data source',
  query: 'prometheus',
  refresh: 1,
};

function toGrafanaVariable({ name, label, query, all }: Variable): object {
  return {
    type: 'query',
    name,
    label,
    datasource: DATASOURCE,
    query: { query, refId: name },
    definition: query,
    allValue: all,
    includeAll: true,
    multi: true,
    current: { text: ['All'], value: ['$__all'] },
    refresh: 2,
    sort: 1,
  };
}

/** Lays panels out from left to right; one that does not fit begins a new line. */
function placePanels(rows: readonly Row[]): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    const gridPos = { x: 0, y, w: GRID_WIDTH, h: 1 };
    placed.push({ id: placed.length + 1, type: 'row', title, collapsed: false, gridPos, panels: [] });
    y += 1;
    let x = 0;
    let lineHeight = 0;
    for (const panel of panels) {
      const { w, h } = SIZES[panel.kind ?? 'lines'];
      if (x + w > GRID_WIDTH) {
        x = 0;
        y += lineHeight;
        lineHeight = 0;
      }
      placed.push({ id: placed.length + 1, gridPos: { x, y, w, h }, ...toGrafanaPanel(panel) });
      x += w;
      lineHeight = Math.max(lineHeight, h);
    }
    y += lineHeight;
  }
  return placed;
}

function toGrafanaPanel(panel: Panel): object {
  const { title, description, unit, queries, kind = 'lines', alarmFrom } = panel;
  const steps = [
    { color: 'green', value: null },
    ...(alarmFrom === undefined ? [] : [{ color: 'red', value: alarmFrom }]),
  ];
  return {
    type: kind === 'lines' ? 'timeseries' : 'stat',
    title,
    ...(description !== undefined && { description }),
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        ...(kind === 'lines' ? lineFields(panel) : { color: { mode: 'thresholds' } }),
      },
      overrides: [],
    },
    options:
      kind === 'lines'
        ? {
            legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
            tooltip: { mode: 'multi', sort: 'desc' },
          }
        : { colorMode: 'value', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'] } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}

function lineFields({ isStacked = false, alarmFrom }: Panel): object {
  return {
    color: { mode: 'palette-classic' },
    custom: {
      fillOpacity: isStacked ? 30 : 8,
      showPoints: 'never',
      stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
      thresholdsStyle: { mode: alarmFrom === undefined ? 'off' : 'dashed' },
    },
  };
}

import type { TSchema } from 'typebox';
import { ProjectFile, pythonSections } from '../schema.ts';
import { SECTION_VARIABLES } from '../section-variables.ts';
import { FOR_PYTHON, noEffectOf } from '../sections/no-effect.ts';

interface Described {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: TSchema[];
  items?: TSchema;
  properties?: Record<string, TSchema>;
}

/** Returns the keys of `langgraph.json` as Markdown tables: type, default, and effect of each, or why it has none. */
export function describeKeys(): string {
  const rows = [...rowsOf(ProjectFile.properties, ''), ...rowsOf(pythonSections, '')];
  const described = (isWanted: (row: Row) => boolean) =>
    table(['Key', 'Holds', 'Default', 'What it does'], rows.filter(isWanted), (row) => [
      row.key,
      row.form,
      row.default,
      row.text,
    ]);
  return [
    described(({ hasEffect, isForPython }) => hasEffect && !isForPython),
    '',
    'These are for Python projects, and a warning at start names each that another project has:',
    '',
    described(({ isForPython }) => isForPython),
    '',
    'These change nothing here, and a warning at start names each that is used:',
    '',
    table(
      ['Key', 'Why'],
      rows.filter(({ hasEffect }) => !hasEffect),
      (row) => [row.key, row.text],
    ),
  ].join('\n');
}

/** Returns a table of the variables and the keys they stand for. */
export function describeVariables(): string {
  const rows = Object.entries(SECTION_VARIABLES);
  return table(['Variable', 'Stands for'], rows, ([name, key]) => [`\`${name}\``, `\`${key}\``]);
}

interface Row {
  key: string;
  form: string;
  default: string;
  text: string;
  hasEffect: boolean;
  isForPython: boolean;
}

function rowsOf(keys: Record<string, TSchema>, path: string, isInPython = false): Row[] {
  return Object.entries(keys)
    .filter(([key]) => !key.startsWith('_'))
    .flatMap(([key, schema]) => {
      const described = schema as Described;
      const why = noEffectOf(schema, 'python');
      const isForPython = isInPython || noEffectOf(schema, 'javascript') === FOR_PYTHON;
      const name = path + key;
      const row: Row = {
        key: `\`${name}\``,
        form: formOf(described),
        default: described.default === undefined ? '' : `\`${JSON.stringify(described.default)}\``,
        text: why === undefined ? (described.description ?? '') : sentence(why),
        hasEffect: why === undefined,
        isForPython,
      };
      const inner = why === undefined ? rowsOf(described.properties ?? {}, `${name}.`, isForPython) : [];
      return [row, ...inner];
    });
}

function formOf(schema: Described): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.anyOf) return [...new Set(schema.anyOf.map((branch) => formOf(branch as Described)))].join(' or ');
  if (schema.type === 'array') return arrayOf(formOf((schema.items ?? {}) as Described));
  return schema.type ?? '';
}

function arrayOf(item: string): string {
  return /^\w+$/.test(item) ? `array of ${item}s` : `array of: ${item}`;
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function table<T>(heads: string[], rows: readonly T[], cells: (row: T) => string[]): string {
  const line = (texts: string[]) => `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map((row) => line(cells(row)))].join('\n');
}

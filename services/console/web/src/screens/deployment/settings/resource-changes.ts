import type { Deployment, DeploymentPatch } from '@runyard/contracts';

type ResourceSpec = NonNullable<Deployment['source_config']['resource_spec']>;

interface ResourceField {
  name: keyof ResourceSpec & string;
  label: string;
  hint?: string;
  isWhole: boolean;
}

/** The fields of the form. Others that a deployment has are kept as they are. */
export const RESOURCE_FIELDS = [
  { name: 'min_scale', label: 'Servers at least', isWhole: true },
  { name: 'max_scale', label: 'Servers at most', isWhole: true },
  { name: 'cpu', label: 'Cores of a server', isWhole: false },
  { name: 'memory_mb', label: 'MiB of heap of a server', isWhole: true },
  { name: 'queue_min_scale', label: 'Workers at least', isWhole: true },
  { name: 'queue_max_scale', label: 'Workers at most', isWhole: true },
  { name: 'queue_cpu', label: 'Cores of a worker', isWhole: false },
  { name: 'queue_memory_mb', label: 'MiB of heap of a worker', isWhole: true },
] as const satisfies readonly ResourceField[];
export type ResourceFieldName = (typeof RESOURCE_FIELDS)[number]['name'];
/** The fields as typed; empty: the default. */
export type ResourceDraft = Record<ResourceFieldName, string>;

export function resourceDraftOf({ source_config: { resource_spec: spec } }: Deployment): ResourceDraft {
  const entries = RESOURCE_FIELDS.map(({ name }) => [name, spec?.[name]?.toString() ?? '']);
  return Object.fromEntries(entries) as ResourceDraft;
}

/** Returns the sentence about each field that is no number. The bounds are the platform's. */
export function resourceFaults(draft: ResourceDraft): Map<ResourceFieldName, string> {
  return new Map(
    RESOURCE_FIELDS.flatMap(({ name, isWhole }) => {
      const text = draft[name].trim();
      if (text === '' || (isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text)) return [];
      return [[name, isWhole ? 'A whole number' : 'A number'] as const];
    }),
  );
}

/** Returns what to send for a draft, and undefined where it changes nothing. The specification is replaced whole. */
export function resourcePatch(
  deployment: Deployment,
  draft: ResourceDraft,
): Pick<DeploymentPatch, 'source_config'> | undefined {
  const before = resourceDraftOf(deployment);
  if (RESOURCE_FIELDS.every(({ name }) => before[name] === draft[name].trim())) return undefined;
  const names = new Set<string>(RESOURCE_FIELDS.map(({ name }) => name));
  const kept = Object.entries(deployment.source_config.resource_spec ?? {}).filter(([name]) => !names.has(name));
  const given = RESOURCE_FIELDS.flatMap(({ name }) => {
    const text = draft[name].trim();
    return text === '' ? [] : [[name, Number(text)]];
  });
  return { source_config: { resource_spec: Object.fromEntries([...kept, ...given]) } };
}

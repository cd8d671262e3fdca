import type { DeploymentPatch, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';

/** The fields that were given: a null means the same as no field. */
export function given<T extends object>(fields: T | null | undefined): Partial<T> {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}

/** Whether a change needs a new revision: what a running revision was started with cannot change under it. */
export function needsRevision(patch: DeploymentPatch): boolean {
  return (
    patch.secrets != null ||
    patch.source_config?.resource_spec != null ||
    Object.keys(given(patch.source_revision_config)).length > 0
  );
}

/** @throws BadRequestError when a field that is fixed at creation would change */
export function changedSourceConfig(current: SourceConfig, change: SourceConfig | null | undefined): SourceConfig {
  const { custom_url: _computed, ...fields } = given(change);
  for (const field of ['project_path', 'deployment_type'] as const) {
    if (fields[field] !== undefined && fields[field] !== current[field]) {
      throw new BadRequestError(`Source configuration error: 'source_config.${field}' cannot change.`);
    }
  }
  return { ...current, ...fields };
}

export function changedRevisionConfig(
  current: SourceRevisionConfig,
  change: SourceRevisionConfig | null | undefined,
): SourceRevisionConfig {
  return { ...current, ...given(change) };
}

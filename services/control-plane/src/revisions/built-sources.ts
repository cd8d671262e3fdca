import type { DeploymentSource } from '@runyard/contracts';

const BUILT_SOURCES: readonly DeploymentSource[] = ['github', 'internal_source'];

/** Returns whether the platform builds revisions of this source before they run. */
export function isBuiltSource(source: string): boolean {
  return BUILT_SOURCES.some((built) => built === source);
}

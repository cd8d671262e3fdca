import type { DeploymentSource } from '@runyard/contracts';

const BUILT_SOURCES: readonly DeploymentSource[] = ['github', 'internal_source'];

/** Returns whether the platform builds revisions of this source before they run. */
export function isBuiltSource(source: string): boolean {
  return BUILT_SOURCES.some((built) => built === source);
}

/**
 * Returns the sources that are built where data planes run them.
 *
 * @param options.runsProjects false: images are made of folders too
 */
export function builtSources({ runsProjects }: { runsProjects: boolean }): readonly DeploymentSource[] {
  return runsProjects ? BUILT_SOURCES : [...BUILT_SOURCES, 'local_directory'];
}

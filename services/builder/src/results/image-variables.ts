import { relative } from 'node:path';
import { type LocalProject, PROJECT_FOLDER } from '@runyard/deployments';

/**
 * Returns the variables by which an image describes its project (docs/images.md). They are of the file as it was read
 * before code of the project was loaded, which may have put a link to another file in its place.
 */
export function imageVariables({
  directory,
  configPath,
  hasCustomAuth,
  authSettings,
  env,
}: LocalProject): Record<string, string> {
  return {
    PROJECT_DIR: PROJECT_FOLDER,
    LANGGRAPH_CONFIG_PATH: relative(directory, configPath),
    // Whoever starts a container reads the variable alone.
    ...(hasCustomAuth && { LANGGRAPH_AUTH: env.LANGGRAPH_AUTH ?? JSON.stringify(authSettings) }),
  };
}

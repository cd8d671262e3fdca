export function requireCluster(environment?: NodeJS.ProcessEnv): Promise<string>;

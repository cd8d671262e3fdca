export { GitServer } from './git-server.ts';
export { GitServerApi, json, project, repository } from './git-server-api.ts';

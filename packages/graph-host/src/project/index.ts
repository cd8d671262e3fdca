export * from './project-environment.ts';
export * from './project-variables.ts';
export * from './read-project.ts';

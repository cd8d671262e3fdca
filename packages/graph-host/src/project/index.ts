export * from './project-environment.ts';
export * from './read-project.ts';

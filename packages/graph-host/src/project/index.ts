export * from './read-project.ts';

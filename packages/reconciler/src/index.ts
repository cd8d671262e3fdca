export { LeasedOwnership, type Ownership } from './ownership.ts';
export { type DeploymentWork, Reconciler, type StepResult, type StopOptions } from './reconciler.ts';

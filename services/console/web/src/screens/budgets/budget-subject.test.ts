import { expect, test } from 'vitest';
import { canBeOfOne, ownersOf, subjectOptions } from './budget-subject.ts';

const DEPLOYMENT = 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03';

test('a form offers the subjects that the platform takes for the place of a budget', () => {
  const subjects = (deploymentId?: string) =>
    subjectOptions({ workspaceId: 'w', deploymentId }).map(({ value }) => value);
  expect(subjects(DEPLOYMENT)).toEqual(['deployment', 'assistant', 'creator', 'key']);
  expect(subjects()).toEqual(['workspace', 'deployment', 'creator', 'key']);
});

test('each creator has a budget for itself unless one has it alone', () => {
  const ofCreators = { subject: 'creator', subject_id: null, deployment_id: DEPLOYMENT } as const;
  expect(ownersOf(ofCreators)).toBe('creator');
  expect(ownersOf({ ...ofCreators, deployment_id: null })).toBe('creator');
  expect(ownersOf({ ...ofCreators, subject_id: 'ada@example.com' })).toBeUndefined();
});

test('a deployment has its own budget together, and each deployment has one of the workspace for itself', () => {
  const ofDeployment = { subject: 'deployment', subject_id: null, deployment_id: DEPLOYMENT } as const;
  expect(ownersOf(ofDeployment)).toBeUndefined();
  expect(ownersOf({ ...ofDeployment, deployment_id: null })).toBe('deployment');
  expect(ownersOf({ subject: 'workspace', subject_id: null, deployment_id: null })).toBeUndefined();
});

test('a budget is for one alone only where the subject has ids that a person may choose', () => {
  const subjects = ['workspace', 'deployment', 'assistant', 'creator', 'key'] as const;
  expect(subjects.filter(canBeOfOne)).toEqual(['assistant', 'creator', 'key']);
});

export type { BudgetsOutcome, DesiredBudgets } from './budgets/desired-budgets.ts';
export { Artifacts, type BuildInput, type BuildName } from './builds/artifacts.ts';
export { PROJECT_FILES_MAX, PROJECT_LEVELS_MAX } from './builds/project-files.ts';
export { PROJECT_FOLDER } from './builds/project-folder.ts';
export { projectLayer } from './builds/project-layer.ts';
export { writeTar } from './builds/write-tar.ts';
export { objectName } from './compute/object-names.ts';
export { findPodOverrideFault, type PodRules } from './compute/pod-overrides.ts';
export { type Counts, firstCount, type ReplicaRole, resourcesOf, scaleBounds } from './compute/scale-bounds.ts';
export { capacityOf, decideScale, type Recommendation, type RoleLoad } from './compute/scaling-policy.ts';
export { Semaphore } from './compute/semaphore.ts';
export {
  chooseDriverKinds,
  containerKind,
  DRIVER_KINDS,
  type DriverKind,
  driverKindOf,
  driverKindVariables,
  findPodRules,
  kubernetesKind,
  processKind,
  runsArtifact,
} from './drivers/driver-kinds.ts';
export { type DesiredHalt, type HaltOutcome, type HaltProgress, uniteHalts } from './halts/desired-halt.ts';
export { haltStateOf } from './halts/halt-state.ts';
export { HostNames, isRoot } from './hosts/host-names.ts';
export { distinctSlugOf, slugOf } from './hosts/slug.ts';
export { AGENT_SERVER_LABEL, AGENT_SERVER_VERSION } from './images/agent-server-label.ts';
export { ProjectImages } from './images/project-images.ts';
export { CombinedSamples } from './metrics/combined-samples.ts';
export type { DeploymentMetricValues, Sample, SampleSink } from './metrics/sample.ts';
export type { Artifact, ImageArtifact } from './revisions/artifact.ts';
export { BuildError } from './revisions/build-error.ts';
export { builtSources, isBuiltSource } from './revisions/built-sources.ts';
export { isEmpty } from './revisions/empty-revision.ts';
export { isImageSource } from './revisions/image-sources.ts';
export { type LocalProject, openFolderOf, openLocalDirectory } from './revisions/local-directory.ts';
export { hasReached, isWaiting } from './revisions/revision-progress.ts';
export { RevisionStartError } from './revisions/revision-start-error.ts';
export { failRevision, RevisionEndedError, type RevisionStatuses, reachStatus } from './revisions/revision-steps.ts';
export { mayFollow, predecessorsOf } from './revisions/revision-transitions.ts';
export type { Activation, RolloutDeployment, RolloutRevision } from './revisions/rollout-rows.ts';
export { parseStatuses } from './revisions/status-filter.ts';
export { DeploymentTokens } from './secrets/deployment-tokens.ts';
export { passwordPlace } from './secrets/password-place.ts';
export { checkReferences, ReferencedSecrets, secretReferencesVariable } from './secrets/secret-references.ts';
export { checkSecrets, SecretSets } from './secrets/secret-set.ts';
export { StoredSourceConfig, toSentUrl } from './sources/custom-url.ts';
export { checkImage } from './sources/image-rules.ts';
export { chooseNamespace, parseComputeConfig } from './sources/namespace-rules.ts';
export {
  changeRevisionSource,
  changeSourceConfig,
  checkCommit,
  checkNoRevisionFields,
  needsRevision,
  type RevisionSource,
  removeComputedFields,
  toStoredSourceConfig,
} from './sources/source-changes.ts';
export { invalidSource, missingField } from './sources/source-fields.ts';
export { checkSourceRules } from './sources/source-rules.ts';
export { clearUser } from './system-users/clear-user.ts';
export { endProcesses } from './system-users/end-processes.ts';
export { isOfUser } from './system-users/process-users.ts';
export { projectUsersVariable, type SystemUser, UserRange } from './system-users/user-range.ts';

import type { SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import type { RolloutRevision } from '@runyard/deployments';
import { BuildError } from '@runyard/deployments';
import { fullRef, type RepositoryRules, resolveRepository } from '@runyard/git-servers';
import { BadRequestError } from '@runyard/service-kit';
import type { BuildSource, BuildSources } from '../build-source.ts';

/** The ref by which git servers name the default branch of a repository. */
const DEFAULT_BRANCH = 'HEAD';

export interface GithubSourceOptions {
  rules: RepositoryRules;
  /** Returns the token of the deployment's integration; null without one. */
  tokenOf(revision: RolloutRevision): Promise<string | null>;
}

/** Provides commits of repositories as sources of `github` revisions, which builders fetch with plain git. */
export function githubSources(options: GithubSourceOptions): BuildSources {
  return { github: async (revision) => githubSource(revision, options) };
}

function githubSource(revision: RolloutRevision, { rules, tokenOf }: GithubSourceOptions): BuildSource {
  const { repo_url: repoUrl } = revision.sourceConfig as SourceConfig;
  const { repo_ref: ref, repo_commit_sha: sha } = revision.sourceRevisionConfig as SourceRevisionConfig;
  if (repoUrl == null) throw new Error(`revision ${revision.id} has no source`);
  return {
    // A branch moves, so every revision may have another commit.
    key: `${repoUrl} ${revision.id}`,
    async describe() {
      // The builder connects to the address that is checked here, whatever the name has later.
      const repository = await resolveRepository(repoUrl, rules).catch((error: unknown) => {
        throw error instanceof BadRequestError ? new BuildError(error.message, { cause: error }) : error;
      });
      const wanted = sha ?? (ref == null ? DEFAULT_BRANCH : fullRef(ref));
      const token = await tokenOf(revision);
      return () => ({ kind: 'repository', ...repository, ref: wanted, token });
    },
  };
}

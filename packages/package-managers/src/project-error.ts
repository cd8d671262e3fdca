/** The project cannot be installed as it is, and why: a sentence for its author. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError';
}

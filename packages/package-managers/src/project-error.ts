/** The project cannot be installed. The message is a sentence for its author. */
export class ProjectError extends Error {
  override readonly name = 'ProjectError';
}

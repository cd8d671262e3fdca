/** The source cannot be built, and building it again would not help. The message is for its owner. */
export class BuildFailure extends Error {
  override readonly name = 'BuildFailure';
}

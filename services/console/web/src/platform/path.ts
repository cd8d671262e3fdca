/** A path of the platform, in which each id is one segment. It is made by {@link at} alone. */
export class PlatformPath {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Makes a path of the platform: ``at`/deployments/${id}/threads` ``. Ids are encoded, whatever they are: a project answers
 * with ids of its own making, and a link can name any; none of them may lead a person's rights to another place. A path
 * within a path stays as it is.
 *
 * @throws Error for an id that no encoding keeps from being a step upwards, or that is empty
 */
export function at(texts: TemplateStringsArray, ...parts: (string | PlatformPath)[]): PlatformPath {
  const encoded = parts.map((part) => (part instanceof PlatformPath ? part.text : segmentOf(part)));
  return new PlatformPath(texts.map((text, index) => text + (encoded[index] ?? '')).join(''));
}

function segmentOf(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new Error(`"${id}" is no id`);
  return encodeURIComponent(id);
}

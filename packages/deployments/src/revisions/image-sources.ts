const IMAGE_SOURCES: readonly string[] = ['internal_docker', 'external_docker'];

/** Returns whether revisions of this source are images. */
export function isImageSource(source: string): boolean {
  return IMAGE_SOURCES.includes(source);
}

/**
 * One instruction of a Dockerfile, in the part of the language that our own files use: no heredocs, no ARG, no ONBUILD.
 */
export interface Instruction {
  name: string;
  text: string;
}

export interface Stage {
  name: string;
  instructions: Instruction[];
}

/** Returns the stages of a Dockerfile in order; the last one is the image. */
export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  const lines = text.replace(/\\\n/g, ' ').split('\n');
  for (const line of lines) {
    const [, name = '', rest = ''] = /^\s*([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (!name || line.trimStart().startsWith('#')) continue;
    if (name === 'FROM') stages.push({ name: / AS (\S+)$/i.exec(rest)?.[1] ?? `${stages.length}`, instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text: rest.trim() });
  }
  return stages;
}

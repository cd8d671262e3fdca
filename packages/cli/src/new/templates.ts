import { fileURLToPath } from 'node:url';

export interface Template {
  /** Also the name of its folder, below that of each language. */
  name: string;
  description: string;
}

export interface Language {
  name: string;
  folder: string;
  description: string;
  /** The shell command that installs the packages of a project. */
  install: string;
}

/** The templates of `runyard new`, each in both languages. The first is the one that most people want. */
export const TEMPLATES: readonly [Template, ...Template[]] = [
  { name: 'react-agent', description: 'an agent with tools that asks a person before it sends an email' },
  { name: 'retrieval', description: 'an agent that answers from your documents, which it searches by meaning' },
  { name: 'deep-agent', description: 'an agent that plans, has another agent look things up, and writes a report' },
  { name: 'custom-auth', description: 'an agent behind users of your own, who see nothing of each other' },
];

/** The languages by what `--language` calls them. */
export const LANGUAGES: readonly [Language, ...Language[]] = [
  {
    name: 'js',
    folder: 'javascript',
    description: 'TypeScript, on Node.js 20.19 or newer',
    install: 'npm install',
  },
  {
    name: 'python',
    folder: 'python',
    description: 'Python 3.11 or newer',
    install: 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
  },
];

/** Npm leaves a `.gitignore` out of packages, so templates are kept without the dot of such files. */
const DOTTED: ReadonlySet<string> = new Set(['gitignore', 'env.example']);

/** Returns the name that a file of a template has in a project. */
export function projectFileName(name: string): string {
  return DOTTED.has(name) ? `.${name}` : name;
}

/** Returns the folders whose files, one over the other, are a project. */
export function foldersOf(template: Template, language: Language): string[] {
  // The bundle of the command has them beside itself.
  const root = new URL(import.meta.url.endsWith('.ts') ? '../../templates/' : './templates/', import.meta.url);
  return ['shared', template.name].map((name) => fileURLToPath(new URL(`${language.folder}/${name}`, root)));
}

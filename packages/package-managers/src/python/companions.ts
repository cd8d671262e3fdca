import { ProjectError } from '../project-error.ts';

/**
 * Packages that official images contain beside LangGraph's own. Projects use them without naming them, so they are
 * added where they are missing, in these releases.
 */
export const COMPANIONS: Readonly<Record<string, string>> = {
  langgraph: '1.2.24',
  'langgraph-sdk': '0.4.14',
  'langchain-core': '1.8.3',
  starlette: '1.10.0',
  uvicorn: '0.54.0',
  httpx: '0.28.1',
  orjson: '3.13.0',
  structlog: '26.1.0',
  pyjwt: '2.15.1',
  cryptography: '50.0.2',
  'python-dotenv': '1.2.4',
  cloudpickle: '3.1.3',
};

const LANGGRAPH = 'langgraph';
/** The releases that the Python host runs. */
const OLDEST = [0, 6];
const NEXT_MAJOR = 2;

/** A constraint of pip: a project that asks for no release of LangGraph gets one that runs here. */
export const LANGGRAPH_CONSTRAINT = `${LANGGRAPH}<${NEXT_MAJOR}`;

/** Reads `name==version` lines, as `pip freeze` prints them. Names are written with `-`, in lower case. */
export function parseReleases(lines: readonly string[]): Map<string, string> {
  const pairs = lines.flatMap((line) => {
    const [, name, version] = /^([\w.-]+)==(\S+)$/.exec(line) ?? [];
    return name !== undefined && version !== undefined ? [[normalize(name), version] as const] : [];
  });
  return new Map(pairs);
}

const normalize = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-');

/** Returns the requirements of the companions that are not installed. */
export function missingCompanions(installed: ReadonlyMap<string, string>): string[] {
  return Object.entries(COMPANIONS).flatMap(([name, version]) => (installed.has(name) ? [] : [`${name}==${version}`]));
}

/** @throws ProjectError for a LangGraph that does not run here */
export function checkLangGraph(installed: ReadonlyMap<string, string>): void {
  const version = installed.get(LANGGRAPH);
  if (version === undefined) return;
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST;
  const isTooOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  if (!isTooOld && major < NEXT_MAJOR) return;
  const needed = isTooOld ? `${OLDEST.join('.')}.0 or newer` : `one below ${NEXT_MAJOR}`;
  throw new ProjectError(`The project's langgraph is ${version}; ${needed} is needed.`);
}

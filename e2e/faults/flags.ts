import { parseArgs } from 'node:util';
import { type Goal, isOfTier, type Tier } from './bench/goal.ts';
import { LANGUAGES, type Language } from './bench/probe-project.ts';

export interface FaultBenchFlags {
  tier: Tier;
  seed: number;
  goals: Goal[];
  scale: number;
  isRecorded: boolean;
  /** The git ref of the release before this one. */
  previous: string | undefined;
  /** True when the projects' own code knows the users who make the requests. */
  hasUsers: boolean;
  /** The language of the probe graphs. */
  language: Language;
  /** True when only the page is written, and nothing is run. */
  isReportOnly: boolean;
  help: boolean;
}

export const usage = `npm run test:faults -- [options]

  --tier fast|full   how much of each goal (default full); fast is what npm test shows
  --seed N           choices that come out the same again (default: a new one, printed)
  --only R1,R4       these goals alone
  --scale 0.1        sizes multiplied, to try a goal out
  --previous REF     the release that runs beside this one in R17 (default: the newest tag v*)
  --language python  with graphs in Python instead of JavaScript (R1, R2, R8, R12, R13, R16, R17, R23)
  --users            custom authentication is on (R1, R8, R13): two users, who must see nothing of each other
  --record           keep the results in e2e/faults/results and write docs/reliability.md
  --report           only write docs/reliability.md from the results that are kept
`;

/** @throws Error with a sentence for the person at the keyboard */
export function readFlags(args: string[], all: readonly Goal[]): FaultBenchFlags {
  const { values } = parseArgs({
    args,
    options: {
      tier: { type: 'string', default: 'full' },
      seed: { type: 'string' },
      only: { type: 'string' },
      scale: { type: 'string', default: '1' },
      previous: { type: 'string' },
      users: { type: 'boolean', default: false },
      language: { type: 'string', default: 'javascript' },
      report: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { tier, only } = values;
  if (tier !== 'fast' && tier !== 'full') throw new Error(`--tier is fast or full, not "${tier}".`);
  const language = LANGUAGES.find((each) => each === values.language);
  if (language === undefined) throw new Error(`--language is ${LANGUAGES.join(' or ')}, not "${values.language}".`);
  const named = only?.split(',').map((id) => {
    const goal = all.find((each) => each.id.toLowerCase() === id.trim().toLowerCase());
    if (!goal) throw new Error(`There is no goal "${id}", only ${all.map((each) => each.id).join(', ')}.`);
    return goal;
  });
  if (values.record && (tier !== 'full' || values.scale !== '1'))
    throw new Error('--record is for what was measured in full: --tier full, --scale 1.');
  if (values.users && values.record) throw new Error('--record is for what is measured without --users.');
  if (values.users && language === 'python') throw new Error('--users is for graphs in JavaScript.');
  const chosen = named ?? all.filter((goal) => isOfTier(goal, tier, language) && (!values.users || goal.canHaveUsers));
  const without = chosen.find((goal) => values.users && !goal.canHaveUsers);
  if (without) throw new Error(`${without.id} cannot be run with --users.`);
  const unable = chosen.find((goal) => !isOfTier(goal, 'full', language));
  if (unable) throw new Error(`${unable.id} has no graphs in ${language}.`);
  return {
    tier,
    seed: values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : wholeNumber('--seed', values.seed),
    goals: chosen,
    scale: positive('--scale', values.scale),
    isRecorded: values.record,
    previous: values.previous,
    hasUsers: values.users,
    language,
    isReportOnly: values.report,
    help: values.help,
  };
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${flag} takes a whole number, not "${text}".`);
  return Number(text);
}

function positive(flag: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${flag} takes a number above 0, not "${text}".`);
  return number;
}

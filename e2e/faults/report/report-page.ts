import type { Goal } from '../bench/goal.ts';
import { hasEnoughSamples, isMet, type Measure } from '../bench/measure.ts';
import { isGoalMet } from '../bench/run-goal.ts';
import { goalLimits } from './goal-limits.ts';
import { goalNotes } from './notes.ts';
import { promises } from './promises.ts';
import type { RecordedOutcome } from './results.ts';
import { readShippedDefaults } from './shipped-defaults.ts';

/** Returns docs/reliability.md: the promises, and for each goal the measures with their seeds. */
export function formatReport(goals: readonly Goal[], outcomes: readonly RecordedOutcome[]): string {
  const ofGoal = (goal: Goal) => outcomes.filter((outcome) => outcome.goal === goal.id);
  return [
    '# Reliability',
    '',
    promises,
    '',
    '## Goals at a glance',
    '',
    '| Goal | Promise | Reached with seeds | Not reached with |',
    '|---|---|---|---|',
    ...goals.map((goal) => overviewRow(goal, ofGoal(goal))),
    '',
    ...goals.flatMap((goal) => [...section(goal, ofGoal(goal)), '']),
  ].join('\n');
}

function overviewRow(goal: Goal, outcomes: RecordedOutcome[]): string {
  const seeds = (wanted: boolean) =>
    outcomes
      .filter((outcome) => isGoalMet(outcome) === wanted)
      .map(nameOf)
      .join(', ') || '–';
  return `| [${goal.id}](#${goal.id.toLowerCase()}) | ${goal.title} | ${seeds(true)} | ${seeds(false)} |`;
}

function section(goal: Goal, outcomes: RecordedOutcome[]): string[] {
  const note = goalNotes[goal.id];
  const lines = [`## ${goal.id}`, '', goal.title, '', ...askedLines(goal), ...(note ? ['', note] : [])];
  if (outcomes.length === 0) return [...lines, '', 'Not measured yet.'];
  const seeds = outcomes.map(
    (outcome) => `${nameOf(outcome)} (${outcome.commit}, ${outcome.measuredAt}, ${outcome.seconds} s)`,
  );
  const measured = [...new Set(outcomes.flatMap(({ measures }) => measures.map(({ what }) => what)))];
  return [
    ...lines,
    '',
    `Seeds: ${seeds.join('; ')}.`,
    '',
    settingsLine(outcomes),
    '',
    `| Measured | Limit | ${outcomes.map((outcome) => `Seed ${nameOf(outcome)}`).join(' | ')} |`,
    `|---|---|${outcomes.map(() => '---').join('|')}|`,
    ...measured.map((what) => measureRow(what, outcomes)),
    ...outcomes.flatMap((outcome) =>
      outcome.error ? ['', `Seed ${nameOf(outcome)} broke off: ${firstLine(outcome.error)}`] : [],
    ),
  ];
}

function askedLines(goal: Goal): string[] {
  const { limits, departures = [] } = goalLimits[goal.id] ?? {};
  if (!limits) throw new Error(`goal-limits.ts does not say what ${goal.id} asks for`);
  return [
    `Asked for: ${limits}`,
    ...(departures.length > 0 ? ['', 'Measured otherwise:', '', ...departures.map((each) => `- ${each}`)] : []),
  ];
}

/** Returns the settings of the services that differed from the shipped defaults, in any of the outcomes. */
function settingsLine(outcomes: RecordedOutcome[]): string {
  const names = [...new Set(outcomes.flatMap(({ settings }) => Object.keys(settings)))].sort();
  const shipped = readShippedDefaults();
  const differing = names.flatMap((name) => {
    const values = new Set(outcomes.flatMap(({ settings }) => settings[name] ?? []));
    const ships = shipped.get(name);
    if (values.size === 1 && ships !== undefined && values.has(ships)) return [];
    return [`\`${name}\` ${[...values].sort().join(' or ')} (ships ${ships ?? 'unset'})`];
  });
  return `Settings that differ from those that ship: ${differing.length > 0 ? differing.join(', ') : 'none'}.`;
}

function measureRow(what: string, outcomes: RecordedOutcome[]): string {
  const found = outcomes.map(({ measures }) => measures.find((measure) => measure.what === what));
  const known = found.find((measure) => measure !== undefined);
  const limit = known ? `${known.atLeast ? '≥' : '≤'} ${known.limit} ${known.unit}`.trim() : '';
  return `| ${what} | ${limit} | ${found.map((measure) => (measure ? cell(measure) : '–')).join(' | ')} |`;
}

function cell(measure: Measure): string {
  const value = Math.round(measure.measured * 100) / 100;
  const tooFew = hasEnoughSamples(measure) ? '' : `, **of ${measure.needed ?? 1} needed**`;
  return `${isMet(measure) ? value : `**${value}**`} of ${measure.samples}${tooFew}`;
}

/** Names an outcome among those of its goal. */
const nameOf = ({ seed, language }: RecordedOutcome) => (language === 'python' ? `${seed} with Python` : String(seed));

const firstLine = (text: string) => text.split('\n')[0] ?? '';

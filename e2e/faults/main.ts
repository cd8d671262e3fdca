import { readFlags, usage } from './flags.ts';
import { goals } from './goals/index.ts';
import { writeReport } from './report/write-report.ts';
import { printLine, printSummary, runGoals } from './run-goals.ts';

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2), goals);
  if (flags.help) return void printLine(usage);
  if (flags.isReportOnly) return writeReport();
  const outcomes = await runGoals(flags);
  printSummary(outcomes, (failed) => {
    const language = flags.language === 'javascript' ? '' : ` --language ${flags.language}`;
    return `npm run test:faults -- --seed ${flags.seed} --only ${failed.join(',')}${language}`;
  });
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});

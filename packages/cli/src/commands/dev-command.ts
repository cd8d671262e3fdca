import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { type DevFlags, dev } from '../dev/dev.ts';
import { type DoctorFlags, doctor } from '../dev/doctor.ts';
import { jsonOption, parseWholeNumber } from './options.ts';

const HELP = `
The services are those of this package, or of a checkout of Runyard that RUNYARD_HOME names or this command lies in:
there they are installed and built as far as anything changed. While it runs, other commands in this folder speak with it
when nothing else says where the platform is. Ctrl-C stops everything; the data stays.`;

const DOCTOR_HELP = `
Nothing is started, fetched or written. The options are those of \`runyard dev\`, which would start where this exits with 0.

Exit codes: 0 nothing is missing, 1 something is, 2 wrong use.`;

/** Adds `dev` and `doctor`. */
export function addDevCommands(program: Command, context: CommandContext, end: (exitCode: number) => void): void {
  addPlaceOptions(
    program
      .command('dev')
      .summary('run the platform on this machine, with the project in this folder')
      .description(
        'Runs the whole platform on this machine, with the project in this folder as the agent server at its root.',
      ),
  )
    .option('--auth', 'the agent server needs a key too, also for this machine')
    .option(
      '--origin <url...>',
      'pages of this origin may call it without a key, as local ones and LangGraph Studio may',
    )
    .addOption(
      new Option(
        '--reload <mode>',
        'after an edit, runs in flight end on the code before it (drain, the default), or go on with the new one',
      ).choices(['drain', 'resume']),
    )
    .option('--no-reload', 'edits of the project take effect at the next start')
    .option('--verbose', 'print what the servers of the project log, besides its runs and what its code prints')
    .option('--quiet', 'print neither')
    .addHelpText('after', HELP)
    .action(async (flags: DevFlags) => end(await dev(flags, context)));
  addPlaceOptions(
    program
      .command('doctor')
      .summary('say what is missing on this machine to run the project in this folder')
      .description('Says what `runyard dev` needs, what of it is missing here, and how to get it.'),
  )
    .addOption(jsonOption('checks'))
    .addHelpText('after', DOCTOR_HELP)
    .action(async (flags: DoctorFlags) => end(await doctor(flags, context)));
}

/** Adds the options that say where the platform runs, and with what. */
function addPlaceOptions(command: Command): Command {
  return command
    .option('--project <folder>', 'the folder of the project', '.')
    .option('--port <port>', 'where the platform listens; 0 takes a free port', parseWholeNumber(0, 65_535), 2024)
    .option('--data-dir <path>', 'where everything is kept between starts (default: .runyard in the project)')
    .option('--kafka', 'carry events over Kafka, which needs Java 17 and Maven, instead of Redis Streams')
    .option(
      '--host <host>',
      'what it listens on; where other machines reach it, each request needs a key',
      '127.0.0.1',
    );
}

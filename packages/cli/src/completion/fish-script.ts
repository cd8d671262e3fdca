import type { CommandNode } from './command-tree.ts';
import { quoteWord } from './quote-word.ts';

/** Returns the script for fish, which shows what each command and option is for. */
export function fishScript(nodes: CommandNode[]): string {
  const lines = nodes.flatMap(({ path, commands, options, choices }) => {
    const start = `complete -c runyard -n ${quoteWord(path === '' ? '__runyard_at' : `__runyard_at ${path}`)}`;
    return [
      ...commands.map(({ name, description }) => `${start} -f -a ${quoteWord(name)} -d ${quoteWord(description)}`),
      ...choices.map((choice) => `${start} -f -a ${quoteWord(choice)}`),
      ...options.map(({ flags, description, takesValue, choices: values }) => {
        const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        const value = values.length > 0 ? ` -x -a ${quoteWord(values.join(' '))}` : takesValue ? ' -r' : '';
        return `${start} ${names.join(' ')}${value} -d ${quoteWord(description)}`;
      }),
    ];
  });
  const withValue = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags }) => flags.map((flag) => quoteWord(`${path}/${flag}`))),
  );
  const steps = nodes.flatMap(({ path, commands }) => commands.map(({ name }) => quoteWord(`${path}/${name}`)));
  return `# fish completion of runyard: runyard completion fish | source
# Whether the words before the cursor name this command, and none below it.
function __runyard_at
  set -l at
  set -l takes 0
  for word in (commandline -opc)[2..-1]
    if test $takes = 1
      set takes 0
    else if string match -q -- '-*' $word
      contains -- "$at/$word" ${withValue.join(' ')}; and set takes 1
    else if contains -- "$at/$word" ${steps.join(' ')}
      set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv"
end
${lines.join('\n')}
`;
}

import type { CommandNode } from './command-tree.ts';
import { quoteWord } from './quote-word.ts';

/** Returns the arms of a `case` on "command/word" of bash or zsh that set `at` to the command which the word leads to. */
export function stepArms(nodes: CommandNode[]): string {
  const arms = nodes.flatMap(({ path, commands }) =>
    commands.map(({ name }) => {
      const next = [path, name].filter(Boolean).join(' ');
      return `      ${quoteWord(`${path}/${name}`)}) at=${quoteWord(next)} ;;`;
    }),
  );
  return arms.join('\n');
}

/** Returns the arms on "command/option" that set `value` to the values which an option may have, for those that take one. */
export function valueArms(nodes: CommandNode[]): string {
  const arms = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags, choices }) =>
        flags.map((flag) => `    ${quoteWord(`${path}/${flag}`)}) value=${quoteWord(choices.join(' '))} ;;`),
      ),
  );
  return arms.join('\n');
}

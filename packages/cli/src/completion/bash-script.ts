import { stepArms, valueArms } from './case-arms.ts';
import type { CommandNode } from './command-tree.ts';
import { quoteWord } from './quote-word.ts';

/**
 * Returns the script for bash, which needs no other package. It reads the words up to the cursor to the
 * command that they name, and offers what that has; files where it has nothing to offer.
 */
export function bashScript(nodes: CommandNode[]): string {
  const words = (list: string[]) => quoteWord(list.join(' '));
  const offers = nodes.map(({ path, commands, options, choices }) => {
    const names = [...commands.map(({ name }) => name), ...choices];
    const flags = options.flatMap((option) => option.flags);
    return `    ${quoteWord(path)}) names=${words(names)} flags=${words(flags)} ;;`;
  });
  return `# bash completion of runyard: eval "$(runyard completion bash)"
# Sets \`value\` to the values of an option of a command, or to - where it takes none.
_runyard_value() {
  value=-
  case "$1/$2" in
${valueArms(nodes)}
  esac
}
_runyard() {
  local current=\${COMP_WORDS[COMP_CWORD]} at= value=- word names flags index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    # Bash makes a word of the = in --option=value.
    if [[ $word == = ]]; then
      continue
    elif [[ $value != - ]]; then
      value=-
    elif [[ $word == -* ]]; then
      _runyard_value "$at" "$word"
    else
      case "$at/$word" in
${stepArms(nodes)}
      esac
    fi
  done
  if [[ $current == = ]]; then
    current=
  fi
  if [[ $value != - ]]; then
    COMPREPLY=($(compgen -W "$value" -- "$current"))
    return
  fi
  case "$at" in
${offers.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$names" -- "$current"))
  fi
}
complete -o default -F _runyard runyard
`;
}

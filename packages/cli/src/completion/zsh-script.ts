import { stepArms, valueArms } from './case-arms.ts';
import type { CommandNode } from './command-tree.ts';
import { quoteWord } from './quote-word.ts';

/** Returns the script for zsh, which shows what each command and option is for. */
export function zshScript(nodes: CommandNode[]): string {
  // A colon stands between a word and its description.
  const described = (word: string, description: string) =>
    quoteWord(`${word.replaceAll(':', ' ')}:${description.replaceAll(':', ' -').replaceAll('\n', ' ')}`);
  const offers = nodes.map(({ path, commands, options, choices }) => {
    const names = [...commands.map(({ name, description }) => described(name, description)), ...choices.map(quoteWord)];
    const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
    return `    ${quoteWord(path)}) names=(${names.join(' ')}); flags=(${flags.join(' ')}) ;;`;
  });
  return `#compdef runyard
# zsh completion of runyard: source <(runyard completion zsh), after compinit
# Sets \`value\` to the values of an option of a command, or to - where it takes none.
_runyard_value() {
  value=-
  case "$1/$2" in
${valueArms(nodes)}
  esac
}
_runyard() {
  local at= value=- word index
  local -a names flags
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    if [[ $value != - ]]; then
      value=-
    elif [[ $word == -*=* ]]; then
      continue
    elif [[ $word == -* ]]; then
      _runyard_value "$at" "$word"
    else
      case "$at/$word" in
${stepArms(nodes)}
      esac
    fi
  done
  if [[ $value == - && \${words[CURRENT]} == -*=* ]]; then
    _runyard_value "$at" "\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  if [[ -n $value && $value != - ]]; then
    compadd -- \${=value}
    return
  elif [[ -z $value ]]; then
    _files
    return
  fi
  case "$at" in
${offers.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o option flags
  elif (( \${#names} )); then
    _describe command names
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _runyard ]]; then
  _runyard "$@"
else
  compdef _runyard runyard
fi
`;
}

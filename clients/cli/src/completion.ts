import type { Command } from 'commander';
import { Failure } from './failure.ts';

const SCRIPTS = { bash: forBash, zsh: forZsh, fish: forFish } as const;
export const SHELLS = Object.keys(SCRIPTS);

/** @returns a script for a shell. @throws Failure for a shell that has none. */
export function completion(program: Command, shell: string): string {
  if (!Object.hasOwn(SCRIPTS, shell)) {
    throw new Failure(`There is no completion for ${shell}.`, `Give one of: ${SHELLS.join(', ')}`, 2);
  }
  return SCRIPTS[shell as keyof typeof SCRIPTS](program);
}

/** Only `upload` takes files of this machine as arguments. */
const takesFiles = (command: Command) => command.name() === 'upload';

/** Quotes a text in a way that all three shells understand. No name or description of our commands has a single quote. */
const quoted = (text: string) => `'${text}'`;

/** When the script has no suggestion, Bash completes the names of files. */
function forBash(program: Command): string {
  const flagsOf = ({ options }: Command) => [...options.map(({ long }) => long), '--help'].join(' ');
  const names = program.commands.map((command) => command.name()).join(' ');
  const cases = program.commands.map((command) => {
    const shells = command.name() === 'completion' ? ` ${SHELLS.join(' ')}` : '';
    return `    ${[command.name(), ...command.aliases()].map((name) => `*:${name}`).join('|')}) words=${quoted(flagsOf(command) + shells)} ;;\n`;
  });
  return `# source <(file-hosting completion bash)
_file_hosting() {
  local word=\${COMP_WORDS[COMP_CWORD]} words=
  case $COMP_CWORD:\${COMP_WORDS[1]} in
    1:*) words=${quoted(`${names} ${flagsOf(program)}`)} ;;
${cases.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _file_hosting file-hosting
`;
}

function forZsh(program: Command): string {
  const commands = program.commands.map((command) => quoted(`${command.name()}:${command.description()}`));
  const cases = program.commands.map((command) => {
    const options = command.options.map(({ long, description, required }) =>
      quoted(`${long}[${description}]${required ? ':value:' : ''}`),
    );
    const files = takesFiles(command) ? [quoted('*:file:_files')] : [];
    const shells = command.name() === 'completion' ? [quoted(`1:shell:(${SHELLS.join(' ')})`)] : [];
    return `    ${[command.name(), ...command.aliases()].join('|')}) _arguments ${[...options, quoted('--help[show help]'), ...files, ...shells].join(' ')} ;;\n`;
  });
  return `#compdef file-hosting
# source <(file-hosting completion zsh)
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i -D }
_file_hosting() {
  if ((CURRENT == 2)); then
    local -a commands=(${commands.join(' ')})
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  ((CURRENT--))
  case $name in
${cases.join('')}  esac
}
compdef _file_hosting file-hosting
`;
}

function forFish(program: Command): string {
  const start = 'complete -c file-hosting';
  const lines = program.commands.flatMap((command) => {
    const seen = `-n ${quoted(`__fish_seen_subcommand_from ${[command.name(), ...command.aliases()].join(' ')}`)}`;
    const options = command.options.map(
      ({ long, description, required }) => `-l ${long?.slice(2)} ${required ? '-r ' : ''}-d ${quoted(description)}`,
    );
    const files = takesFiles(command) ? ['-F'] : [];
    const shells = command.name() === 'completion' ? [`-a ${quoted(SHELLS.join(' '))}`] : [];
    return [
      `${start} -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.description())}`,
      ...[...options, ...files, ...shells].map((rest) => `${start} ${seen} ${rest}`),
    ];
  });
  return `# file-hosting completion fish | source\n${start} -f\n${lines.join('\n')}\n`;
}

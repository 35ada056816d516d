import type { CommandUnknownOpts, Option } from 'commander'
import { OPERATIONS } from '../operations/all.ts'

/** Returns the completion script of a shell for all visible commands. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish', program: CommandUnknownOpts): string {
  const help = program.createHelp()
  const visible = help.visibleCommands(program)
  const commands = visible.map((command) => {
    const [first] = command.registeredArguments
    const options = new Map(
      [...help.visibleOptions(command), ...program.options].map((option) => [option.long, option]),
    )
    return {
      name: command.name(),
      purpose: command.description(),
      options: [...options.values()],
      words: first?.argChoices ?? wordsNamed(first?.name(), visible),
      takesFile: command.registeredArguments.some((argument) => argument.name() === 'FILE'),
    }
  })
  return SCRIPTS[shell]({ program: program.name(), commands })
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

interface CompletedCommand {
  readonly name: string
  readonly purpose: string
  readonly options: readonly Option[]
  /** The suggestions for the first argument. */
  readonly words: readonly string[]
  readonly takesFile: boolean
}

interface CompletedProgram {
  readonly program: string
  readonly commands: readonly CompletedCommand[]
}

/** Returns the suggestions for an argument that also accepts other values, or that Commander itself defines. */
function wordsNamed(
  argument: string | undefined,
  commands: readonly CommandUnknownOpts[],
): readonly string[] {
  if (argument === 'OPERATION') return OPERATIONS.map(({ id }) => id)
  return argument === 'COMMAND' ? commands.map((command) => command.name()) : []
}

/** Returns the options that may precede a command. They are the options of the default command. */
function defaultOptions(commands: readonly CompletedCommand[]): readonly Option[] {
  return commands.find(({ name }) => name === 'start')?.options ?? []
}

function spellingsOf({ long, short }: Option): readonly string[] {
  return [long, short].filter((spelling) => spelling != null)
}

/** Returns the words that a shell completes: `--config -c --help -h`. */
function flagsOf(options: readonly Option[]): string {
  return options.flatMap(spellingsOf).join(' ')
}

/** Returns a pattern of bash that matches an option: `--config|-c`. */
function patternOf(options: readonly Option[]): string {
  return [...new Set(options.flatMap(spellingsOf))].join('|')
}

/** Returns `FILE` for the option `--config <FILE>`. */
function valueName({ flags }: Option): string | null {
  return /<(.+)>/.exec(flags)?.[1] ?? null
}

function bashScript({ program, commands }: CompletedProgram): string {
  const valued = commands.flatMap(({ options }) => options).filter((option) => valueName(option) !== null)
  const chosen = new Map(valued.map((option) => [patternOf([option]), option.argChoices ?? []]))
  const files = valued.filter((option) => valueName(option) === 'FILE')
  const cases = commands.map(
    ({ name, options, words, takesFile }) =>
      `    ${name}) flags='${flagsOf(options)}' words='${words.join(' ')}' files=${takesFile ? 1 : 0} ;;`,
  )
  return `# bash completion of ${program}: source <(${program} completion bash)
_engine_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command='' word='' flags='' words='' files=0 at
  COMPREPLY=()
  case $previous in
${[...chosen]
  .filter(([, choices]) => choices.length > 0)
  .map(
    ([pattern, choices]) =>
      `    ${pattern}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`,
  )
  .join('\n')}
    ${patternOf(files)}) compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return ;;
    ${patternOf(valued)}) return ;;
  esac
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      ${patternOf(valued)}) ((at++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=\${COMP_WORDS[at]}; else word=\${COMP_WORDS[at]}; fi ;;
    esac
  done
  case $command in
    '') flags='${flagsOf(defaultOptions(commands))}' words='${commands.map(({ name }) => name).join(' ')}' ;;
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current")); return; fi
  if [[ -z $word && -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); return; fi
  if ((files)); then compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _engine_gateway ${program}
`
}

function zshScript({ program, commands }: CompletedProgram): string {
  const cases = commands.map(({ name, options, words, takesFile }) => {
    const operands = [
      ...(words.length === 0 ? [] : [`'1:argument:(${words.join(' ')})'`]),
      ...(takesFile ? [`'*:file:_files'`] : []),
    ]
    return `    ${name}) _arguments ${[...options.flatMap(zshSpecs), ...operands].join(' ')} ;;`
  })
  const names = commands.map(({ name, purpose }) => quoted(`${name}:${zshText(purpose)}`))
  return `#compdef ${program}
# zsh completion of ${program}
_engine_gateway() {
  local context state line
  typeset -A opt_args
  _arguments -C ${defaultOptions(commands).flatMap(zshSpecs).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command) local -a commands=(${names.join(' ')}); _describe command commands; return ;;
  esac
  case $line[1] in
${cases.join('\n')}
  esac
}
if (( $+compstate )); then _engine_gateway "$@"; else compdef _engine_gateway ${program}; fi
`
}

function zshSpecs(option: Option): readonly string[] {
  const { description, argChoices } = option
  const value = valueName(option)
  const action = argChoices === undefined ? (value === 'FILE' ? '_files' : ' ') : `(${argChoices.join(' ')})`
  const rest = `[${zshText(description)}]${value === null ? '' : `:${value}:${action}`}`
  return spellingsOf(option).map((spelling) => quoted(`${spelling}${rest}`))
}

/** Escapes the characters that would end a description. */
function zshText(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, (sign) => `\\${sign}`)
}

function fishScript({ program, commands }: CompletedProgram): string {
  const noCommand = quoted(`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`)
  const lines = commands.flatMap(({ name, purpose, options, words, takesFile }) => {
    const here = quoted(`__fish_seen_subcommand_from ${name}`)
    return [
      `-f -n ${noCommand} -a ${name} -d ${quoted(purpose)}`,
      ...(words.length === 0 ? [] : [`-f -n ${here} -a ${quoted(words.join(' '))}`]),
      ...(takesFile ? [`-F -n ${here}`] : []),
      ...options.map((option) => `-n ${here} ${fishOption(option)}`),
    ]
  })
  const defaults = defaultOptions(commands).map((option) => `-n ${noCommand} ${fishOption(option)}`)
  return `# fish completion of ${program}\n${['-f', ...lines, ...defaults].map((line) => `complete -c ${program} ${line}\n`).join('')}`
}

function fishOption(option: Option): string {
  const { long = '', short, argChoices, description } = option
  const value = valueName(option)
  const values =
    argChoices === undefined ? (value === 'FILE' ? '-r -F' : '-x') : `-x -a ${quoted(argChoices.join(' '))}`
  return [
    `-l ${long.slice(2)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(value === null ? [] : [values]),
    `-d ${quoted(description)}`,
  ].join(' ')
}

/** Returns a text in single quotes, for any of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`
}

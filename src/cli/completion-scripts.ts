import { GENERAL_OPTIONS } from './arguments.ts'
import type { CommandOption, Description } from './description.ts'
import { PROGRAM } from './help-text.ts'

/** The completion scripts by shell, each generated from the table of commands. */
export const COMPLETIONS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

type Commands = readonly Description[]

interface NamedOption extends CommandOption {
  readonly name: string
}

function optionsOf({ options }: Description): readonly NamedOption[] {
  return Object.entries({ ...options, ...GENERAL_OPTIONS }).map(([name, option]) => ({ name, ...option }))
}

/** Returns the word that is typed first: `policy` of `policy test`. */
function firstWordOf({ name }: Description): string {
  return name.split(' ', 1).join('')
}

/** Returns the words that can follow the first word: the second word of the command, or the choices of its first operand. */
function wordsAfter(command: Description, commands: Commands): readonly string[] {
  const [, second] = command.name.split(' ')
  if (second !== undefined) return [second]
  return command.operands?.[0]?.choices?.(commands) ?? []
}

function takesFile(command: Description): boolean {
  return command.operands?.some(({ name }) => name === 'FILE') ?? false
}

/** Returns the options of all commands. An option has the same meaning in every command. */
function allOptions(commands: Commands): readonly NamedOption[] {
  const all = new Map(commands.flatMap(optionsOf).map((option) => [option.name, option]))
  return [...all.values(), { name: 'config', type: 'string', short: 'c', value: 'FILE', purpose: '' }]
}

function spellingsOf({ name, short }: NamedOption): readonly string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
}

function bashScript(commands: Commands): string {
  const valued = allOptions(commands).filter(({ type }) => type === 'string')
  const patternOf = (options: readonly NamedOption[]) => [...new Set(options.flatMap(spellingsOf))].join('|')
  const chosen = valued.filter(({ choices }) => choices !== undefined)
  const files = valued.filter(({ value, choices }) => value === 'FILE' && choices === undefined)
  const cases = commands.map((command) => {
    const flags = optionsOf(command).flatMap(spellingsOf).join(' ')
    return `    ${firstWordOf(command)}) flags='${flags}' words='${wordsAfter(command, commands).join(' ')}' files=${takesFile(command) ? 1 : 0} ;;`
  })
  return `# bash completion of ${PROGRAM}: source <(${PROGRAM} completion bash)
_engine_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command='' word='' flags='' words='' files=0 at
  COMPREPLY=()
  case $previous in
${chosen.map((option) => `    ${spellingsOf(option).join('|')}) COMPREPLY=($(compgen -W '${(option.choices ?? []).join(' ')}' -- "$current")); return ;;`).join('\n')}
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
    '') flags='${optionsOf(defaultOf(commands)).flatMap(spellingsOf).join(' ')}' words='${commands.map(firstWordOf).join(' ')}' ;;
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current")); return; fi
  if [[ -z $word && -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); return; fi
  if ((files)); then compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _engine_gateway ${PROGRAM}
`
}

function defaultOf(commands: Commands): Description {
  const found = commands.find(({ isDefault }) => isDefault)
  return found ?? { name: '', purpose: '', options: {}, examples: [], exitCodes: [] }
}

function zshScript(commands: Commands): string {
  const cases = commands.map((command) => {
    const words = wordsAfter(command, commands)
    const operands = [
      ...(words.length === 0 ? [] : [`'1:argument:(${words.join(' ')})'`]),
      ...(takesFile(command) ? [`'*:file:_files'`] : []),
    ]
    return `    ${firstWordOf(command)}) _arguments ${[...zshSpecsOf(command), ...operands].join(' ')} ;;`
  })
  const names = commands.map((command) => quoted(`${firstWordOf(command)}:${zshText(command.purpose)}`))
  return `#compdef ${PROGRAM}
# zsh completion of ${PROGRAM}
_engine_gateway() {
  local context state line
  typeset -A opt_args
  _arguments -C ${zshSpecsOf(defaultOf(commands)).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command) local -a commands=(${names.join(' ')}); _describe command commands; return ;;
  esac
  case $line[1] in
${cases.join('\n')}
  esac
}
if (( $+compstate )); then _engine_gateway "$@"; else compdef _engine_gateway ${PROGRAM}; fi
`
}

function zshSpecsOf(command: Description): readonly string[] {
  return optionsOf(command).flatMap(zshSpecs)
}

function zshSpecs(option: NamedOption): readonly string[] {
  const { type, purpose, value, choices, multiple = false } = option
  const action = choices === undefined ? (value === 'FILE' ? '_files' : ' ') : `(${choices.join(' ')})`
  const rest = `[${zshText(purpose)}]${type === 'boolean' ? '' : `:${value ?? 'value'}:${action}`}`
  return spellingsOf(option).map((spelling) => quoted(`${multiple ? '*' : ''}${spelling}${rest}`))
}

/** Escapes the characters that would end a description. */
function zshText(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, (sign) => `\\${sign}`)
}

function fishScript(commands: Commands): string {
  const first = commands.map(firstWordOf).join(' ')
  const noCommand = quoted(`not __fish_seen_subcommand_from ${first}`)
  const lines = commands.flatMap((command) => {
    const name = firstWordOf(command)
    const here = quoted(`__fish_seen_subcommand_from ${name}`)
    const words = wordsAfter(command, commands)
    return [
      `complete -c ${PROGRAM} -f -n ${noCommand} -a ${name} -d ${quoted(command.purpose)}`,
      ...(words.length === 0 ? [] : [`complete -c ${PROGRAM} -f -n ${here} -a ${quoted(words.join(' '))}`]),
      ...(takesFile(command) ? [`complete -c ${PROGRAM} -F -n ${here}`] : []),
      ...optionsOf(command).map((option) => `complete -c ${PROGRAM} -n ${here} ${fishOption(option)}`),
    ]
  })
  const defaults = optionsOf(defaultOf(commands)).map(
    (option) => `complete -c ${PROGRAM} -n ${noCommand} ${fishOption(option)}`,
  )
  return `# fish completion of ${PROGRAM}\ncomplete -c ${PROGRAM} -f\n${[...lines, ...defaults].join('\n')}\n`
}

function fishOption({ name, short, type, value, choices, purpose }: NamedOption): string {
  const values =
    choices === undefined ? (value === 'FILE' ? '-r -F' : '-x') : `-x -a ${quoted(choices.join(' '))}`
  return [
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(type === 'boolean' ? [] : [values]),
    `-d ${quoted(purpose)}`,
  ].join(' ')
}

/** Returns a text in single quotes, for any of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`
}

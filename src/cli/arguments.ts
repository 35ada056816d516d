import { parseArgs } from 'node:util'
import { closestOf } from '../config/closest.ts'
import { meantText } from '../config/plain-messages.ts'
import { isShownName, notText, unknownText } from '../config/shown-name.ts'
import type { CommandOptions, Description, OptionValues } from './description.ts'

/** Invalid arguments. The message is one line; `command` is null if no command was found. */
export class UsageError extends Error {
  command: Description | null = null
}

function usageErrorOf(command: Description, message: string): UsageError {
  return Object.assign(new UsageError(message), { command })
}

/** The options of every command. */
export const GENERAL_OPTIONS = {
  help: { type: 'boolean', short: 'h', purpose: 'print this help' },
  version: { type: 'boolean', short: 'v', purpose: 'print the version' },
} as const

/** The image's entry point passes this option to every command. */
const UNUSED_CONFIG = { type: 'string', short: 'c', purpose: 'accepted, but not used' } as const

/** The arguments of the command line, checked against the table of commands. */
export interface ReadArguments<C = Description> {
  readonly command: C
  readonly isNamed: boolean
  readonly isHelp: boolean
  readonly isVersion: boolean
  readonly values: OptionValues
  readonly operands: readonly string[]
}

/**
 * Finds the command anywhere among its options, because the image's entry point puts `--config FILE` before it, and reads its
 * arguments. @throws UsageError
 */
export function readArguments<C extends Description>(
  argv: readonly string[],
  commands: readonly C[],
): ReadArguments<C> {
  const { command, args } = commandIn(argv, commands)
  try {
    return { ...readOf(command ?? defaultOf(commands), args, commands), isNamed: command !== null }
  } catch (error) {
    if (error instanceof UsageError) error.command = command ?? defaultOf(commands)
    throw error
  }
}

/** Returns the command that words name, or null if no command matches. The second of two words may be missing. */
export function commandNamed<C extends Description>(
  words: readonly string[],
  commands: readonly C[],
): C | null {
  const isNamed = ({ name }: Description) => name.split(' ').every((word, at) => (words[at] ?? word) === word)
  return words.length === 0 ? null : (commands.find(isNamed) ?? null)
}

function defaultOf<C extends Description>(commands: readonly C[]): C {
  const found = commands.find(({ isDefault }) => isDefault)
  if (found === undefined) throw new UsageError('A command is needed')
  return found
}

interface CommandWithArguments<C> {
  readonly command: C | null
  /** All arguments except the words of the command. */
  readonly args: readonly string[]
}

function commandIn<C extends Description>(
  argv: readonly string[],
  commands: readonly C[],
): CommandWithArguments<C> {
  const all = { ...UNUSED, ...Object.assign({}, ...commands.map(({ options }) => options)) }
  const tokens = tokensOf(argv, all)
  const words = tokens.filter(({ kind }) => kind === 'positional')
  const [first, second] = words
  if (first?.kind !== 'positional') return { command: null, args: argv }
  const command = commandNamed([first.value], commands)
  if (command === null) throw noCommand(first.value, tokens, commands, all)
  const rest = argv.toSpliced(first.index, 1)
  const [, action] = command.name.split(' ')
  if (action === undefined || second?.kind !== 'positional') return { command, args: rest }
  if (second.value !== action)
    throw usageErrorOf(command, `${first.value} takes ${notText(action, second.value)}`)
  return { command, args: rest.toSpliced(second.index - 1, 1) }
}

const UNUSED = { ...GENERAL_OPTIONS, config: UNUSED_CONFIG }

type Token = ReturnType<typeof tokensOf>[number]

function tokensOf(args: readonly string[], options: CommandOptions) {
  return parseArgs({
    args: [...args],
    options: parsedOptionsOf(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens
}

/** Returns only the settings that Node.js parses. With the defaults, it would also fill in options that were not given. */
function parsedOptionsOf(options: CommandOptions) {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }) },
    ]),
  )
}

/**
 * Returns the error for an unknown command. If a misspelt option precedes the word, the word is its value, so the error names the
 * option.
 */
function noCommand(
  word: string,
  tokens: readonly Token[],
  commands: readonly Description[],
  all: CommandOptions,
): UsageError {
  const unknown = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(all, token.name))
  if (unknown?.kind === 'option') return new UsageError(unknownOption(unknown.rawName, all))
  const shown = commands.filter(({ isHidden }) => isHidden !== true)
  const names = shown.map(({ name }) => name.split(' ', 1).join(''))
  return new UsageError(`${unknownText('command', word)}${meantText(closestOf(word, names))}`)
}

function unknownOption(rawName: string, options: CommandOptions): string {
  const names = Object.keys(options).map((name) => `--${name}`)
  return `Unknown option${quotedOption(rawName)}${meantText(rawName.startsWith('--') ? closestOf(rawName, names) : null)}`
}

/** Returns the option in quotes, or nothing if it does not look like an option. It may be a value that begins with a hyphen. */
function quotedOption(rawName: string): string {
  return isShownName(rawName.replace(/^--?/, '')) ? ` '${rawName}'` : ''
}

function readOf<C extends Description>(
  command: C,
  args: readonly string[],
  commands: readonly Description[],
): Omit<ReadArguments<C>, 'isNamed'> {
  const options = { ...UNUSED, ...command.options }
  const unknown = tokensOf(args, options).find(
    (token) => token.kind === 'option' && !Object.hasOwn(options, token.name),
  )
  if (unknown?.kind === 'option') throw untaken(command, unknown.name, unknown.rawName, commands)
  const { values, positionals } = parsed(args, options)
  const { help = false, version = false, ...given } = values
  const read = { command, isHelp: help === true, isVersion: version === true, operands: positionals }
  if (read.isHelp || read.isVersion) return { ...read, values: given }
  checkOperands(command, positionals)
  return { ...read, values: completed(command, given) }
}

function untaken(
  { name, options }: Description,
  option: string,
  rawName: string,
  commands: readonly Description[],
): UsageError {
  const isOfAnother = rawName.startsWith('--') && commands.some((one) => Object.hasOwn(one.options, option))
  return new UsageError(
    isOfAnother ? `${name} takes no ${rawName}` : unknownOption(rawName, { ...UNUSED, ...options }),
  )
}

/** Parses the arguments with Node.js. @throws UsageError with the first sentence of its error */
function parsed(args: readonly string[], options: CommandOptions) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: parsedOptionsOf(options),
    })
    return { values: Object.fromEntries(Object.entries(values).map(textsIn)), positionals }
  } catch (cause) {
    const [sentence] = String(cause instanceof Error ? cause.message : cause).split(/\. |\.?\n/, 1)
    throw new UsageError(sentence, { cause })
  }
}

/** Converts repeated values to strings. Only options of type string can be repeated. */
function textsIn([name, value]: readonly [string, string | boolean | (string | boolean)[] | undefined]): [
  string,
  OptionValues[string],
] {
  return [name, Array.isArray(value) ? value.map(String) : value]
}

function checkOperands({ name, operands = [] }: Description, given: readonly string[]): void {
  const extra = given[operands.length]
  if (extra !== undefined)
    throw new UsageError(`${name} takes ${isShownName(extra) ? `no '${extra}'` : 'fewer arguments'}`)
  const missing = operands.find(({ optional = false }, at) => !optional && given[at] === undefined)
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing.name}`)
}

function completed({ name, options }: Description, given: OptionValues): OptionValues {
  const values = Object.entries(options).map(([option, settings]): [string, OptionValues[string]] => {
    const value = given[option] ?? (settings.type === 'boolean' ? false : settings.default)
    if (value === undefined && settings.required === true)
      throw new UsageError(`${name} needs --${option} ${settings.value ?? 'VALUE'}`)
    const { choices } = settings
    if (choices !== undefined && typeof value === 'string' && !choices.includes(value))
      throw new UsageError(
        `--${option} takes ${notText(choices.join(' or '), value)}${meantText(closestOf(value, choices))}`,
      )
    return [option, value]
  })
  return Object.fromEntries(values)
}

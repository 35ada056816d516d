import { GENERAL_OPTIONS } from './arguments.ts'
import type { CommandOption, CommandOptions, Description } from './description.ts'
import { tableLines } from './output.ts'

export const PROGRAM = 'engine-gateway'

/** Returns the commands for users, in their order. */
export function shownCommands<C extends Description>(commands: readonly C[]): readonly C[] {
  return commands.filter(({ isHidden }) => isHidden !== true)
}

/**
 * Returns `Usage: engine-gateway check --config FILE [options]`, without a line end. For null, returns the usage of the program.
 */
export function usageOf(command: Description | null): string {
  if (command === null) return `Usage: ${PROGRAM} [COMMAND] [options]`
  const { name, isDefault, operands = [], options } = command
  const given = Object.entries(options)
  const needed = given.filter(([, { required }]) => required === true)
  const words = [
    isDefault ? `[${name}]` : name,
    ...operands.map(({ name: operand, optional }) => (optional === true ? `[${operand}]` : operand)),
    ...needed.map(([option, settings]) => signatureOf(option, settings)),
    ...(given.length > needed.length ? ['[options]'] : []),
  ]
  return `Usage: ${[PROGRAM, ...words].join(' ')}`
}

/** Returns the output of `--help` for a command. For null, returns the help of the program. */
export function helpOf(command: Description | null, commands: readonly Description[]): string {
  return command === null ? programHelp(commands) : commandHelp(command)
}

function programHelp(commands: readonly Description[]): string {
  const rows = shownCommands(commands).map(({ name, purpose, isDefault }) => [
    `  ${name}`,
    isDefault ? `${purpose} (the default command)` : purpose,
  ])
  return sections([
    [usageOf(null)],
    ['Authenticates, authorizes, validates, caches and balances requests to Camunda 7 engines.'],
    ['Commands:', ...tableLines(rows)],
    ['Options of every command:', ...tableLines(optionRows(GENERAL_OPTIONS))],
    [`'${PROGRAM} help COMMAND' describes a command.`],
  ])
}

function commandHelp(command: Description): string {
  const { purpose, about, operands = [], options, examples, exitCodes } = command
  const arguments_ = operands.map(({ name, purpose: of }) => [`  ${name}`, of])
  return sections([
    [usageOf(command)],
    [sentenceOf(purpose)],
    ...(about === undefined ? [] : [[about]]),
    ...(arguments_.length === 0 ? [] : [['Arguments:', ...tableLines(arguments_)]]),
    ['Options:', ...tableLines(optionRows({ ...options, help: GENERAL_OPTIONS.help }))],
    ['Examples:', ...examples.map((example) => `  ${example}`)],
    ['Exit codes:', ...exitCodes.map(([code, meaning]) => `  ${code}  ${meaning}`)],
  ])
}

function sections(blocks: readonly (readonly string[])[]): string {
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

/** Returns `check the file` as `Check the file.` */
export function sentenceOf(purpose: string): string {
  return `${purpose.slice(0, 1).toUpperCase()}${purpose.slice(1)}.`
}

function optionRows(options: CommandOptions): readonly (readonly string[])[] {
  return Object.entries(options).map(([name, settings]) => [
    `  ${settings.short === undefined ? '   ' : `-${settings.short},`} ${signatureOf(name, settings)}`,
    purposeOf(settings),
  ])
}

/** Returns `--format text|json`. */
export function signatureOf(name: string, { type, value, choices }: CommandOption): string {
  return type === 'boolean' ? `--${name}` : `--${name} ${choices?.join('|') ?? value ?? 'VALUE'}`
}

/** Returns the purpose of an option, whether it is required, and its default. */
export function purposeOf(settings: CommandOption): string {
  const { purpose, required = false, multiple = false, default: usual } = settings
  const notes = [
    ...(required ? ['required'] : []),
    ...(multiple ? ['may be repeated'] : []),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ]
  return notes.length === 0 ? purpose : `${purpose} (${notes.join('; ')})`
}

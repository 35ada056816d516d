import type { ParseArgsConfig } from 'node:util'

// The arguments of the commands in this folder.

type ArgumentOptions = NonNullable<ParseArgsConfig['options']>

/** An argument that cannot be used. */
export class ArgumentError extends Error {}

/** Runs a command. With `--help`, or with an argument that cannot be used, prints the options instead of a stack. */
export async function runCommand(
  file: string,
  options: ArgumentOptions,
  run: () => Promise<void>,
): Promise<void> {
  const usage = usageOf(file, options)
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`)
    return
  }
  try {
    await run()
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) throw error
    process.stderr.write(`${problem}\n${usage}\n`)
    process.exitCode = 1
  }
}

/** Returns a line with all options. */
export function usageOf(file: string, options: ArgumentOptions): string {
  const shown = Object.entries(options).map(([name, { type }]) =>
    type === 'string' ? `[--${name} ${name.toUpperCase()}]` : `[--${name}]`,
  )
  return ['usage: node', file, ...shown].join(' ')
}

/** Returns the message of an error that the arguments have caused. Returns null for other errors. */
export function problemOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const isOfParser = 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  return isOfParser || error instanceof ArgumentError ? error.message : null
}

/** Returns the names that contain one of the texts in a list with commas. Without a list, returns all names. @throws ArgumentError if no name contains a text */
export function chosenOf(list: string, names: readonly string[]): readonly string[] {
  if (list === '') return names
  const texts = list.split(',')
  for (const text of texts)
    if (text === '' || !names.some((name) => name.includes(text)))
      throw new ArgumentError(`there is no "${text}", only: ${names.join('; ')}`)
  return names.filter((name) => texts.some((text) => name.includes(text)))
}

/** @throws ArgumentError if the text is no number, or a number below `least` */
export function numberOf(option: string, text: string, least = 1): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value) || value < least)
    throw new ArgumentError(`--${option} ${text}: this must be a number of at least ${least}`)
  return value
}

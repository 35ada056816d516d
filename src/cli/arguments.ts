import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/** Invalid arguments. The message is one line. */
export class UsageError extends Error {}

interface Command {
  /** Null: no command is named. */
  readonly command: string | null
  /** All arguments but the command. */
  readonly args: readonly string[]
}

/**
 * Finds the command anywhere among its options: the image's entry point puts `--config FILE` before it.
 * @param options of all commands: a value after one of them is not a command
 */
export function commandOf(argv: readonly string[], options: ParseArgsOptionsConfig): Command {
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const word = tokens.find(({ kind }) => kind === 'positional')
  if (word?.kind !== 'positional') return { command: null, args: argv }
  return { command: word.value, args: argv.toSpliced(word.index, 1) }
}

/** Parses arguments. @throws UsageError with the first sentence of Node's own error */
export function readArguments<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    const [sentence] = String(cause instanceof Error ? cause.message : cause).split(/\. |\.?\n/, 1)
    throw new UsageError(sentence, { cause })
  }
}

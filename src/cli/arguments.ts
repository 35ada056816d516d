import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/** What a command cannot be asked. The message is one line. */
export class UsageError extends Error {}

interface Command {
  /** Null: none is named. */
  readonly command: string | null
  /** All arguments but the command. */
  readonly args: readonly string[]
}

/**
 * The command may stand anywhere among its options: the image's entry point puts `--config FILE` before it.
 * @param options of all commands: what follows one of them is no command
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

/** What `parse` makes of arguments. @throws UsageError where Node throws an error of its own, with its first sentence */
export function readArguments<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    const [sentence] = String(cause instanceof Error ? cause.message : cause).split(/\. |\.?\n/, 1)
    throw new UsageError(sentence, { cause })
  }
}

import type { Readable, Writable } from 'node:stream'
import type { BuildRuntimeDependencies, OpenRuntime } from '../assembly/runtime.ts'
import { DEFAULT_ENGINE } from '../pipeline/match.ts'
import type { BuildDryRun } from '../pipeline/explain.ts'
import type { CommandOption, CommandOptions, Description, OptionValues } from './description.ts'

/** The dependencies that main.ts passes to the commands. */
export interface Program {
  /** The script from which workers are started. */
  readonly entry: string
  readonly open: OpenRuntime
  readonly build: BuildRuntimeDependencies
  readonly buildDryRun: BuildDryRun
}

export interface CommandStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

type ValueOf<O extends CommandOption> = O extends { readonly multiple: true }
  ? readonly string[]
  : O extends { readonly choices: readonly (infer C)[] }
    ? C
    : string

type OptionValuesOf<O extends CommandOptions> = {
  readonly [K in keyof O]: O[K] extends { readonly type: 'boolean' }
    ? boolean
    : O[K] extends { readonly required: true } | { readonly default: string }
      ? ValueOf<O[K]>
      : ValueOf<O[K]> | undefined
}

interface CommandInput<V> {
  readonly values: V
  /** At least the required operands, and at most those that the command defines. */
  readonly operands: readonly string[]
  readonly streams: CommandStreams
  readonly program: Program
  readonly commands: readonly Command[]
}

interface CommandDefinition<O extends CommandOptions> extends Description<O> {
  /** Resolves with the exit code. @throws UsageError */
  readonly run: (given: CommandInput<OptionValuesOf<O>>) => Promise<number> | number
}

/** A command with its description. The types of its options are erased. */
export interface Command extends Description {
  readonly run: (given: CommandInput<OptionValues>) => Promise<number> | number
}

/** Defines a command whose `run` receives its options with their types. */
export function command<const O extends CommandOptions>(definition: CommandDefinition<O>): Command {
  return {
    ...definition,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments were read by these options
    run: (given) => definition.run(given as CommandInput<OptionValuesOf<O>>),
  }
}

export const CONFIG_OPTION = {
  type: 'string',
  short: 'c',
  value: 'FILE',
  required: true,
  purpose: 'the configuration file',
} as const

export const ENGINE_OPTION = {
  type: 'string',
  short: 'e',
  value: 'NAME',
  default: DEFAULT_ENGINE,
  purpose: 'the name of the engine in the configuration',
} as const

export const BODY_OPTION = {
  type: 'string',
  short: 'b',
  value: 'FILE',
  purpose: 'a file with the body of the request',
} as const

export const FORMAT_OPTION = {
  type: 'string',
  value: 'FORMAT',
  choices: ['text', 'json'],
  default: 'text',
  purpose: 'text for people, json for programs',
} as const

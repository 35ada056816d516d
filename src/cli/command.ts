import type { Readable, Writable } from 'node:stream'
import { Option } from 'commander'
import type { BuildRuntimeDependencies, OpenRuntime } from '../assembly/runtime.ts'
import { DEFAULT_ENGINE } from '../pipeline/locate-request.ts'
import type { BuildDryRun } from '../pipeline/explain.ts'

/** The dependencies that main.ts passes to the commands. */
export interface CommandDependencies {
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

type MakeAction = <A extends readonly unknown[]>(
  action: (...args: A) => Promise<number> | number,
) => (...args: A) => Promise<void>

export interface CommandContext extends CommandDependencies, CommandStreams {
  /** Makes an action whose result is the exit code of the process. A failure rejects the run. */
  readonly exits: MakeAction
  /** Like `exits`, but a failure is written to standard error, and gives exit code 2. */
  readonly exitsOr2: MakeAction
}

interface HelpNotes {
  readonly about?: string
  readonly examples: readonly string[]
  readonly exitCodes: readonly (readonly [code: number, meaning: string])[]
}

/** Returns the part of a command's help that follows its options. */
export function notesText({ about, examples, exitCodes }: HelpNotes): string {
  return [
    ...(about === undefined ? [] : ['', about]),
    '',
    'Examples:',
    ...examples.map((example) => `  ${example}`),
    '',
    'Exit codes:',
    ...exitCodes.map(([code, meaning]) => `  ${code}  ${meaning}`),
  ].join('\n')
}

/** Collects the values of an option that may be repeated. */
export function collected(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

export const CONFIG_OPTION = new Option(
  '-c, --config <FILE>',
  'the configuration file (required)',
).makeOptionMandatory()

export const ENGINE_OPTION = new Option(
  '-e, --engine <NAME>',
  'the name of the engine in the configuration',
).default(DEFAULT_ENGINE)

export const BODY_OPTION = new Option('-b, --body <FILE>', 'a file with the body of the request')

export const FORMAT_OPTION = new Option('--format <FORMAT>', 'text for people, json for programs')
  .choices(['text', 'json'] as const)
  .default('text' as const)

/** An option of a command, as Node's `parseArgs` takes it, with its help text. */
export interface CommandOption {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** Whether the option can be repeated. */
  readonly multiple?: boolean
  readonly required?: boolean
  readonly default?: string
  /** The name of the value in help. `FILE` is completed as a file. */
  readonly value?: string
  /** The allowed values. */
  readonly choices?: readonly string[]
  readonly purpose: string
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

/** A positional argument. */
export interface Operand {
  /** The name in the usage line: `FILE`. */
  readonly name: string
  readonly purpose: string
  readonly optional?: boolean
  /** Suggestions for completion. The command itself rejects other values. */
  readonly choices?: (commands: readonly Description[]) => readonly string[]
}

/** The values of options by name, given or default. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** The description of a command for help, completion and docs/commands.md. */
export interface Description<O = CommandOptions> {
  /** One word or two: `policy test`. */
  readonly name: string
  /** One line, without a full stop. */
  readonly purpose: string
  /** Paragraphs below the purpose. */
  readonly about?: string
  readonly operands?: readonly Operand[]
  readonly options: O
  readonly examples: readonly string[]
  readonly exitCodes: readonly (readonly [code: number, meaning: string])[]
  /** This command runs if no command is named. */
  readonly isDefault?: true
  /** The command is internal, and help does not list it. */
  readonly isHidden?: true
  /** The exit code of a failure, which is then written to standard error. If absent, `run` rejects. */
  readonly failure?: 2
  /** The message for every invalid argument, instead of its specific problem, because the argument may be a secret. */
  readonly refusal?: string
}

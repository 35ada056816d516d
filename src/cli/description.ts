/** An option of a command, as `parseArgs` of Node.js takes it, and what its help says. */
export interface CommandOption {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** May be given several times. */
  readonly multiple?: boolean
  readonly required?: boolean
  readonly default?: string
  /** Names the value: `FILE` is completed as a file. */
  readonly value?: string
  /** No other value is taken. */
  readonly choices?: readonly string[]
  readonly purpose: string
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

/** An argument without a name. */
export interface Operand {
  /** As the usage has it: `FILE`. */
  readonly name: string
  readonly purpose: string
  readonly optional?: boolean
  /** For the completion; the command says itself what it does not take. */
  readonly choices?: (commands: readonly Description[]) => readonly string[]
}

/** Options by name, as they were given or by default. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

/** What help, completion and docs/commands.md say of a command. */
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
  /** It runs where no command is named. */
  readonly isDefault?: true
  /** For the gateway itself: no help names it. */
  readonly isHidden?: true
  /** The exit code of a failure, which is then written to standard error. Without it `run` rejects. */
  readonly failure?: 2
  /** Said of every invalid argument in place of what is wrong with it: it may be a secret. */
  readonly refusal?: string
}

import { checkCommand } from './check-command.ts'
import type { Command } from './command.ts'
import { completionCommand } from './completion-command.ts'
import { diffCommand } from './diff-command.ts'
import { explainCommand } from './explain-command.ts'
import { hashPasswordCommand } from './hash-password.ts'
import { helpCommand, versionCommand } from './help-command.ts'
import { policyTestCommand } from './policy-command.ts'
import { schemaCommand } from './schema-command.ts'
import { startCommand, workerCommand } from './start-command.ts'
import { suggestCommand } from './suggest-command.ts'
import { whoCanCommand } from './who-can-command.ts'

/** All commands, in the order of the help. Help, completion and docs/commands.md are generated from this list. */
export const COMMANDS: readonly Command[] = [
  startCommand,
  checkCommand,
  diffCommand,
  explainCommand,
  whoCanCommand,
  suggestCommand,
  policyTestCommand,
  hashPasswordCommand,
  schemaCommand,
  completionCommand,
  helpCommand,
  versionCommand,
  workerCommand,
]

import { Command } from 'commander'
import { isShownName } from '../config/shown-name.ts'
import { versionOf } from '../server/version.ts'
import { addCheckCommand } from './check-command.ts'
import type { CommandContext } from './command.ts'
import { addDiffCommand } from './diff-command.ts'
import { addDrainCommand } from './drain-command.ts'
import { addExplainCommand } from './explain-command.ts'
import { addExportCommand } from './export-command.ts'
import { addHashPasswordCommand } from './hash-password.ts'
import { addImportCommand } from './import-command.ts'
import { addPolicyCommand } from './policy-command.ts'
import { addMoveCommand } from './move-command.ts'
import { addPurgeCommand } from './purge-command.ts'
import { addSchemaCommand } from './schema-command.ts'
import { addStartCommand, addWorkerCommand } from './start-command.ts'
import { addAuditCommand } from './audit-command.ts'
import { addCompareDecisionsCommand } from './compare-decisions-command.ts'
import { addSuggestCommand } from './suggest-command.ts'
import { addWhoCanCommand } from './who-can-command.ts'

/** Wide enough for the examples. With a fixed width, docs/commands.md does not depend on a terminal. */
const HELP_WIDTH = 110

/**
 * The source of the value of a required option until it is given. Commander would report a missing option before an unknown one,
 * which may be the missing option with a typing error.
 */
const MISSING = 'missing'

/** Creates the command line with all commands, in the order of the help. docs/commands.md is generated from it. */
export function createProgram(argv: readonly string[], context: CommandContext): Command {
  const { stdout, stderr } = context
  const program: Command = new Command('engine-gateway')
    .description('Authenticates, authorizes, validates, caches and balances requests to Camunda 7 engines.')
    .version(versionOf(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [COMMAND]', 'describe all commands, or one command')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => write(withoutValues(text, argv)),
    })
    .showHelpAfterError('(--help prints the usage)')
    .exitOverride()
  // The entry point of the image passes `--config FILE` before each command, also before commands without this option.
  program
    .option('-c, --config <FILE>', 'the configuration file of the command; it may also follow the command')
    .hook('preSubcommand', (_, command) => {
      for (const option of command.options.filter(({ mandatory }) => mandatory))
        command.setOptionValueWithSource(option.attributeName(), '', MISSING)
      const config = program.getOptionValue('config')
      if (config !== undefined) command.setOptionValue('config', config)
    })
    .hook('preAction', (_, command) => {
      const missing = command.options.find(
        (option) => command.getOptionValueSource(option.attributeName()) === MISSING,
      )
      if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`)
    })
  for (const add of COMMANDS) add(program, context)
  return program
}

const COMMANDS: readonly ((program: Command, context: CommandContext) => void)[] = [
  addStartCommand,
  addCheckCommand,
  addDiffCommand,
  addPurgeCommand,
  addMoveCommand,
  addDrainCommand,
  addExplainCommand,
  addWhoCanCommand,
  addSuggestCommand,
  addCompareDecisionsCommand,
  addAuditCommand,
  addPolicyCommand,
  addExportCommand,
  addImportCommand,
  addHashPasswordCommand,
  addSchemaCommand,
  addVersionCommand,
  addWorkerCommand,
]

function addVersionCommand(program: Command, { stdout, exits }: CommandContext): void {
  program
    .command('version')
    .description('print the version')
    .action(
      exits(() => {
        stdout.write(`${versionOf()}\n`)
        return 0
      }),
    )
}

/** No secret is as short as this. */
const MAX_SHOWN_LENGTH = 3

/**
 * Removes values from an error, because they may be secrets: arguments that do not look like a name, and each value that is not one of
 * a few words.
 */
function withoutValues(text: string, argv: readonly string[]): string {
  const shown = text.replace(/ argument '.*' is invalid(?!\. Allowed choices)/s, ' is invalid')
  return argv
    .filter((word) => word.length > MAX_SHOWN_LENGTH && !isShownName(word.replace(/^--?/, '')))
    .reduce((rest, word) => rest.replaceAll(word, '…'), shown)
}

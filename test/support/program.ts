import { build } from '../../src/assembly/build.ts'
import { openRuntime } from '../../src/assembly/open-runtime.ts'
import { createProgram } from '../../src/cli/program.ts'
import { buildDryRun } from '../../src/gateway.ts'

/** The dependencies of the commands, as in main.ts. */
export const DEPENDENCIES = { entry: '', open: openRuntime, build, buildDryRun }

const { stdin, stdout, stderr } = process
const program = createProgram([], {
  ...DEPENDENCIES,
  stdin,
  stdout,
  stderr,
  exits: () => async () => undefined,
  exitsOr2: () => async () => undefined,
})

/** The commands that the help lists, except for `help` itself. They cannot be run. */
export const SHOWN_COMMANDS = program.commands.filter((command) =>
  program.createHelp().visibleCommands(program).includes(command),
)

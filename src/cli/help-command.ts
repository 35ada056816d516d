import { closestOf } from '../config/closest.ts'
import { meantText } from '../config/plain-messages.ts'
import { unknownText } from '../config/shown-name.ts'
import { versionOf } from '../server/version.ts'
import { commandNamed, UsageError } from './arguments.ts'
import { command } from './command.ts'
import { helpOf, shownCommands } from './help-text.ts'

export const helpCommand = command({
  name: 'help',
  purpose: 'describe all commands, or one command',
  operands: [
    {
      name: 'COMMAND',
      optional: true,
      purpose: 'the command',
      choices: (commands) => shownCommands(commands).map(({ name }) => name.split(' ', 1).join('')),
    },
    {
      name: 'ACTION',
      optional: true,
      purpose: 'the second word of the command, for example test in policy test',
    },
  ],
  options: {},
  examples: ['engine-gateway help check', 'engine-gateway check --help'],
  exitCodes: [
    [0, 'the help was printed'],
    [2, 'the command does not exist'],
  ],
  run: ({ operands, streams: { stdout }, commands }) => {
    const shown = shownCommands(commands)
    const named = commandNamed(operands, shown)
    if (named === null && operands.length > 0) {
      const asked = operands.join(' ')
      const meant = closestOf(
        asked,
        shown.map(({ name }) => name),
      )
      throw new UsageError(`${unknownText('command', asked)}${meantText(meant)}`)
    }
    stdout.write(helpOf(named, commands))
    return 0
  },
})

export const versionCommand = command({
  name: 'version',
  purpose: 'print the version',
  options: {},
  examples: ['engine-gateway version'],
  exitCodes: [
    [0, 'the version was printed'],
    [2, 'invalid arguments'],
  ],
  run: ({ streams: { stdout } }) => {
    stdout.write(`${versionOf()}\n`)
    return 0
  },
})

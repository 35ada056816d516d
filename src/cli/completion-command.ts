import { notText } from '../config/shown-name.ts'
import { UsageError } from './arguments.ts'
import { command } from './command.ts'
import { COMPLETIONS } from './completion-scripts.ts'
import { shownCommands } from './help-text.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completionCommand = command({
  name: 'completion',
  purpose: 'print a script that completes commands and options in a shell',
  operands: [{ name: 'SHELL', purpose: SHELLS.join(', '), choices: () => SHELLS }],
  options: {},
  examples: [
    'source <(engine-gateway completion bash)',
    'engine-gateway completion zsh > "${fpath[1]}/_engine-gateway"',
    'engine-gateway completion fish > ~/.config/fish/completions/engine-gateway.fish',
  ],
  exitCodes: [
    [0, 'the script was printed'],
    [2, 'invalid arguments'],
  ],
  run: ({ operands: [asked = ''], streams: { stdout }, commands }) => {
    const shell = SHELLS.find((one) => one === asked)
    if (shell === undefined) throw new UsageError(`completion takes ${notText(SHELLS.join(', '), asked)}`)
    stdout.write(COMPLETIONS[shell](shownCommands(commands)))
    return 0
  },
})

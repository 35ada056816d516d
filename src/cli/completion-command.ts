import { Argument, type Command } from 'commander'
import { type CommandContext, notesText } from './command.ts'
import { completionScript } from './completion-scripts.ts'

export function addCompletionCommand(program: Command, { stdout, exits }: CommandContext): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<SHELL>', 'the shell').choices(['bash', 'zsh', 'fish'] as const))
    .addHelpText('after', notesText(NOTES))
    .action(
      exits((shell, _, { parent }) => {
        if (parent !== null) stdout.write(completionScript(shell, parent))
        return 0
      }),
    )
}

const NOTES = {
  examples: [
    'source <(engine-gateway completion bash)',
    'engine-gateway completion zsh > "${fpath[1]}/_engine-gateway"',
    'engine-gateway completion fish > ~/.config/fish/completions/engine-gateway.fish',
  ],
  exitCodes: [
    [0, 'the script was printed'],
    [2, 'invalid arguments'],
  ],
} as const

#!/usr/bin/env node
import { nodeVersionProblem } from './cli/node-version.ts'

// Everything else is imported after the check, because an older Node.js fails while it loads a dependency.
const problem = nodeVersionProblem(process.versions.node)
if (problem === null) {
  const { COMMANDS } = await import('./cli/commands.ts')
  const { runCommandLine } = await import('./cli/command-line.ts')
  const { openRuntime } = await import('./assembly/open-runtime.ts')
  const { build } = await import('./assembly/build.ts')
  const { buildDryRun } = await import('./gateway.ts')
  const program = { entry: import.meta.filename, open: openRuntime, build, buildDryRun }
  runCommandLine(process.argv.slice(2), { program, commands: COMMANDS })
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

#!/usr/bin/env node
import { nodeVersionProblem } from './cli/node-version.ts'

// Everything else is imported after the check, because an older Node.js fails while it loads a dependency.
const problem = nodeVersionProblem(process.versions.node)
if (problem === null) {
  const { runCommandLine } = await import('./cli/command-line.ts')
  const { openRuntime } = await import('./assembly/open-runtime.ts')
  const { build } = await import('./assembly/build.ts')
  const { buildDryRun } = await import('./gateway.ts')
  runCommandLine(process.argv.slice(2), {
    entry: import.meta.filename,
    open: openRuntime,
    build,
    buildDryRun,
  })
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into a measured process with `--import`. On SIGUSR2, it collects the garbage and writes the memory that is in use.

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${JSON.stringify({ memory: heapUsed + external })}\n`)
})

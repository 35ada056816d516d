import { loadConfig } from '../config/config.ts'
import { createLogger } from '../log.ts'
import { versionOf } from '../server/version.ts'
import { command, CONFIG_OPTION } from './command.ts'

export const checkCommand = command({
  name: 'check',
  purpose: 'say whether a configuration is good, and what is wrong',
  options: { config: CONFIG_OPTION },
  examples: ['engine-gateway check --config gateway.yaml'],
  exitCodes: [
    [0, 'the configuration is good'],
    [1, 'it is not: every problem is named with its path'],
    [2, 'invalid arguments'],
  ],
  run: async ({ values: { config: file }, streams: { stdout, stderr }, program: { build } }) => {
    const config = loadConfig(file)
    const log = createLogger({ level: config.log.level })
    const { close, warnings } = await build({ config, log, version: versionOf() })
    await close()
    for (const warning of warnings) stderr.write(`warning: ${warning}\n`)
    stdout.write(`${file} is good\n`)
    return 0
  },
})

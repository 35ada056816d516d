import { openRuntime } from '../../src/assembly/open-runtime.ts'
import type { Config } from '../../src/config/config.ts'
import type { Logger } from '../../src/log.ts'
import type { RunningGateway } from '../../src/server/running.ts'
import { start as startWith } from '../../src/server/start.ts'

export type { RunningGateway as Running } from '../../src/server/running.ts'

/** Starts the gateway with one process, as the command does. */
export function start(config: Config, log: Logger, file: string | null = null): Promise<RunningGateway> {
  return startWith({ config, log, open: openRuntime, file })
}

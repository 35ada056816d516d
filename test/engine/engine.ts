import { buildEngine, DEFAULT_FAMILY, JVM_OPTIONS } from './build.ts'
import type { Family } from './build.ts'
import { startChild } from './child.ts'
import type { Child } from './child.ts'

export interface EngineOptions {
  readonly family?: Family
  /** Includes the web applications. */
  readonly hasWeb?: boolean
  /** Enables the Basic filter and authorization on both engines. The admin is demo/demo in every mode. */
  readonly secured?: boolean
  /** Enables the Basic filter without authorization. */
  readonly filter?: boolean
  /** Enables the job executor of the engine. Off by default, so that nothing changes between two reads. */
  readonly jobs?: boolean
  /** JDBC URL of engine 'default'. With `jdbc:h2:file:…;AUTO_SERVER=TRUE` two nodes share one database. */
  readonly db?: string
  /** Default: a free port. */
  readonly port?: number
  /** Further options of the virtual machine, which override the default ones, for example `-Xmx3g`. */
  readonly jvm?: readonly string[]
  /** Further Spring properties, for example `--server.tomcat.threads.max=2`. */
  readonly args?: readonly string[]
}

/** A running engine on 127.0.0.1, with the engines 'default' and 'second'. */
export interface Engine extends Omit<Child, 'ready'> {
  readonly origin: string
  readonly port: number
  /** Base URL of the REST API of engine 'default'. */
  readonly base: string
}

const PROPERTIES = [
  '-Dh2.bindAddress=127.0.0.1',
  // Up to Java 17 an engine decodes Basic credentials with the encoding of its locale, which is ASCII if none is set.
  '-Dfile.encoding=UTF-8',
]

export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const { jar, classes } = await buildEngine(options.family ?? DEFAULT_FAMILY, options.hasWeb)
  const archive = classes === null ? [] : [`-XX:SharedArchiveFile=${classes}`]
  const jvm = [...archive, ...JVM_OPTIONS, ...PROPERTIES, ...(options.jvm ?? [])]
  const { ready, ...child } = await startChild({
    command: 'java',
    args: [...jvm, '-jar', jar, ...switchesOf(options)],
    ready: /^ready on port (\d+)$/,
    withinMs: 240_000,
  })
  const port = Number(ready[1])
  const origin = `http://127.0.0.1:${port}`
  return { ...child, origin, port, base: `${origin}/engine-rest` }
}

function switchesOf(options: EngineOptions): string[] {
  const { secured = false, filter = false, jobs = false, port = 0, db, args = [] } = options
  return [
    `--server.port=${port}`,
    `--gateway.secured=${secured}`,
    `--gateway.filter=${filter}`,
    `--gateway.jobs=${jobs}`,
    ...(db === undefined ? [] : [`--gateway.db=${db}`]),
    ...args,
  ]
}

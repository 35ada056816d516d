import { buildEngine } from './build.ts'
import type { Family } from './build.ts'
import { startChild } from './child.ts'
import type { Child } from './child.ts'

export interface EngineOptions {
  readonly family?: Family
  /** With its web applications. */
  readonly hasWeb?: boolean
  /** The Basic filter and authorization, on both engines. Admin is demo/demo, in every mode. */
  readonly secured?: boolean
  /** The Basic filter without authorization. */
  readonly filter?: boolean
  /** Lets the engine run jobs by itself; off, so that nothing happens between two looks. */
  readonly jobs?: boolean
  /** JDBC URL of engine 'default'; with `jdbc:h2:file:…;AUTO_SERVER=TRUE` two nodes share one database. */
  readonly db?: string
  /** A free one when not given. */
  readonly port?: number
  /** More switches of the virtual machine, which count before its own: `-Xmx3g`. */
  readonly jvm?: readonly string[]
  /** More Spring properties, as `--server.tomcat.threads.max=2`. */
  readonly args?: readonly string[]
}

/** A running engine on 127.0.0.1, with the engines 'default' and 'second'. */
export interface Engine extends Omit<Child, 'ready'> {
  readonly origin: string
  readonly port: number
  /** Where the REST API of engine 'default' begins. */
  readonly base: string
}

const small = [
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dh2.bindAddress=127.0.0.1',
  // Up to Java 17 an engine reads Basic credentials in the letters of its locale, which are ASCII where none is set.
  '-Dfile.encoding=UTF-8',
]

export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const jar = await buildEngine(options.family ?? 'camunda', options.hasWeb)
  const { ready, ...child } = await startChild({
    command: 'java',
    args: [...small, ...(options.jvm ?? []), '-jar', jar, ...switchesOf(options)],
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

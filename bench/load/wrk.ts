import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CORES, pinned, type Server } from '../servers/processes.ts'

const run = promisify(execFile)
const CONNECTIONS = 32

export interface Ask {
  readonly url: string
  readonly authorization: string
  /** Sent with POST as JSON. Default: GET without a body. */
  readonly body?: string
}

export interface Measured {
  readonly perSecond: number
  /** The CPU time of the server for one request, in microseconds. Other load on the machine affects it only a little. */
  readonly cpuMicros: number
}

/** Sends requests over persistent connections for some seconds, as fast as possible. @throws Error if a response is not successful */
export async function load(
  ask: Ask,
  server: Server,
  options: { directory: string; seconds: number },
): Promise<Measured> {
  const { directory, seconds } = options
  const command = [
    'wrk',
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '-H',
    `Authorization: ${ask.authorization}`,
  ]
  if (ask.body !== undefined) command.push('-s', writeScript(directory, ask.body))
  const before = server.cpuSeconds()
  const [file = '', ...args] = pinned(CORES.load, [...command, ask.url])
  const { stdout } = await run(file, args)
  const cpuSeconds = server.cpuSeconds() - before
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1])
  if (!(requests > 0) || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`${ask.url}\n${stdout}`)
  return { perSecond, cpuMicros: (cpuSeconds / requests) * 1e6 }
}

function writeScript(directory: string, body: string): string {
  const file = join(directory, 'post.lua')
  writeFileSync(
    file,
    `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${JSON.stringify(body)}\n`,
  )
  return file
}

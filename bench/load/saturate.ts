import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Values } from '../part.ts'
import { AUTHORIZATION } from '../scenario.ts'
import { CORES, has, pinned, type Server } from '../servers/processes.ts'
import { type Ask, failuresIn, requestText, send } from './send.ts'

const run = promisify(execFile)
const CONNECTIONS = 32
const MAX_SECONDS = 60

export interface SaturateOptions {
  readonly directory: string
  readonly seconds: number
  /** Whether each request opens a new connection. */
  readonly isNewConnection?: boolean
}

/**
 * Sends requests over 32 connections, as fast as possible, with wrk if it is installed. Returns the responses per second, and the CPU
 * time of the server for each. @throws Error if a response is not successful
 */
export async function saturate(server: Server, ask: Ask, options: SaturateOptions): Promise<Values> {
  const before = server.cpuSeconds()
  const { answered, perSecond } = has('wrk')
    ? await sendWithWrk(server.port, ask, options)
    : await sendWithOwn(server.port, ask, options)
  // On a machine with much other work, a round may end before the first response.
  const longer = { ...options, seconds: options.seconds * 4 }
  if (answered === 0 && longer.seconds <= MAX_SECONDS) return saturate(server, ask, longer)
  if (answered === 0) throw new Error(`${ask.path}: no response in ${options.seconds} s`)
  return { perSecond, cpuMicros: ((server.cpuSeconds() - before) / answered) * 1e6 }
}

async function sendWithWrk(port: number, ask: Ask, options: SaturateOptions) {
  const { directory, seconds, isNewConnection = false } = options
  const command = [
    'wrk',
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-H',
    `Authorization: ${AUTHORIZATION}`,
  ]
  if (isNewConnection) command.push('-H', 'Connection: close')
  for (const [name, value] of Object.entries(ask.headers ?? {})) command.push('-H', `${name}: ${value}`)
  if (ask.body !== undefined) command.push('-s', writeScript(directory, ask.body))
  const [file = '', ...args] = pinned(CORES.load, [...command, `http://127.0.0.1:${port}${ask.path}`])
  const { stdout } = await run(file, args)
  const answered = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1])
  const failures = isNewConnection ? /Non-2xx/ : /Non-2xx|Socket errors/
  if (failures.test(stdout)) throw new Error(`${ask.path}\n${stdout}`)
  return { answered, perSecond }
}

async function sendWithOwn(port: number, ask: Ask, { seconds, isNewConnection = false }: SaturateOptions) {
  const connections = CONNECTIONS
  const headers = isNewConnection ? { ...ask.headers, connection: 'close' } : ask.headers
  const request = requestText({ ...ask, ...(headers === undefined ? {} : { headers }) })
  const result = await send(
    { port, request, perSecond: null, seconds, connections, isNewConnection },
    CORES.load,
  )
  if (failuresIn(result) > 0) throw new Error(`${ask.path}: ${JSON.stringify(result)}`)
  return result
}

function writeScript(directory: string, body: string): string {
  const file = join(directory, 'post.lua')
  writeFileSync(
    file,
    `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = ${JSON.stringify(body)}\n`,
  )
  return file
}

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { AUTHORIZATION } from '../scenario.ts'
import { pinned } from '../servers/processes.ts'
import type { LoadOptions, LoadResult } from './generator.ts'

/** A request without its address. */
export interface Ask {
  readonly path: string
  /** Sent with POST as JSON. Default: GET without a body. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the complete request. */
export function requestText({ path, body, headers = {} }: Ask): string {
  const all = {
    host: 'gateway',
    authorization: AUTHORIZATION,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** Sends requests in a process of its own, so that other work of this process does not delay them. */
export async function send(options: LoadOptions, core: number | null): Promise<LoadResult> {
  const generator = fileURLToPath(new URL('generator.ts', import.meta.url))
  const [file = '', ...args] = pinned(core, [process.execPath, generator])
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(options))
  const output = await text(child.stdout)
  if (output === '') throw new Error('the generator of load has failed')
  return JSON.parse(output)
}

/** Returns the number of requests without a response of status 200. */
export function failuresIn({ answered, statuses, unanswered }: LoadResult): number {
  return answered - (statuses['200'] ?? 0) + unanswered
}

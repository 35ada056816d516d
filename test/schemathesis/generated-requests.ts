import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A request as Schemathesis has sent it. */
export interface GeneratedRequest {
  readonly method: string
  /** The path below the base URL, and the query string. */
  readonly target: string
  readonly contentType: string | null
  readonly accept: string | null
  readonly body: Buffer | null
}

interface GenerationOptions {
  readonly command: string
  readonly document: unknown
  readonly seed: number
  /** The time after which Schemathesis generates no more requests. */
  readonly seconds: number
  /** The number of random requests for each operation, in addition to the examples and the odd values. */
  readonly examples: number
}

const BASE_PATH = '/engine-rest'

/** Records the requests that Schemathesis generates from a document. It sends them to a server that responds 200 to each of them. */
export async function generateRequests(options: GenerationOptions): Promise<readonly GeneratedRequest[]> {
  const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'))
  const requests: GeneratedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const contentType = headers['content-type'] ?? null
      const body = chunks.length === 0 && contentType === null ? null : Buffer.concat(chunks)
      requests.push({
        method,
        target: url.slice(BASE_PATH.length),
        contentType,
        accept: headers.accept ?? null,
        body,
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('The server has no port')
    const file = join(folder, 'openapi.json')
    await writeFile(file, JSON.stringify(options.document))
    await runCommand(options, { folder, file, url: `http://127.0.0.1:${address.port}${BASE_PATH}` })
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true })
  }
  return inOrder(requests)
}

/** Removes repeated requests, and moves those to the end that delete the entities of other requests. */
function inOrder(requests: readonly GeneratedRequest[]): readonly GeneratedRequest[] {
  const different = new Map(requests.map((request) => [keyOf(request), request]))
  return [...different.values()].toSorted((one, other) => Number(deletes(one)) - Number(deletes(other)))
}

function keyOf({ method, target, contentType, accept, body }: GeneratedRequest): string {
  return JSON.stringify([method, target, contentType, accept, body?.toString('latin1') ?? null])
}

function deletes({ method }: GeneratedRequest): boolean {
  return method === 'DELETE'
}

interface Place {
  readonly folder: string
  readonly file: string
  readonly url: string
}

function runCommand(
  { command, seed, seconds, examples }: GenerationOptions,
  { folder, file, url }: Place,
): Promise<void> {
  const args = ['run', file, '--url', url, '--phases', 'examples,coverage,fuzzing']
  const limits = ['--seed', String(seed), '--max-examples', String(examples), '--max-time', String(seconds)]
  const rest = [
    '--checks',
    'not_a_server_error',
    '--no-shrink',
    '--generation-database',
    'none',
    '--no-color',
  ]
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      [...args, ...limits, ...rest, '--suppress-health-check', 'all'],
      { cwd: folder, maxBuffer: 64 * 1024 ** 2 },
      (error, _stdout, stderr) => {
        // The status 1 means that a check has failed. The checks are of no interest here.
        if (error === null || child.exitCode === 1) resolve()
        else reject(new Error(`${command} has failed: ${stderr.slice(-2000)}`))
      },
    )
  })
}

/** Returns whether the command can be started. */
export function isInstalled(command: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, ['--version'], (error) => resolve(error === null))
  })
}

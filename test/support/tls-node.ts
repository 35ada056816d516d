import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import type { writeCertificates } from './certificates.ts'
import { listenUntilEnd } from './listen-until-end.ts'

/** A request, with details of its connection. */
export interface TlsSeen {
  readonly url: string
  readonly host: string | undefined
  /** Common name in the certificate that the client presented, or null if it presented none. */
  readonly client: string | null
}

export interface TlsNode {
  readonly origin: (host: string) => string
  /** Server names (SNI) that clients requested, one for each connection. */
  readonly names: readonly (string | false | null)[]
  /** Whether the session was resumed, one value for each connection. */
  readonly resumed: readonly boolean[]
  readonly seen: readonly TlsSeen[]
}

/** Starts a node that has a certificate for `localhost` and requests client certificates. */
export async function startTlsNode(
  t: Test,
  files: ReturnType<typeof writeCertificates>,
  answer: (url: string, response: ServerResponse) => void = (_url, response) => response.end('{}'),
): Promise<TlsNode> {
  const names: (string | false | null)[] = []
  const resumed: boolean[] = []
  const seen: TlsSeen[] = []
  const server = createServer(
    {
      cert: readFileSync(files['server.crt']),
      key: readFileSync(files['server.key']),
      ca: readFileSync(files['ca.crt']),
      requestCert: true,
    },
    ({ url = '', headers: { host }, socket }, response) => {
      seen.push({ url, host, client: socket instanceof TLSSocket ? clientOf(socket) : null })
      answer(url, response)
    },
  )
  server.on('secureConnection', (socket: TLSSocket) => {
    names.push(socket.servername)
    resumed.push(socket.isSessionReused())
  })
  const { port } = new URL(await listenUntilEnd(t, server, true))
  return { origin: (host) => `https://${host}:${port}`, names, resumed, seen }
}

function clientOf(socket: TLSSocket): string | null {
  const name = socket.getPeerCertificate().subject?.CN
  return typeof name === 'string' ? name : null
}

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { ClientTls, TlsFiles } from '../config/tls-types.ts'
import { isPair, pemProblemOf } from '../config/pem.ts'
import { messageOf } from '../errors.ts'

/** The contents of files, as `tls.createSecureContext` takes them. */
export interface TlsMaterial {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

/**
 * What the files hold: the same object until they change. The first set is taken as it is. One that takes its place must be
 * whole, as files are replaced one after the other: every file can be read, and the key is that of the certificate. What was
 * read before counts until then.
 */
export type ReadTlsMaterial = () => TlsMaterial

export interface TlsMaterialOptions {
  /** Files are read at most once in this time; default 1,000 ms. */
  readonly everyMs?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  /** Called when it changes what is wrong with the files; null: nothing any more. */
  readonly onProblem?: (problem: string | null) => void
}

/** Reads nothing before the first call. Files that cannot be read then are as if they were not named. */
export function createTlsMaterial(
  files: TlsFiles,
  { everyMs = 1000, now = () => performance.now(), onProblem = () => undefined }: TlsMaterialOptions = {},
): ReadTlsMaterial {
  let material: TlsMaterial | null = null
  let readAtMs = -Infinity
  let problem: string | null = null

  function setProblem(next: string | null): void {
    if (next === problem) return
    problem = next
    onProblem(next)
  }

  return () => {
    if (material !== null && now() - readAtMs < everyMs) return material
    readAtMs = now()
    try {
      const read = readAll(files)
      if (material === null || !isSame(read, material)) {
        if (material !== null) checkWhole(read)
        material = read
      }
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
    return material ?? {}
  }
}

const MEMBERS = ['ca', 'cert', 'key'] as const

function readAll({ ca, cert, key }: TlsFiles): TlsMaterial {
  return {
    ...(ca !== undefined && { ca: readFileSync(ca) }),
    ...(cert !== undefined && { cert: readFileSync(cert) }),
    ...(key !== undefined && { key: readFileSync(key) }),
  }
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  return MEMBERS.every((member) => {
    const [mine, theirs] = [one[member], other[member]]
    return mine === undefined || theirs === undefined ? mine === theirs : mine.equals(theirs)
  })
}

/** @throws for what is no certificate or no key, and for a key of another certificate */
function checkWhole(material: TlsMaterial): void {
  for (const member of MEMBERS) {
    const pem = material[member]
    const problem = pem === undefined ? null : pemProblemOf(member, pem)
    if (problem !== null) throw new Error(`${member}: ${problem}`)
  }
  const { cert, key } = material
  if (cert !== undefined && key !== undefined && !isPair(cert, key))
    throw new Error('key: is not the key of cert')
}

/** Of every connection that the gateway opens. */
export const LEAST_VERSION = 'TLSv1.2'

/**
 * Options of TLS connections whose members are read for each new connection, as ioredis does: each uses the files as they are
 * then. A set that cannot be read counts with its last content: a getter that throws would end the client.
 */
export function tlsOptionsOf(tls: ClientTls): ConnectionOptions {
  const current = createTlsMaterial(tls)
  return {
    minVersion: LEAST_VERSION,
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    get ca() {
      return current().ca
    },
    get cert() {
      return current().cert
    },
    get key() {
      return current().key
    },
  }
}

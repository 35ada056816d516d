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
 * Returns the content of the files: the same object until they change. The first set is returned as it is. Later sets are used
 * only if they are complete, because files are replaced one after the other: every file can be read, and the key belongs to the
 * certificate. Until then, the previous set is returned.
 */
export type ReadTlsMaterial = () => TlsMaterial

export interface TlsMaterialOptions {
  /** The files are read at most once in this time; default 1,000 ms. */
  readonly everyMs?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  /** Called when the problem of the files changes. Null if there is no problem any more. */
  readonly onProblem?: (problem: string | null) => void
}

/**
 * Creates a reader of the files, which reads nothing before its first call. Files that cannot be read at that call are treated as
 * not configured.
 */
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

/**
 * Checks that a set of files belongs together. @throws if a file is not a certificate or key, or if the key belongs to another
 * certificate
 */
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

/** The minimum TLS version of every connection that the gateway opens. */
export const LEAST_VERSION = 'TLSv1.2'

/**
 * Returns options of TLS connections whose members are read for each new connection, as ioredis does, so each connection uses the
 * current files. If a set cannot be read, its last content is used, because a getter that throws would end the client.
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

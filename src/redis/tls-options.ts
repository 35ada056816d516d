import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { RedisTls } from '../config/redis-types.ts'

/**
 * Options of TLS connections. ioredis copies the members for each new connection, so each reads the files as they are then.
 * A file that cannot be read counts with its last content: a getter that throws would end the client.
 */
export function tlsOptionsOf({ ca, cert, key, serverName }: RedisTls): ConnectionOptions {
  const readCa = createReader(ca)
  const readCert = createReader(cert)
  const readKey = createReader(key)
  return {
    minVersion: 'TLSv1.2',
    ...(serverName !== undefined && { servername: serverName }),
    get ca() {
      return readCa()
    },
    get cert() {
      return readCert()
    },
    get key() {
      return readKey()
    },
  }
}

function createReader(file: string | undefined): () => Buffer | undefined {
  let content: Buffer | undefined
  return () => {
    if (file === undefined) return undefined
    try {
      content = readFileSync(file)
    } catch {
      // The last content.
    }
    return content
  }
}

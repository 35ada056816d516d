import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { CertificateName, ClientCertificates } from '../config/tls-types.ts'
import { jsonValueOf, stringOf } from './value.ts'

/** Returns the user that the certificate of a connection names. Null if it names no user, or has expired. */
export type CertificateUser = (socket: Socket) => string | null

interface NamedUser {
  readonly user: string
  /** In milliseconds since 1970. */
  readonly endsAtMs: number
}

/**
 * Creates the function. It reads the certificate of a connection once, but checks its expiry for each request, because a connection
 * may outlive it.
 *
 * @param clients null if clients need no certificate, or if the certificate does not name a user
 */
export function createCertificateUser(
  clients: ClientCertificates | null,
  nowMs: () => number = Date.now,
): CertificateUser {
  const { user: name = null, users } = clients ?? {}
  if (name === null) return () => null
  const known = new WeakMap<Socket, NamedUser | null>()
  return (socket) => {
    let named = known.get(socket)
    if (named === undefined) {
      named = readUser(socket, name, users)
      known.set(socket, named)
    }
    return named !== null && nowMs() <= named.endsAtMs ? named.user : null
  }
}

function readUser(
  socket: Socket,
  name: CertificateName,
  users: ClientCertificates['users'],
): NamedUser | null {
  // `authorized` means that `ca` has signed it and that it was valid at the handshake.
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null
  const certificate = socket.getPeerCertificate()
  const text = nameIn(certificate, name)
  if (text === null || !isUserId(text)) return null
  const user = users === undefined ? text : Object.hasOwn(users, text) ? users[text] : undefined
  return user === undefined ? null : { user, endsAtMs: Date.parse(certificate.valid_to) }
}

const KINDS = { dns: 'DNS', email: 'email', uri: 'URI' } as const

/** Returns the only name. With several names, the choice would be a guess. */
function nameIn(
  { subject, subjectaltname = '' }: Partial<PeerCertificate>,
  name: CertificateName,
): string | null {
  const names =
    name === 'commonName'
      ? [subject?.CN].flat()
      : alternativeNamesIn(subjectaltname).flatMap(([kind, text]) => (kind === KINDS[name] ? [text] : []))
  const [only = null] = names
  return names.length === 1 ? only : null
}

/** Matches a name in the format of Node: a name with characters of its own syntax is written as JSON (CVE-2021-44532, Node.js 16.13.2). */
const ALTERNATIVE_NAME = /([A-Za-z][A-Za-z ]*):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y

/** Returns the alternative names, or none if a part has another format. */
export function alternativeNamesIn(text: string): readonly (readonly [kind: string, text: string])[] {
  const pattern = new RegExp(ALTERNATIVE_NAME)
  const found: (readonly [string, string])[] = []
  while (pattern.lastIndex < text.length) {
    const [, kind = '', written = ''] = pattern.exec(text) ?? []
    if (kind === '') return []
    // An empty text, which names no user, if the text is not JSON.
    found.push([kind, written.startsWith('"') ? (stringOf(jsonValueOf(written)) ?? '') : written])
  }
  return found
}

/** Returns whether a text can be a user id: the engine's column holds 255 characters, and no user is named with invisible characters. */
function isUserId(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- exactly these are meant
  return text.length <= 255 && text !== '' && !/[\u0000-\u001f\u007f]/.test(text)
}

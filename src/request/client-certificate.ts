import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import type { CertificateName, ClientCertificates } from '../config/tls-types.ts'

/** The user whom a connection's certificate names; null: none, or it has ended since. */
export type CertificateUser = (socket: Socket) => string | null

interface NamedUser {
  readonly user: string
  /** In ms since 1970. */
  readonly endsAtMs: number
}

/**
 * The certificate of a connection is read once; its end is looked at for each request, as a connection may outlive it.
 *
 * @param clients null: clients are asked for no certificate, or what it says is no user
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
  // `authorized`: `ca` has signed it, and it was in its time.
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null
  const certificate = socket.getPeerCertificate()
  const text = nameIn(certificate, name)
  if (text === null || !isUserId(text)) return null
  const user = users === undefined ? text : Object.hasOwn(users, text) ? users[text] : undefined
  return user === undefined ? null : { user, endsAtMs: Date.parse(certificate.valid_to) }
}

const KINDS = { dns: 'DNS', email: 'email', uri: 'URI' } as const

/** Exactly one: which of several is meant would be a guess. */
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

/** As Node writes them: a name with characters of its own syntax is JSON (CVE-2021-44532, Node.js 16.13.2). */
const ALTERNATIVE_NAME = /([A-Za-z][A-Za-z ]*):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y

/** Nothing where a part is not written so. */
export function alternativeNamesIn(text: string): readonly (readonly [kind: string, text: string])[] {
  const pattern = new RegExp(ALTERNATIVE_NAME)
  const found: (readonly [string, string])[] = []
  while (pattern.lastIndex < text.length) {
    const [, kind = '', written = ''] = pattern.exec(text) ?? []
    if (kind === '') return []
    found.push([kind, written.startsWith('"') ? unquoted(written) : written])
  }
  return found
}

/** Empty, which is nobody, where it is no JSON. */
function unquoted(written: string): string {
  try {
    return String(JSON.parse(written))
  } catch {
    return ''
  }
}

/** The engine's column holds no more, and no user is named with characters that nobody sees. */
function isUserId(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- exactly these are meant
  return text.length <= 255 && text !== '' && !/[\u0000-\u001f\u007f]/.test(text)
}

import { isIP } from 'node:net'
import { z } from 'zod'
import { HOST } from './host-pattern.ts'
import type { ClientTls, ServerTls } from './tls-types.ts'

const fileName = z.string().min(1, 'must not be empty').meta({ title: 'file name' })

/** TLS of connections that the gateway opens, to nodes and to Redis. */
export const clientTls = z
  .strictObject({
    ca: fileName
      .optional()
      .describe(
        'Certificates in PEM of the authorities that sign the certificates of the servers. If absent, the gateway accepts certificates that Node.js trusts.',
      ),
    cert: fileName
      .optional()
      .describe(
        "The gateway's own certificate in PEM, with its chain, for servers that require a client certificate.",
      ),
    key: fileName.optional().describe('The private key of `cert` in PEM, without a passphrase.'),
    serverName: z
      .string()
      .refine((text) => HOST.test(text) && !text.includes(':') && isIP(text) === 0, 'a host name is needed')
      .meta({ title: 'host name' })
      .optional()
      .describe(
        'The expected name in the certificates of the servers, also sent as SNI. If absent, it is the host of the server, which may be an IP address.',
      ),
  })
  .refine(({ cert, key }) => cert === undefined || key !== undefined, {
    path: ['key'],
    error: 'is required if cert is set',
  })
  .refine(({ cert, key }) => key === undefined || cert !== undefined, {
    path: ['cert'],
    error: 'is required if key is set',
  }) satisfies z.ZodType<ClientTls>

const ofServer = {
  cert: fileName.describe('The certificate in PEM, with its chain.'),
  key: fileName.describe('The private key of `cert` in PEM, without a passphrase.'),
  minVersion: z
    .enum(['1.2', '1.3'])
    .default('1.2')
    .describe('The lowest version of TLS. Older versions cannot be allowed.'),
}

const userId = z.string().min(1, 'must not be empty').max(255, 'a user id has at most 255 characters')
const clients = z
  .strictObject({
    ca: fileName.describe(
      'Certificates in PEM of the authorities that sign the certificates of clients. Use authorities that sign only for your clients.',
    ),
    required: z
      .boolean()
      .default(true)
      .describe(
        'If true, a client can connect only with a certificate that `ca` has signed. If false, a client without such a certificate must send credentials.',
      ),
    user: z
      .enum(['commonName', 'dns', 'email', 'uri'])
      .nullable()
      .default(null)
      .describe(
        'The name in the certificate that identifies the user if a request has no `Authorization`. `commonName` is the common name of the subject. ' +
          '`dns`, `email` and `uri` are the alternative name of this kind, if there is exactly one. The users of the engine must contain that user. ' +
          'If null, a certificate identifies no user, and credentials are still required. ' +
          'Danger: the owner of a certificate that `ca` signed can act as the user that the certificate names.',
      ),
    users: z
      .record(z.string().min(1), userId)
      .optional()
      .describe(
        'User ids by the names in certificates, for example `{ "spiffe://corp/billing": billing }`. A name that is not listed identifies no user. ' +
          'If absent, the name is the user id.',
      ),
  })
  .refine(({ user, users }) => users === undefined || user !== null, {
    path: ['user'],
    error: 'is required if users is set',
  })

/** TLS of the public listener. */
export const listenTls = z.strictObject({
  ...ofServer,
  clients: clients
    .nullable()
    .default(null)
    .describe('Client certificates (mutual TLS). If null, the gateway requests no client certificates.'),
}) satisfies z.ZodType<ServerTls>

/** TLS of the admin listener. */
export const adminTls = z.strictObject(ofServer) satisfies z.ZodType<ServerTls>
